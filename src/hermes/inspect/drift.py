"""What became different since a prompt was locked, line by line."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Literal, TypeVar

from hermes.errors import UsageError
from hermes.frozen import frozen
from hermes.inspect.lock import SCOPES, KeptOut, Lock, LockedSection, LockedSource
from hermes.text import many

Change = Literal["new", "gone", "changed"]
CONTEXT = 2
"""Unchanged lines around a change."""
OLD_TEXT = "(the lock keeps no text; git does)"


@frozen
class Line:
    """One line of a hunk. `sign` is "-", "+" or " "; the text of a locked line is not known."""

    sign: str
    number: int
    text: str


@frozen
class FileDrift:
    """One file that gives other lines to the prompt than it did. Tokens are what it gives."""

    section: str
    path: str
    change: Change
    before: int
    after: int
    hunks: tuple[tuple[Line, ...], ...] = ()
    note: str = ""


@frozen
class DecisionDrift:
    """A file of which something else was decided; "" means: it was not looked at, or it is loaded."""

    section: str
    path: str
    before: str
    after: str


@frozen
class SectionDrift:
    """A section whose text is another. `cause` is empty where files and decisions tell."""

    section: str
    change: Change
    before: int
    after: int
    cause: str = ""


@frozen
class Drift:
    """All that differs. `before` and `after` are the tokens of the whole, `method` how they are counted."""

    sections: tuple[SectionDrift, ...]
    files: tuple[FileDrift, ...]
    decisions: tuple[DecisionDrift, ...]
    before: int
    after: int
    method: str

    def __bool__(self) -> bool:
        return bool(self.sections or self.files or self.decisions)

    @property
    def names(self) -> frozenset[str]:
        """What may be approved: sections and paths."""
        found = {d.section for d in self.sections}
        found |= {name for d in self.files for name in (d.section, d.path)}
        return frozenset(found | {name for d in self.decisions for name in (d.section, d.path)})


_Row = TypeVar("_Row", LockedSource, KeptOut)


def compare(old: Lock, new: Lock) -> Drift:
    """The way from a lock to what is there now."""
    files = tuple(_files(old, new))
    was, now = {k.key: k.reason for k in old.kept_out}, {k.key: k.reason for k in new.kept_out}
    decisions = tuple(
        DecisionDrift(*key, was.get(key, ""), now.get(key, ""))
        for key in sorted(was.keys() | now.keys())
        if was.get(key) != now.get(key)
    )
    told = {f.section for f in files} | {d.section for d in decisions}
    sections = tuple(_sections(old, new, told))
    return Drift(sections, files, decisions, old.tokens, new.tokens, new.method)


def _files(old: Lock, new: Lock) -> Iterable[FileDrift]:
    was, now = {s.key: s for s in old.sources}, {s.key: s for s in new.sources}
    for key in sorted(was.keys() | now.keys()):
        a, b = was.get(key), now.get(key)
        if a is None and b is not None:
            yield FileDrift(*key, "new", 0, b.tokens, (tuple(_all(b, "+")),))
        elif b is None and a is not None:
            yield FileDrift(*key, "gone", a.tokens, 0, note=f"{many(len(a.marks), 'line')}")
        elif a and b and (a.digest, a.transforms) != (b.digest, b.transforms):
            hunks = tuple(hunks_between(a, b))
            yield FileDrift(*key, "changed", a.tokens, b.tokens, hunks, _note(a, b, hunks))


def _note(a: LockedSource, b: LockedSource, hunks: tuple[tuple[Line, ...], ...]) -> str:
    if a.transforms != b.transforms:
        return f"was {', '.join(a.transforms) or 'whole'}, is {', '.join(b.transforms) or 'whole'}"
    return "" if hunks else "only white space at line ends, or a change that the marks cannot tell"


def _all(source: LockedSource, sign: str) -> Iterable[Line]:
    for (number, _), text in zip(source.marks, source.texts, strict=False):
        yield Line(sign, number, text)


def hunks_between(a: LockedSource, b: LockedSource) -> Iterable[tuple[Line, ...]]:
    """What leads from the lines of one to those of the other, a few unchanged ones around."""
    old, new = [mark for _, mark in a.marks], [mark for _, mark in b.marks]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        lines: list[Line] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [_line(" ", b, j) for j in range(j1, j2)]
                continue
            lines += [Line("-", a.marks[i][0], OLD_TEXT) for i in range(i1, i2)]
            lines += [_line("+", b, j) for j in range(j1, j2)]
        yield tuple(lines)


def _line(sign: str, source: LockedSource, at: int) -> Line:
    return Line(sign, source.marks[at][0], source.texts[at] if at < len(source.texts) else "")


def _sections(old: Lock, new: Lock, told: Collection[str]) -> Iterable[SectionDrift]:
    was, now = {s.name: s for s in old.sections}, {s.name: s for s in new.sections}
    for name in dict.fromkeys((*now, *was)):
        a, b = was.get(name), now.get(name)
        if a and b and a.digest == b.digest:
            continue
        change: Change = "changed" if a and b else "new" if b else "gone"
        cause = "" if name in told else _cause(name, old, new)
        yield SectionDrift(name, change, a.tokens if a else 0, b.tokens if b else 0, cause)


def _cause(name: str, old: Lock, new: Lock) -> str:
    if SCOPES.get(name) == "package":
        versions = f" ({old.hermes} before, {new.hermes} now)" if old.hermes != new.hermes else ""
        return f"Hermes' own text{versions}"
    if [s.key for s in old.sources if s.section == name] != [s.key for s in new.sources if s.section == name]:
        return "the order of its files"
    return "what stands between its files, or what the configuration adds"


def approve(old: Lock, new: Lock, names: Collection[str]) -> Lock:
    """The lock with all of the drift accepted, or only that of some sections and paths.

    A section's digest moves on once nothing of it is left to approve. UsageError for a name without drift.
    """
    if not names:
        return new
    drift = compare(old, new)
    if unknown := sorted(set(names) - drift.names):
        there = ", ".join(sorted(drift.names)) or "nothing"
        raise UsageError(f"{unknown[0]} has not drifted; what has: {there}")
    if old.facts != new.facts:
        raise UsageError("the facts of the lock differ; write it anew with: hermes prompt lock")
    sources = _merged(old.sources, new.sources, names)
    kept_out = _merged(old.kept_out, new.kept_out, names)
    half = replace(old, sources=sources, kept_out=kept_out)
    left = compare(half, new)
    pending = {d.section for d in left.files} | {d.section for d in left.decisions}
    touched = {d.section for d in drift.files if {d.section, d.path} & set(names)}
    touched |= {d.section for d in drift.decisions if {d.section, d.path} & set(names)}
    done = (touched | set(names)) - pending
    was, now = {s.name: s for s in old.sections}, {s.name: s for s in new.sections}
    rows: list[LockedSection | None] = [
        now.get(name) if name in done else was.get(name) for name in dict.fromkeys((*now, *was))
    ]
    return replace(half, sections=tuple(r for r in rows if r), method=new.method, hermes=new.hermes)


def _merged(old: tuple[_Row, ...], new: tuple[_Row, ...], names: Collection[str]) -> tuple[_Row, ...]:
    def approved(row: _Row) -> bool:
        return row.section in names or row.path in names

    was, now = {r.key: r for r in old}, {r.key: r for r in new}
    rows = [r if approved(r) else was.get(r.key) for r in new]
    rows += [r for r in old if r.key not in now and not approved(r)]
    return tuple(r for r in rows if r is not None)
