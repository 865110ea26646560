"""Finds in a whole text the few fixed strings that make a passage worth reading.

Each string is looked for by its *key*: the rarest of its words, or, where all of them are common, the rarest
two neighbours (chosen by `keys.py`). Only where a key stands is the rest of the string compared. The text is
searched as it stands, so that every place found is a place of the text.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

from hermes.security.effort import Effort
from hermes.security.literals import EDGES, ENDS, STARTS, STOP, UNLIKE_WORDS, Engine, Hit, overlapping

MARKS = 6
"""So many marks may stand between two words of a string."""
GAP = "\t"
"""Stands in a key for such marks; a space there stands for the edge of a word."""
WORD = r"[a-z\x80-\u3001\u3003-\U0010ffff]+"

Place = tuple[int, int]
"""Where a string begins in a text, and its number."""
# What is spent on a key that is a part of strings, and on comparing the words around one.
_LOOKED, _COMPARED = 2, 5
_MARKS = re.compile(r"[^a-z\x80-\u3001\u3003-\U0010ffff]{1,6}")
_MARK = "".join(chr(code) for code in range(128) if not "a" <= chr(code) <= "z") + STOP


class Keyed(NamedTuple):
    """Strings with the edges they need, and the keys they are looked for by.

    First come keys of one word in ASCII, then those of two, then all others. `owners` says for each key which
    strings it is part of, and which of their words it is.
    """

    texts: list[str]
    bounds: list[int]
    plain: list[str]
    pairs: list[str]
    other: list[str]
    owners: list[list[tuple[int, int]]]


class _Rest(NamedTuple):
    """What must stand around a key: words before it, the nearest first, and behind it; letters before all."""

    number: int
    before: list[str]
    behind: list[str]
    lead: int
    bounds: int


class _Key(NamedTuple):
    """The strings of one key: those that it is, those spelled with marks, those with words behind or before.

    `edge` and `close` say how far the key is inside its hit; a space stands before the text.
    """

    edge: int
    close: int
    alone: list[Place]
    exact: list[tuple[int, int, str, int]]
    behind: dict[str, list[_Rest]]
    before: dict[str, list[_Rest]]


class Scouts:
    """Every occurrence of every string in a lower-cased text, overlapping ones too."""

    def __init__(self, keyed: Keyed) -> None:
        self._keyed = keyed
        self._one = len(keyed.plain)
        self._ascii_keys = self._one + len(keyed.pairs)
        self._first_other = self._one + MARKS * len(keyed.pairs)
        self._keys: dict[int, _Key] = {}
        self._single: dict[int, Place] = {}

    def find(self, text: str, effort: Effort) -> list[Place]:
        """The places of all strings; those of one string in ascending order."""
        if text.isascii():
            found = self._read(text, self._in_ascii(text.encode()), effort)
        else:
            flat = text.replace(STOP, " ")
            narrowed = flat.replace("?", " ").encode("latin-1", "replace").replace(b"?", b"\x80")
            found = self._read(text, self._in_ascii(narrowed), effort)
            found += self._read(text, self._beyond_ascii(flat.encode("utf-8", "surrogatepass")), effort)
        return found

    def _in_ascii(self, data: bytes) -> list[Hit]:
        return self._ascii(b" " + data.translate(EDGES) + b" ")

    def _beyond_ascii(self, data: bytes) -> list[Hit]:
        """Hits of the other keys, in letters instead of bytes."""
        data = b" " + data.translate(EDGES) + b" "
        found: list[Hit] = []
        at_byte = at_letter = 0
        for place, number in sorted((start, number) for number, start, _ in self._other(data)):
            if place != at_byte:
                at_letter += len(data[at_byte:place].decode("utf-8", "surrogatepass"))
                at_byte = place
            found.append((self._first_other + number, at_letter, at_letter + len(self._keyed.other[number])))
        return found

    def _read(self, text: str, hits: list[Hit], effort: Effort) -> list[Place]:
        """The strings that stand around the hits of keys."""
        effort.spend(len(hits) // 2)
        found: list[Place] = []
        keys, single = self._keys, self._single
        for number, start, end in hits:
            if number in single:
                string, back = single[number]
                found.append((start - back, string))
                continue
            effort.spend(_LOOKED)
            key = keys[number] if number in keys else self._key(number)
            edge, close, alone, exact, behind, before = key
            for string, back in alone:
                found.append((start - back, string))
            for string, back, spelled, bounds in exact:
                at = start - back
                if at >= 0 and text.startswith(spelled, at) and _bounded(text, at, at + len(spelled), bounds):
                    found.append((at, string))
            rests: list[_Rest] = []
            if behind and (marks := _MARKS.match(text, end - close)):
                at = marks.end()
                rests += [r for r in behind.get(text[at : at + 1], ()) if text.startswith(r.behind[0], at)]
            if before and 0 < (gap := _before(text, start - edge)) < start - edge:
                rests += [r for r in before.get(text[gap - 1], ()) if text.endswith(r.before[0], 0, gap)]
            if rests:
                effort.spend(_COMPARED * len(rests))
                places = [(_around(text, start - edge, end - close, rest), rest.number) for rest in rests]
                found += [place for place in places if place[0] >= 0]
        return found

    def _key(self, number: int) -> _Key:
        """What is to be done where a key stands."""
        _, _, plain, pairs, other, owners = self._keyed
        if self._one <= number < self._first_other:
            spelled = pairs[(number - self._one) % len(pairs)]
            known = self._one + (number - self._one) % len(pairs)
        else:
            known = number if number < self._one else number - self._first_other + self._ascii_keys
            spelled = plain[number] if number < self._one else other[number - self._first_other]
        key = self._keys[number] = _Key(spelled[0] != " ", 1 + (spelled[-1] == " "), [], [], {}, {})
        size = len(spelled.split(GAP))
        for string, word in owners[known]:
            self._add(key, string, word, size)
        if len(key.alone) == 1 and not (key.exact or key.behind or key.before):
            string, back = key.alone[0]
            self._single[number] = string, back
        return key

    def _add(self, key: _Key, string: int, word: int, size: int) -> None:
        literal, bounds = self._keyed.texts[string], self._keyed.bounds[string]
        words = [match[0] for match in re.finditer(WORD, literal)]
        starts = [match.start() for match in re.finditer(WORD, literal)]
        before, behind = words[:word], words[word + size :]
        if is_exact(literal):
            key.exact.append((string, starts[word] + key.edge, literal, bounds))
        elif not before and not behind:
            key.alone.append((string, starts[0] + key.edge))
        else:
            rest = _Rest(string, before[::-1], behind, starts[0], bounds)
            if behind:
                key.behind.setdefault(behind[0][0], []).append(rest)
            else:
                key.before.setdefault(before[-1][-1], []).append(rest)

    @cached_property
    def _ascii(self) -> Engine:
        gaps = [" " * size for size in range(1, MARKS + 1)]
        spread = [pair.replace(GAP, gap) for gap in gaps for pair in self._keyed.pairs]
        return overlapping([key.encode() for key in (*self._keyed.plain, *spread)])

    @cached_property
    def _other(self) -> Engine:
        return overlapping([key.encode() for key in self._keyed.other])


def is_exact(literal: str) -> bool:
    """Whether the marks of a string matter, so that it must be spelled as it is."""
    return re.search(UNLIKE_WORDS, literal) is not None


def _around(text: str, start: int, end: int, rest: _Rest) -> int:
    """Where a string begins whose key is text[start:end], if the rest of it stands there; otherwise -1."""
    for word in rest.behind:
        gap = _MARKS.match(text, end)
        if gap is None or not text.startswith(word, gap.end()):
            return -1
        end = gap.end() + len(word)
    for word in rest.before:
        gap_start = _before(text, start)
        if gap_start == start or not text.endswith(word, 0, gap_start):
            return -1
        start = gap_start - len(word)
    return start - rest.lead if _bounded(text, start, end, rest.bounds) else -1


def _before(text: str, at: int) -> int:
    """Where the marks before a place begin, of which no more than may stand in a string."""
    low = max(0, at - MARKS)
    return low + len(text[low:at].rstrip(_MARK))


def _bounded(text: str, start: int, end: int, bounds: int) -> bool:
    """Whether text[start:end] has the edges it needs."""
    if bounds & STARTS and start and text[start] not in _MARK and text[start - 1] not in _MARK:
        return False
    return not (bounds & ENDS and end < len(text) and text[end] not in _MARK and text[end - 1] not in _MARK)
