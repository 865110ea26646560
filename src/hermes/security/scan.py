"""The scanner: reads a text as a model would and reports what tries to command it.

One pass of an automaton over the folded text finds the few words that matter; phrase and shape rules look only
at the passages around them. Hidden regions and disguised runs are read by the same rules, one level down.
Linear in the length of the text; rules and automata are loaded by the first scan, not by the import.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from hermes.security.findings import Finding, Mark, Severity

if TYPE_CHECKING:
    from hermes.security.literals import Finder

__all__ = ["Finding", "Severity", "scan", "scanner_version"]

_AROUND = 110
_DEEPEST = 2
_COMMANDS = frozenset({"exfiltration", "secrets", "remote_code", "persistence"})
_SOFTER = {"high": "medium", "medium": "low", "low": "low"}


def scan(text: str) -> tuple[Finding, ...]:
    """Everything in the text that tries to command its reader, sorted by (start, end, id)."""
    from hermes.security import invisible
    from hermes.security.findings import settle

    return settle(text, [*invisible.find(text), *_read(text, 0)])


def scanner_version() -> str:
    """Changes whenever the same text could give other findings; part of every cache key."""
    from hermes.security.rulebook import load

    return load().version


def _read(text: str, depth: int, hidden: int = 0, joined: bool = False) -> Iterator[Mark]:
    """Marks of a text and of all that is hidden in it, in offsets of the text."""
    from hermes.security.context import Context
    from hermes.security.normalise import fold
    from hermes.security.phrases import matcher
    from hermes.security.shapes import shapes

    view = fold(text)
    passages, places, riddles = _survey(view.text, whole=bool(hidden or joined))
    context = Context(view.text)
    for start, end in passages:
        for mark in matcher().find(view.text, start, end, hidden, joined):
            soft = not hidden and context.mentions(mark.start, mark.end)
            yield _placed(mark, view.start(mark.start), view.end(mark.end), soft)
    for mark, may_soften in shapes().find(view.text, places):
        soft = may_soften and not hidden and context.mentions(mark.start, mark.end, mark.family in _COMMANDS)
        yield _placed(mark, view.start(mark.start), view.end(mark.end), soft)
    if depth < _DEEPEST:
        yield from _hidden(text, depth)
        yield from _disguised(text, depth)
        for start, end, read, how in riddles:
            for mark in _read(read, _DEEPEST):
                if mark.severity == "high":
                    yield mark._replace(
                        id="encoded_payload", start=view.start(start), end=view.end(end), why=f"{how} text: {mark.why}"
                    )


def _hidden(text: str, depth: int) -> Iterator[Mark]:
    from hermes.security import hidden

    for region in hidden.regions(text.lower() if len(text.lower()) == len(text) else text):
        for mark in _read(text[region.start : region.end], depth + 1, region.kind):
            if mark.severity != "low":
                yield mark._replace(
                    id=region.id, family="hidden_html", severity="high",
                    start=region.start + mark.start, end=region.start + mark.end, why=f"not shown to people: {mark.why}",
                )  # fmt: skip


def _disguised(text: str, depth: int) -> Iterator[Mark]:
    from hermes.security.decode import disguises

    for disguise in disguises(text):
        for mark in _read(disguise.text, depth + 1, joined=disguise.joined):
            if mark.severity == "high":
                yield mark._replace(
                    id="encoded_payload", start=disguise.start, end=disguise.end,
                    reads=disguise.text, why=f"{disguise.how}: {mark.why}",
                )  # fmt: skip


def _placed(mark: Mark, start: int, end: int, soft: bool) -> Mark:
    severity = _SOFTER[mark.severity] if soft else mark.severity
    return mark._replace(severity=severity, start=start, end=end)


Riddle = tuple[int, int, str, str]


def _survey(text: str, whole: bool) -> tuple[list[tuple[int, int]], list[tuple[str, int]], list[Riddle]]:
    """Passages worth reading, places of shape triggers, and lines in a shifted alphabet."""
    from hermes.security.decode import undo

    words, signs, names, riddling = _anchors()
    places: list[tuple[str, int]] = []
    riddles: dict[tuple[int, str], Riddle] = {}
    for number, start, end in signs.find(text):
        name = names[number]
        if how := riddling.get(name):
            low, high = _line_around(text, start, end)
            if (low, how) not in riddles:
                riddles[low, how] = (low, high, undo(text[low:high], how), how)
        else:
            places.append((name, start))
    return ([(0, len(text))] if whole else _passages(text, words)), places, list(riddles.values())


def _passages(text: str, words: Finder) -> list[tuple[int, int]]:
    passages: list[tuple[int, int]] = []
    low = high = -1
    for _, start, end in words.find(text):
        if low >= 0 and start - _AROUND <= high:
            high = max(high, end + _AROUND)
            continue
        if low >= 0:
            passages.append((low, min(high, len(text))))
        low, high = max(0, start - _AROUND), end + _AROUND
    if low >= 0:
        passages.append((low, min(high, len(text))))
    return passages


def _line_around(text: str, start: int, end: int) -> tuple[int, int]:
    low = max(0, start - 200, text.rfind("\n", max(0, start - 200), start) + 1)
    high = text.find("\n", end, end + 200)
    return low, min(len(text), end + 200) if high < 0 else high


@lru_cache(maxsize=1)
def _anchors() -> tuple[Finder, Finder, list[str], dict[str, str]]:
    from hermes.security.decode import telltales
    from hermes.security.literals import finder
    from hermes.security.rulebook import load
    from hermes.security.shapes import shapes

    riddling = telltales()
    names = sorted({*shapes().triggers, *riddling})
    return finder(load().anchors), finder([(name, 0) for name in names]), names, riddling
