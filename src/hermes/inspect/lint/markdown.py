"""A rule file as lines and statements, read once in one pass.

No CommonMark parser: rule files are read by models, and what counts is which text is prose, which is code,
and where one rule ends. Every step is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from hermes.frozen import frozen
from hermes.text import front_matter

LineKind = Literal["text", "bullet", "heading", "table", "blank", "code", "fence", "matter", "comment"]

_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})\s*([^\s`]*)[^`]*$")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_`]*[A-Z\u00c0-\u024f\u0400-\u04ff])|(?<=[。！？])\s*"
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.|\b[A-Z]\.)[\"')*_]*\s+$", re.IGNORECASE)
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+(?:[._'’/+#@:-]+[^\W_]+)*[+#]*", re.UNICODE
)


class Line(NamedTuple):
    """One line: number from 1, offset of its first character, text without its end.

    `language` is that of the code block it stands in.
    """

    number: int
    start: int
    text: str
    kind: LineKind
    language: str = ""


class Statement(NamedTuple):
    """One rule: a sentence, or a list item.

    `above` is what governs it: its headings and the line that leads its list in. `words` are lower case.
    """

    number: int
    start: int
    end: int
    text: str
    words: tuple[str, ...]
    above: str
    bullet: bool


@frozen
class Document:
    """A parsed rule file."""

    text: str
    lines: tuple[Line, ...]
    statements: tuple[Statement, ...]


def parse(text: str) -> Document:
    """Read a rule file; never raises."""
    lines = tuple(_lines(text))
    return Document(text, lines, tuple(_statements(text, lines)))


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, free of markup; one of Chinese or Japanese is a character."""
    return tuple(_WORD.findall(text.lower()))


def _lines(text: str) -> Iterator[Line]:
    body = front_matter(text).body
    fence, language, comment = "", "", False
    at = 0
    for number, raw in enumerate(text.split("\n"), 1):
        kind: LineKind
        if at < body:
            kind = "matter"
        elif fence:
            closed = raw.strip()
            ends = closed.startswith(fence) and not closed.strip(fence[0])
            kind = "fence" if ends else "code"
            fence = "" if ends else fence
        elif comment or raw.lstrip().startswith("<!--"):
            kind, comment = "comment", "-->" not in raw
        elif opened := _FENCE.match(raw):
            kind, fence, language = "fence", opened[1], opened[2].lower().strip("{}.")
        else:
            kind = _kind(raw)
        yield Line(number, at, raw, kind, language if kind == "code" else "")
        at += len(raw) + 1


def _kind(raw: str) -> LineKind:
    if not raw.strip() or raw.strip() == "§":  # what parts the entries of a memory file
        return "blank"
    if _HEADING.match(raw):
        return "heading"
    if raw.lstrip().startswith("|"):
        return "table"
    return "bullet" if _BULLET.match(raw) else "text"


class _Block(NamedTuple):
    first: Line
    start: int
    end: int
    indent: int
    bullet: bool


def _blocks(lines: tuple[Line, ...]) -> Iterator[_Block | Line]:
    """Paragraphs and list items; every other line that is no continuation comes as itself."""
    block: _Block | None = None
    for line in lines:
        if line.kind == "text" and block is not None:
            block = block._replace(end=line.start + len(line.text))
            continue
        if block is not None:
            yield block
            block = None
        if line.kind in ("text", "bullet"):
            head = _BULLET.match(line.text) if line.kind == "bullet" else None
            indent = len(line.text) - len(line.text.lstrip())
            start = line.start + (head.end() if head else indent)
            block = _Block(line, start, line.start + len(line.text), indent, head is not None)
        else:
            yield line
    if block is not None:
        yield block


def _statements(text: str, lines: tuple[Line, ...]) -> Iterator[Statement]:
    above = _Above(has_title=sum(_level(line) == 1 for line in lines) == 1)
    for block in _blocks(lines):
        if isinstance(block, Line):
            if block.kind == "heading":
                above.heading(block)
            continue
        body = text[block.start : block.end]
        over = above.block(block)
        yield from _sentences(text, block, over)
        if body.rstrip(" *_").endswith((":", "：")):
            above.lead(block, body[-200:])


def _level(line: Line) -> int:
    """The level of a heading, 0 for any other line."""
    text = line.text.lstrip()
    return len(text) - len(text.lstrip("#")) if line.kind == "heading" else 0


class _Above:
    """What governs the next block: its headings but for the title, the line that leads in, parent items."""

    def __init__(self, *, has_title: bool) -> None:
        self._has_title = has_title
        self._headings: list[tuple[int, str]] = []
        self._lead = ""
        self._parents: list[tuple[int, str]] = []

    def heading(self, line: Line) -> None:
        level = _level(line)
        self._headings = [h for h in self._headings if h[0] < level]
        if level > 1 or not self._has_title:
            self._headings.append((level, line.text.strip("# \t")))
        self._lead, self._parents = "", []

    def block(self, block: _Block) -> str:
        if block.bullet:
            self._parents = [p for p in self._parents if p[0] < block.indent]
        else:
            self._lead, self._parents = "", []
        parts = (
            [text for _, text in self._headings[-2:]]
            + [self._lead]
            + [text for _, text in self._parents[-3:]]
        )
        return "\n".join(part for part in parts if part)

    def lead(self, block: _Block, text: str) -> None:
        if block.bullet:
            self._parents.append((block.indent, text))
        else:
            self._lead = text


def _sentences(text: str, block: _Block, above: str) -> Iterator[Statement]:
    number, at = block.first.number, block.start
    for end in [*_ends(text, block), block.end]:
        piece = text[at:end]
        stripped = piece.strip()
        if stripped:
            start = at + len(piece) - len(piece.lstrip())
            line = number + text.count("\n", at, start)
            yield Statement(
                line, start, start + len(stripped), stripped, words_of(stripped), above, block.bullet
            )
        number += text.count("\n", at, end)
        at = end


def _ends(text: str, block: _Block) -> Iterator[int]:
    for match in _SENTENCE_END.finditer(text, block.start, block.end):
        if not _ABBREVIATION.search(text, max(block.start, match.start() - 8), match.end()):
            yield match.end()
