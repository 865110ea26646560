"""Finds many fixed strings at once, in one pass.

With `ahocorasick-rs` this is an automaton that cannot backtrack. Where that wheel is missing, one expression
of the standard library does the same work more slowly and finds the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, count
from operator import add
from typing import NamedTuple

STARTS, ENDS = 1, 2
"""Where a literal must stand at the edge of a word."""

Hit = tuple[int, int, int]
"""Number of the literal, where it begins, where it ends."""
Engine = Callable[[bytes], list[Hit]]

_LETTERS = frozenset(range(ord("a"), ord("z") + 1))
# Everything of ASCII that is no letter becomes a space, so that the search itself sees the edges of words.
EDGES = bytes(code if code in _LETTERS or code > 127 else 32 for code in range(256))
_EDGES_OF_TEXT = {code: " " for code in range(128) if code not in _LETTERS}
UNLIKE_WORDS = r"[^a-z \-_'\x80-\U0010ffff]|'$"
STOP = "\u3002"  # also what a danda is folded to
_STOP = STOP.encode()
_GAPS = re.compile(b" ( +)")
_BORDER = b" \xff "  # no encoded text has this byte


class Literals(NamedTuple):
    """Literals in the form they are searched in: each run of non-letters one space, a space for each edge.

    `firsts` says where the first letter of each pattern stands, `leads` how many signs of the literal stand
    before it; `exact` names those whose signs matter, with their true spelling, to be compared after a hit.
    """

    patterns: list[str]
    firsts: list[int]
    leads: list[int]
    lengths: list[int]
    exact: dict[int, str]


def prepare(literals: Sequence[tuple[str, int]]) -> Literals:
    """Bring literals with the edges they need into the form of the search. Each must have a letter."""
    patterns = [
        _collapsed(" " * (bounds & STARTS) + literal.translate(_EDGES_OF_TEXT) + " " * (bounds >> 1))
        for literal, bounds in literals
    ]
    return Literals(
        patterns=patterns,
        firsts=[len(pattern) - len(pattern.lstrip()) for pattern in patterns],
        leads=[_lead(literal) for literal, _ in literals],
        lengths=[len(literal) for literal, _ in literals],
        exact={
            number: literal
            for number, (literal, _) in enumerate(literals)
            if re.search(UNLIKE_WORDS, literal)
        },
    )


def _collapsed(pattern: str) -> str:
    return re.sub("  +", " ", pattern)


def _lead(literal: str) -> int:
    spaced = literal.translate(_EDGES_OF_TEXT)
    if not spaced.strip(" "):
        raise ValueError(f"{literal!r} has no letter to look for")
    return len(spaced) - len(spaced.lstrip(" "))


class Found:
    """What may be literals in a text, in offsets of the bytes searched; `starts` leads back to the text."""

    def __init__(self, text: str, raw: bytes, engine: Engine) -> None:
        self._text, self._raw = text, raw
        self._pieces = _GAPS.split(raw)
        self.data = b" ".join(self._pieces[::2])
        self.hits = engine(self.data)

    def starts(self, places: Iterable[int]) -> list[int]:
        """Offsets in the text for ascending offsets of letters in the bytes."""
        ends, gone = self._gaps
        wide = [place + gone[bisect_right(ends, place)] for place in places] if ends else list(places)
        return [at - 1 for at in (wide if self._text.isascii() else _in_letters(self._raw, wide))]

    @cached_property
    def _gaps(self) -> tuple[list[int], list[int]]:
        """Where gaps were made one space, and how many spaces are gone behind each."""
        lengths = list(map(len, self._pieces))
        return list(map(add, accumulate(lengths[:-1:2]), count())), [0, *accumulate(lengths[1::2])]


class Finder:
    """Every occurrence of every literal in a lower-cased text, overlapping ones too, ordered by end."""

    def __init__(self, literals: Literals) -> None:
        self._literals = literals
        self.within = overlapping([pattern.encode() for pattern in literals.patterns])
        """The same search over bytes that `search` has made."""

    def search(self, text: str) -> Found:
        """What may be literals: quick, and to be confirmed by `confirmed`."""
        data = text.replace(STOP, " ").encode("utf-8", "surrogatepass").translate(EDGES)
        raw = b" " + data + b" "
        return Found(text, raw, self.within)

    def confirmed(self, text: str, found: Found, hits: Sequence[Hit]) -> list[tuple[int, int]]:
        """Of what `search` found, those that are spelled right: their numbers, and where each begins."""
        _, firsts, leads, lengths, exact = self._literals
        if not hits:
            return []
        present = {number for number, _, _ in hits}
        present -= {number for number in present & exact.keys() if exact[number] not in text}
        ordered = sorted((start + firsts[number], number) for number, start, _ in hits if number in present)
        kept: list[tuple[int, int]] = []
        for (_, number), letter in zip(ordered, found.starts(at for at, _ in ordered), strict=True):
            at = letter - leads[number]
            if number in exact and text[at : at + lengths[number]] != exact[number]:
                continue
            kept.append((number, at))
        return kept

    def present(self, passages: Sequence[str]) -> Iterator[set[int]]:
        """Numbers of what may be literals in each of some passages, which are searched as one."""
        data = _BORDER.join([passage.encode("utf-8", "surrogatepass") for passage in passages])
        spaced = data.replace(_STOP, b" ").translate(EDGES).split()
        data = b" " + b" ".join(spaced) + b" "
        hits = self.within(data)
        border, begin = -1, 0
        for _ in passages:
            border = data.find(_BORDER, border + 1)
            stop = bisect_left(hits, border + 2, begin, key=_end) if border >= 0 else len(hits)
            yield {number for number, _, _ in hits[begin:stop]}
            begin = stop

    def find(self, text: str) -> list[tuple[int, int]]:
        """Numbers of the literals in the text, and where each begins."""
        found = self.search(text)
        return self.confirmed(text, found, found.hits)


def _end(hit: Hit) -> int:
    return hit[2]


def overlapping(patterns: list[bytes]) -> Engine:
    """A search for the number, start and end of every pattern."""
    try:
        from ahocorasick_rs import BytesAhoCorasick, Implementation
    except ImportError:
        return _by_expression(patterns)
    engine = BytesAhoCorasick(patterns, implementation=Implementation.ContiguousNFA)
    return lambda data: engine.find_matches_as_indexes(data, overlapping=True)


def _in_letters(raw: bytes, places: list[int]) -> list[int]:
    """Offsets in letters for ascending offsets in bytes."""
    found: list[int] = []
    at_byte = at_letter = 0
    for place in places:
        if place != at_byte:
            at_letter += len(raw[at_byte:place].decode("utf-8", "surrogatepass"))
            at_byte = place
        found.append(at_letter)
    return found


def _by_expression(patterns: list[bytes]) -> Engine:
    heads: dict[bytes, list[tuple[bytes, int]]] = {}
    for number, pattern in enumerate(patterns):
        heads.setdefault(pattern[:2], []).append((pattern, number))
    expression = re.compile(b"(?=(?:" + b"|".join(re.escape(head) for head in sorted(heads)) + b"))")

    def search(data: bytes) -> list[Hit]:
        found = []
        for match in expression.finditer(data):
            at = match.start()
            for head in {data[at : at + 1], data[at : at + 2]}:
                for pattern, number in heads.get(head, ()):
                    if data.startswith(pattern, at):
                        found.append((at + len(pattern), at, number))
        return [(number, start, end) for end, start, number in sorted(found)]

    return search


Search = Callable[[bytes], list[tuple[int, int]]]
"""Number of the sign and where it begins, for every sign that does not overlap one before it."""


def signs(literals: Sequence[bytes]) -> Search:
    """A search for a few short byte strings, leftmost first."""
    try:
        from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind
    except ImportError:
        pattern = re.compile(b"|".join(b"(" + re.escape(literal) + b")" for literal in literals))
        return lambda data: [
            (match.lastindex - 1, match.start()) for match in pattern.finditer(data) if match.lastindex
        ]
    engine = BytesAhoCorasick(
        list(literals), matchkind=MatchKind.LeftmostFirst, implementation=Implementation.DFA
    )
    return lambda data: [(number, start) for number, start, _ in engine.find_matches_as_indexes(data)]


def narrow(text: str) -> bytes:
    """One byte for each letter of the text; what is beyond Latin-1 becomes a question mark."""
    return text.encode("latin-1", "replace")
