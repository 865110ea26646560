"""Where a text came from, and what was done to it on its way into a prompt.

A `Passage` is a `str` that remembers. Everything between the disk and the prompt is one, so a byte of
a prompt can always be followed back to a file and a line. Slicing and joining go through its own
methods; any other string operation gives a plain `str` and forgets on purpose.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, Self

from hermes.errors import Verdict

Level = Literal["info", "warning", "error"]
Trust = Literal["package", "owner", "caller", "project", "third_party"]
"""Who vouches for a text: Hermes itself, the owner of the home, the caller of the API, a project, anyone."""
__all__ = [
    "GLUE",
    "Decision",
    "Level",
    "Notice",
    "Origin",
    "Passage",
    "Span",
    "Trust",
    "Verdict",
    "as_data",
    "digest_of",
    "digest_of_pieces",
    "line_by_line",
    "span_at",
]


class Origin(NamedTuple):
    """The source of a run of text. Lines are 1-based and inclusive; 0 means the text has no line."""

    kind: str
    path: str = ""
    digest: str = ""
    first_line: int = 0
    last_line: int = 0
    trust: Trust = "package"

    @property
    def place(self) -> str:
        """`path:line` for people; the kind alone where there is no file."""
        if not self.path:
            return self.kind
        return f"{self.path}:{self.first_line}" if self.first_line else self.path

    def of_lines(self, first: int, last: int) -> Origin:
        """The same source, other lines of it."""
        return Origin(self.kind, self.path, self.digest, first, last, self.trust)


class Span(NamedTuple):
    """Characters `start` to `end` of a text, with their origin and what was done to them."""

    start: int
    end: int
    origin: Origin
    transforms: tuple[str, ...] = ()


class Notice(NamedTuple):
    """Something a person must be told. Shown, never hidden, never part of a prompt."""

    level: Level
    text: str
    origin: Origin | None = None


class Decision(NamedTuple):
    """What became of one candidate that was looked at, and why."""

    path: str
    kind: str
    verdict: Verdict
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.verdict} {self.detail}".strip()


GLUE = Origin("glue")


def as_data(value: Any) -> Any:
    """A record as JSON has it: a mapping of its fields, and so are the records in it."""
    if names := getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", None):
        return {name: as_data(getattr(value, name)) for name in names}
    if isinstance(value, tuple | list):
        return [as_data(item) for item in value]
    return value


def digest_of(data: str | bytes) -> str:
    """SHA-256 in hex. Lone surrogates count as themselves, so any `str` has a digest."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


def digest_of_pieces(pieces: Iterable[bytes]) -> str:
    """The digest of bytes that come in pieces: that of all of them joined."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


class Passage(str):
    """A text with its spans, notices and decisions.

    Spans are contiguous: they start at 0, each begins where the last ended, and the last ends with the text.
    """

    __slots__ = ("decisions", "notices", "spans")

    spans: tuple[Span, ...]
    notices: tuple[Notice, ...]
    decisions: tuple[Decision, ...]

    def __new__(
        cls,
        text: str = "",
        spans: tuple[Span, ...] = (),
        notices: tuple[Notice, ...] = (),
        decisions: tuple[Decision, ...] = (),
    ) -> Self:
        self = super().__new__(cls, text)
        self.spans = spans
        self.notices = notices
        self.decisions = decisions
        return self

    @classmethod
    def quote(cls, text: str, origin: Origin, transforms: tuple[str, ...] = ()) -> Self:
        """The whole text of one source; its lines are counted from `origin.first_line`, or from 1.

        An origin that names its last line keeps both: the text may be those lines written in another way.
        """
        if not text:
            return cls()
        first = origin.first_line or 1
        last = origin.last_line or first + _line_breaks(text, 0, len(text))
        return cls(text, (Span(0, len(text), origin.of_lines(first, last), transforms),))

    @classmethod
    def own(cls, text: str, kind: str, path: str = "") -> Self:
        """A text of Hermes' own: guidance, headings, markers."""
        if not text:
            return cls()
        if path:
            return cls.quote(text, Origin(kind, path, digest_of(text)))
        return cls(text, (Span(0, len(text), Origin(kind)),))

    @classmethod
    def joined(cls, separator: str, parts: Iterable[Passage]) -> Self:
        """Like `str.join`, leaving out empty parts but keeping their notices and decisions."""
        kept: list[Passage] = []
        spans: list[Span] = []
        notices: list[Notice] = []
        decisions: list[Decision] = []
        at = 0
        for part in parts:
            notices += part.notices
            decisions += part.decisions
            if not part:
                continue
            if kept and separator:
                spans.append(Span(at, at + len(separator), GLUE))
                at += len(separator)
            if at:
                spans += [Span(s.start + at, s.end + at, s.origin, s.transforms) for s in part.spans]
            else:
                spans += part.spans
            at += len(part)
            kept.append(part)
        return cls(separator.join(kept), tuple(spans), tuple(notices), tuple(decisions))

    def part(self, start: int, end: int | None = None) -> Passage:
        """Characters `start` to `end` with their spans; notices and decisions stay behind."""
        end = len(self) if end is None else min(end, len(self))
        if start >= end:
            return Passage()
        if start == 0 and end == len(self):
            return Passage(self, self.spans)
        spans = []
        first = max(0, bisect_right(self.spans, start, key=_start) - 1)
        for span in self.spans[first:]:
            if span.start >= end:
                break
            lo, hi = max(span.start, start), min(span.end, end)
            spans.append(Span(lo - start, hi - start, self._lines(span, lo, hi), span.transforms))
        return Passage(str(self)[start:end], tuple(spans))

    def trimmed(self) -> Passage:
        """Without blank lines at its head and white space at its end."""
        end = len(self.rstrip())
        if not end:
            return Passage("", (), self.notices, self.decisions)
        head = len(self) - len(self.lstrip())
        start = self.rfind("\n", 0, head) + 1
        if start == 0 and end == len(self):
            return self
        cut = self.part(start, end)
        return Passage(cut, cut.spans, self.notices, self.decisions)

    def marked(self, *transforms: str) -> Passage:
        """The same text, each span noting what was done to it."""
        spans = tuple(Span(s.start, s.end, s.origin, s.transforms + transforms) for s in self.spans)
        return Passage(self, spans, self.notices, self.decisions)

    def with_notes(self, notices: Iterable[Notice] = (), decisions: Iterable[Decision] = ()) -> Passage:
        """The same text with more to tell."""
        return Passage(self, self.spans, (*self.notices, *notices), (*self.decisions, *decisions))

    def span_at(self, offset: int) -> Span:
        """The span that holds character `offset`; IndexError outside the text."""
        return span_at(self.spans, offset)

    def line_at(self, offset: int) -> int:
        """The source line of character `offset`; 0 where the text has no source line.

        Of a span that holds its lines in another form, such as a folded text on one line, it is the first.
        """
        span = self.span_at(offset)
        if not line_by_line(self, span):
            return span.origin.first_line
        return span.origin.first_line + self.count("\n", span.start, offset)

    def _lines(self, span: Span, lo: int, hi: int) -> Origin:
        first = span.origin.first_line
        if (lo == span.start and hi == span.end) or not line_by_line(self, span):
            return span.origin
        first += self.count("\n", span.start, lo)
        return span.origin.of_lines(first, first + _line_breaks(self, lo, hi))


def span_at(spans: tuple[Span, ...], offset: int) -> Span:
    """The span that holds character `offset` of the text they cover."""
    if not spans or not 0 <= offset < spans[-1].end:
        raise IndexError(f"no character {offset} in a text of {spans[-1].end if spans else 0}")
    return spans[bisect_right(spans, offset, key=_start) - 1]


def line_by_line(text: str, span: Span) -> bool:
    """Whether a span of a text has source lines, and holds each of them on a line of its own."""
    first, last = span.origin.first_line, span.origin.last_line
    return bool(first) and last - first == _line_breaks(text, span.start, span.end)


def _start(span: Span) -> int:
    return span.start


def _line_breaks(text: str, start: int, end: int) -> int:
    """Line breaks inside text[start:end], the one that ends it apart."""
    return text.count("\n", start, end - 1) if end > start else 0
