"""The scanner: reads a text as a model would and reports what tries to command it.

One pass of an automaton over the folded text finds the few words that matter; phrase and shape rules look
only at the passages around them. Hidden regions and disguised runs are read by the same rules, one level
down. Linear in the length of the text; rules and automata are loaded by the first scan, not by the import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from hermes.security.findings import Finding, Mark, Severity, settle
from hermes.security.version import scanner_version

if TYPE_CHECKING:
    from hermes.security.literals import Found, Search
    from hermes.security.shapes import Places

__all__ = ["Finding", "Severity", "scan", "scanner_version"]

_DEEPEST = 2
# A text with so many grave findings of one kind gains nothing from another.
_ENOUGH = 60
# So many different hidden or disguised stretches are read in a text, and one more for so many letters of it.
_STRETCHES, _LETTERS_A_STRETCH = 300, 256
_SOFTER = {"high": "medium", "medium": "low", "low": "low"}


def scan(text: str) -> tuple[Finding, ...]:
    """Everything in the text that tries to command its reader, sorted by (start, end, id)."""
    reader = _Reader(len(text))
    marks = [*_unseen(text), *reader.read(text, 0)]
    if reader.unread:
        why = f"more hidden or disguised stretches than are read ({reader.unread} were not)"
        marks.append(Mark("too_many_stretches", "encoded", "medium", 0, min(len(text), 1), text[:1], why))
    return settle(text, marks)


def _unseen(text: str) -> Iterator[Mark]:
    if text.isascii() and "\x1b" not in text:
        return
    from hermes.security import invisible

    yield from invisible.find(text)


class _Reader:
    """Reads one text and, one level down each, what is hidden or disguised in it; equal stretches once."""

    def __init__(self, length: int) -> None:
        self._known: dict[tuple[str, int, int, bool], list[Mark]] = {}
        self.unread = 0
        self._most = _STRETCHES + length // _LETTERS_A_STRETCH

    def read(self, text: str, depth: int, hidden: int = 0, joined: bool = False) -> Iterator[Mark]:
        """Marks of a text and of all that is hidden in it, in offsets of the text."""
        from hermes.security.context import Context
        from hermes.security.normalise import fold
        from hermes.security.phrases import matcher
        from hermes.security.shapes import shapes

        view = fold(text)
        words = matcher()
        scouted = words.scouts.search(view.text)
        places, riddles = _survey(view.text, scouted)
        if joined:
            phrases = words.find_joined(view.text, hidden)
        elif hidden:
            phrases = words.find_hidden(view.text, hidden)
        else:
            phrases = words.find(view.text, scouted)
        context = Context(view.text)
        grave: Counter[str] = Counter()
        found = chain(((mark, True) for mark in phrases), shapes().find(view.text, places))
        for mark, may_soften in found:
            if grave[mark.id] > _ENOUGH:
                continue
            soft = may_soften and not hidden and context.mentions(mark.start, mark.end)
            grave[mark.id] += not soft
            yield _placed(mark, view.start(mark.start), view.end(mark.end), soft)
        if depth < _DEEPEST:
            yield from self._hidden(text, depth)
            yield from self._disguised(text, depth)
            for start, end, read, how in riddles:
                first, last = view.start(start), view.end(end)
                for mark in self._stretch(read, _DEEPEST):
                    if mark.severity == "high":
                        yield _encoded(mark, first, last, mark.reads, how + " text")

    def _stretch(self, text: str, depth: int, hidden: int = 0, joined: bool = False) -> list[Mark]:
        """Marks of a hidden or disguised stretch; none past the limit, which `scan` tells of."""
        key = (text, depth, hidden, joined)
        if (known := self._known.get(key)) is None:
            if len(self._known) >= self._most:
                self.unread += 1
                return []
            known = self._known[key] = list(self.read(text, depth, hidden, joined))
        return known

    def _hidden(self, text: str, depth: int) -> Iterator[Mark]:
        if "<" not in text and "](" not in text and "]:" not in text:
            return
        from hermes.security import hidden
        from hermes.security.normalise import ascii_lower

        for region in hidden.regions(ascii_lower(text)):
            for mark in self._stretch(text[region.start : region.end], depth + 1, region.kind):
                if mark.severity != "low":
                    start, end = region.start + mark.start, region.start + mark.end
                    why = f"not shown to people: {mark.why}"
                    yield Mark(region.id, "hidden_html", "high", start, end, mark.reads, why)

    def _disguised(self, text: str, depth: int) -> Iterator[Mark]:
        from hermes.security.decode import disguises

        for disguise in disguises(text):
            for mark in self._stretch(disguise.text, depth + 1, joined=disguise.joined):
                if mark.severity == "high":
                    yield _encoded(mark, disguise.start, disguise.end, disguise.text, disguise.how)


def _encoded(mark: Mark, start: int, end: int, reads: str, how: str) -> Mark:
    return mark._replace(id="encoded_payload", start=start, end=end, reads=reads, why=f"{how}: {mark.why}")


def _placed(mark: Mark, start: int, end: int, soft: bool) -> Mark:
    severity = _SOFTER[mark.severity] if soft else mark.severity
    return mark._replace(severity=severity, start=start, end=end)


Riddle = tuple[int, int, str, str]


def _survey(text: str, found: Found) -> tuple[Places, list[Riddle]]:
    """Places of shape triggers, and lines in a shifted alphabet."""
    from hermes.security.decode import undo
    from hermes.security.literals import narrow
    from hermes.security.phrases import matcher

    signposts = _signposts()
    places: Places = {}
    riddles: list[Riddle] = []
    read_to: dict[str, int] = {}
    size = len(matcher().anchors)
    seen = [hit for hit in found.hits if hit[0] >= size]
    for number, start in matcher().scouts.confirmed(text, found, seen):
        if trigger := signposts.triggers.get(number):
            places.setdefault(trigger, []).append(start)
        how = signposts.riddles.get(number)
        if how and start >= read_to.get(how, 0):
            begin, stop = _line_around(text, start)
            read_to[how] = stop
            riddles.append((begin, stop, undo(text[begin:stop], how), how))
    for number, start in signposts.signs(narrow(text)):
        for trigger, offset in signposts.names[number]:
            places.setdefault(trigger, []).append(start + offset)
    return places, riddles


def _line_around(text: str, at: int) -> tuple[int, int]:
    low = max(0, at - 200, text.rfind("\n", max(0, at - 200), at) + 1)
    high = text.find("\n", at, at + 220)
    return low, min(len(text), at + 220) if high < 0 else high


class _Signposts:
    """What the survey looks for: words that trigger shapes, and signs that are no words."""

    def __init__(self) -> None:
        from hermes.security.literals import signs
        from hermes.security.rulebook import load

        rules = load()
        self.triggers, self.riddles = rules.triggers, rules.riddles
        ordered = rules.signs
        # The search reports the longest sign of a place; those inside it are triggers as well.
        self.names = [[(other, name.find(other)) for other in ordered if other in name] for name in ordered]
        self.signs: Search = signs([name.encode() for name in ordered])


@lru_cache(maxsize=1)
def _signposts() -> _Signposts:
    return _Signposts()
