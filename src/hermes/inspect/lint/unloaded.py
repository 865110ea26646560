"""Files, and parts of files, that never reach the model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hermes.agent.rules import parse_rule
from hermes.errors import Verdict
from hermes.inspect.lint.finding import Finding, Place, finding
from hermes.inspect.lint.globs import glob_pattern
from hermes.inspect.lint.markdown import Line
from hermes.inspect.lint.subject import Source, Subject
from hermes.text import front_matter

_SAYS: dict[Verdict, tuple[str, str]] = {
    "shadowed": ("unloaded-shadowed", "not loaded: shadowed {detail}; merge what still counts"),
    "duplicate": ("unloaded-duplicate", "not loaded again: it is a copy {detail}; a link would do"),
    "empty": ("unloaded-empty", "it has no text; fill or remove it"),
    "manual": (
        "unloaded-manual",
        "loads only when it is named; give it alwaysApply, globs or a description if it should count",
    ),
    "blocked": ("unloaded-blocked", "stopped by the gate ({detail}); mend the passage, or trust the file"),
    "unreadable": ("unloaded-unreadable", "not loaded: {detail}"),
    "binary": ("unloaded-unreadable", "not loaded: {detail}"),
    "too large": ("unloaded-unreadable", "not loaded, it is too large: {detail}"),
    "outside project": ("unloaded-unreadable", "not loaded: {detail}"),
    "broken": ("unloaded-front-matter", "not loaded: {detail}"),
}

_HEADINGS_SHOWN = 20


def check(subject: Subject) -> Iterator[Finding]:
    for source in subject.sources:
        if (said := _SAYS.get(source.verdict)) is not None:
            rule, text = said
            yield finding(rule, Place(source.file), text.format(detail=source.detail), source.verdict)
        elif source.verdict == "glob waits":
            yield from _globs(source, subject)
        elif source.loaded:
            yield from _left_out(source, subject)
        if source.loaded and front_matter(source.document.text).open:
            message = "the front matter opened here is never closed; it is sent as text: close it with ---"
            yield finding("unloaded-front-matter", Place(source.file, 1, 1, 4), message, "open")


def _left_out(source: Source, subject: Subject) -> Iterator[Finding]:
    """What of a loaded file is not in the prompt: the longest gap is the cut."""
    gaps = [(last, first) for (_, last), (first, _) in pairwise(sorted(source.kept))]
    lines = source.document.lines
    if source.verdict == "cut" and gaps:
        last, first = max(gaps, key=lambda gap: gap[1] - gap[0])
        yield _cut(source, lines[last - 1 : first], subject)  # both edges may be cut within a line
    for first, last in source.redacted:
        yield _redacted(source, lines[first - 1 : last])


def _cut(source: Source, gap: tuple[Line, ...], subject: Subject) -> Finding:
    headings = [line.text.strip("# \t") for line in gap if line.kind == "heading"]
    more = f" and {len(headings) - _HEADINGS_SHOWN} more" if len(headings) > _HEADINGS_SHOWN else ""
    named = f", with the sections {', '.join(headings[:_HEADINGS_SHOWN])}{more}" if headings else ""
    text = "\n".join(line.text for line in gap)
    message = (
        f"lines {gap[0].number} to {gap[-1].number} are not in the prompt{named}: {source.detail}; "
        "shorten the file, move parts into files read on demand, or raise context_file_max_chars"
    )
    place = Place(source.file, gap[0].number, 1)
    return finding("unloaded-cut", place, message, "cut", tokens=subject.count(text))


def _redacted(source: Source, gap: tuple[Line, ...]) -> Finding:
    first, last = gap[0], gap[-1]
    lines = f"line {first.number} was" if first is last else f"lines {first.number} to {last.number} were"
    message = f"{lines} taken out by the gate; hermes scan {source.file} says why"
    place = source.within(first, 0, len(first.text))
    return finding("unloaded-redacted", place, message, "\n".join(line.text for line in gap))


def _globs(source: Source, subject: Subject) -> Iterator[Finding]:
    """The globs that no file of the project answers to; silent while the list of files is not complete."""
    if not subject.tree.complete:
        return
    globs = parse_rule(source.document.text).globs
    dead = []
    for glob in globs:
        pattern = glob_pattern(glob)
        if pattern is not None and not any(pattern.match(file) for file in subject.tree.files):
            dead.append(glob)
    if not dead:
        return
    line = next((n for n in source.document.lines if n.text.lstrip().startswith("globs")), None)
    place = source.within(line, 0, len(line.text)) if line else Place(source.file)
    if len(dead) == len(globs):
        message = f"no file of the project matches {', '.join(dead)}: this rule never loads; mend the globs"
        yield finding("unloaded-glob", place, message, " ".join(dead))
    else:
        message = f"no file of the project matches {', '.join(dead)}; remove or mend it"
        yield finding("unloaded-glob", place, message, " ".join(dead), level="note")
