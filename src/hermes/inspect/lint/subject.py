"""What is linted: the built prompt, each file that it looked at, and the project around them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from hermes.errors import FileRefused, Verdict
from hermes.files import is_inside, read_file
from hermes.frozen import frozen
from hermes.inspect.lint.finding import Place
from hermes.inspect.lint.markdown import Document, Line, Statement, parse
from hermes.inspect.lint.tree import Tree
from hermes.prompt import Decision, Section, Span, SystemPrompt
from hermes.text import decode

Lines = tuple[int, int]
Count = Callable[[str], int]
"""Tokens of a text."""

_SLOTS = frozenset({"identity", "project context", "memory", "user profile"})
_NO_FILE = frozenset({"missing", "off", "not trusted"})
HOME = "~HERMES_HOME"


@frozen
class Source:
    """One file that was looked at for the prompt.

    `file` is its name in findings. `kept` are the lines of it that are in the prompt, `redacted` those that
    the gate took out, as first and last. The document is empty when the file cannot be read.
    """

    path: str
    file: str
    kind: str
    verdict: Verdict
    detail: str
    document: Document
    kept: tuple[Lines, ...] = ()
    redacted: tuple[Lines, ...] = ()

    @property
    def loaded(self) -> bool:
        return self.verdict in ("loaded", "cut")

    @property
    def reachable(self) -> bool:
        """In the prompt, or in it once the model touches or asks for something."""
        return self.loaded or self.verdict in ("glob waits", "described")

    @property
    def of_project(self) -> bool:
        return not self.file.startswith(HOME + "/")

    @property
    def folder(self) -> str:
        """Its folder, relative to the root; paths inside the file may be meant from there."""
        return os.path.dirname(self.file) if self.of_project and not os.path.isabs(self.file) else ""

    def at(self, statement: Statement) -> Place:
        return self.place(statement.start, statement.end, statement.number)

    def place(self, start: int, end: int, number: int = 0) -> Place:
        """The place of characters `start` to `end`; a given line number saves counting."""
        text = self.document.text
        number = number or text.count("\n", 0, start) + 1
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", start)
        end = min(end, line_end) if line_end >= 0 else end
        return Place(self.file, number, start - line_start + 1, end - line_start + 1)

    def within(self, line: Line, start: int, end: int) -> Place:
        """The place of columns `start` to `end` (from 0) of a line."""
        return Place(self.file, line.number, start + 1, end + 1)


@frozen
class Subject:
    """All that the rules look at. `window` is the model's context window in tokens, None when not known."""

    prompt: SystemPrompt
    sources: tuple[Source, ...]
    tree: Tree
    window: int | None
    count: Count

    def project_files(self) -> Iterator[Source]:
        """The readable files that belong to the project, the same content once."""
        seen: set[str] = set()
        for source in self.sources:
            if source.of_project and source.document.text and source.document.text not in seen:
                seen.add(source.document.text)
                yield source


def look_at(prompt: SystemPrompt, *, root: str, home: str, window: int | None, count: Count) -> Subject:
    """Read every file behind a prompt again, whole: those that never loaded too. Never raises."""
    spans: dict[str, list[Span]] = {}
    looked_at: dict[str, Decision] = {}
    for section in (s for s in prompt.sections if s.slot in _SLOTS):
        for decision in section.decisions:
            known = looked_at.get(decision.path)
            if decision.verdict not in _NO_FILE and (known is None or known.verdict == "shadowed"):
                looked_at[decision.path] = decision
        for span in _from_files(section):
            origin = span.origin
            spans.setdefault(origin.path, []).append(span)
            looked_at.setdefault(origin.path, Decision(origin.path, origin.kind, "loaded"))
    sources = (_source(d, _name(d.path, root, home), spans.get(d.path, [])) for d in looked_at.values())
    return Subject(prompt, tuple(sources), Tree.of(root), window, count)


def _source(decision: Decision, file: str, spans: list[Span]) -> Source:
    path, verdict = decision.path, decision.verdict
    redacted = [span for span in spans if "redacted" in span.transforms]
    return Source(
        path,
        file,
        decision.kind,
        verdict,
        decision.detail,
        parse(_text(path, verdict)),
        _lines(spans),
        _lines(redacted),
    )


def _lines(spans: list[Span]) -> tuple[Lines, ...]:
    return tuple((span.origin.first_line, span.origin.last_line) for span in spans)


def _from_files(section: Section) -> Iterator[Span]:
    """The spans that stand for a file of the owner or the project."""
    for span in section.spans:
        if span.origin.path and span.origin.first_line and span.origin.trust != "package":
            yield span


def _text(path: str, verdict: Verdict) -> str:
    if verdict in ("outside project", "too large", "binary", "unreadable"):
        return ""
    try:
        return decode(read_file(path).data).text
    except FileRefused:
        return ""


def _name(path: str, root: str, home: str) -> str:
    for folder, prefix in ((root, ""), (home, HOME + "/")):
        if is_inside(path, folder):
            return prefix + os.path.relpath(path, folder).replace(os.sep, "/")
    return path
