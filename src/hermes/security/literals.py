"""Finds many fixed strings at once, in one pass.

With `ahocorasick-rs` this is an automaton that cannot backtrack. Where that wheel is missing, one expression
of the standard library does the same work more slowly and finds the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

STARTS, ENDS = 1, 2
"""Where a literal must stand at the edge of a word."""

Ends = Callable[[], list[int]]
"""Where each finding ends, worked out when it is asked for: in most texts it is not."""

Hit = tuple[int, int, int]
"""Number of the literal, where it begins, where it ends."""

_LETTERS = frozenset(range(ord("a"), ord("z") + 1))
# Everything of ASCII that is no letter becomes a space, so that the search itself sees the edges of words.
_EDGES = bytes(code if code in _LETTERS or code > 127 else 32 for code in range(256))
_EDGES_OF_TEXT = {code: " " for code in range(128) if code not in _LETTERS}
_UNLIKE_WORDS = r"[^a-z \-_'\x80-\U0010ffff]"


class Literals(NamedTuple):
    """Literals in the form they are searched in: non-letters as spaces, a space for each edge they need.

    `exact` names those whose non-letters matter, with their true spelling, which is compared after a hit.
    """

    patterns: list[str]
    lengths: list[int]
    trails: list[int]
    exact: dict[int, str]


def prepare(literals: Sequence[tuple[str, int]]) -> Literals:
    """Bring literals with the edges they need into the form of the search."""
    return Literals(
        patterns=[
            " " * (bounds & STARTS) + literal.translate(_EDGES_OF_TEXT) + " " * (bounds >> 1)
            for literal, bounds in literals
        ],
        lengths=[len(literal) for literal, _ in literals],
        trails=[bounds >> 1 for _, bounds in literals],
        exact={
            number: literal
            for number, (literal, _) in enumerate(literals)
            if re.search(_UNLIKE_WORDS, literal)
        },
    )


def joined_with(first: Literals, second: Literals) -> Literals:
    """Both, those of the second numbered behind those of the first."""
    size = len(first.patterns)
    exact = first.exact | {size + number: literal for number, literal in second.exact.items()}
    return Literals(
        first.patterns + second.patterns,
        first.lengths + second.lengths,
        first.trails + second.trails,
        exact,
    )


class Finder:
    """Every occurrence of every literal in a lower-cased text, overlapping ones too, ordered by end."""

    def __init__(self, literals: Literals) -> None:
        self._literals = literals
        patterns = list(literals.patterns)
        self._bare = {number: mark for number, mark in literals.exact.items() if not patterns[number].strip()}
        for number in self._bare:
            patterns[number] = _NEVER
        self._search = _overlapping(patterns)

    def search(self, text: str) -> tuple[list[int], Ends]:
        """Numbers of what may be a literal, and where each ends, with the edge it needs and counted from 1.

        Quick and to be confirmed by `confirmed`.
        """
        numbers, ends = self._search(text)
        trails = self._literals.trails
        marks = [(number, mark, trails[number]) for number, mark in self._bare.items() if mark in text]
        if not marks:
            return numbers, ends
        numbers, placed = _with_marks(text, marks, numbers, ends())
        return numbers, lambda: placed

    def confirmed(self, text: str, pairs: Iterable[tuple[int, int]]) -> list[Hit]:
        """Of what `search` found, in pairs, the hits that are spelled right, in offsets of the text."""
        _, lengths, trails, exact = self._literals
        found: list[Hit] = []
        for number, end in pairs:
            stop = end - 1 - trails[number]
            start = stop - lengths[number]
            if number in exact and text[start:stop] != exact[number]:
                continue
            found.append((number, start, stop))
        return found

    def find(self, text: str) -> list[Hit]:
        """Hits in offsets of the text."""
        numbers, ends = self.search(text)
        return self.confirmed(text, zip(numbers, ends(), strict=True))


# What stands for a literal without letters, which would be found wherever there is space.
_NEVER = "\x7f"


def _with_marks(
    text: str, marks: list[tuple[int, str, int]], numbers: list[int], ends: list[int]
) -> tuple[list[int], list[int]]:
    """The findings together with those of literals that have no letters."""
    found = list(zip(ends, numbers, strict=True))
    for number, mark, trail in marks:
        found += [(match.end() + 1 + trail, number) for match in re.finditer(re.escape(mark), text)]
    found.sort()
    return [number for _, number in found], [end for end, _ in found]


def _overlapping(patterns: list[str]) -> Callable[[str], tuple[list[int], Ends]]:
    """A search for the number and the end of every pattern in a text set between two spaces."""
    try:
        from ahocorasick_rs import BytesAhoCorasick
    except ImportError:
        return _by_expression(patterns)
    engine = BytesAhoCorasick([pattern.encode() for pattern in patterns])

    def search(text: str) -> tuple[list[int], Ends]:
        data = b" " + text.encode("utf-8", "surrogatepass").translate(_EDGES) + b" "
        hits = engine.find_matches_as_indexes(data, overlapping=True)
        plain = len(data) == len(text) + 2

        @cache
        def ends() -> list[int]:
            found = [end for _, _, end in hits]
            return found if plain else _in_letters(data, found)

        return [number for number, _, _ in hits], ends

    return search


def _in_letters(data: bytes, ends: list[int]) -> list[int]:
    """Offsets in letters for ascending offsets in bytes."""
    found: list[int] = []
    at_byte = at_letter = 0
    for end in ends:
        if end != at_byte:
            at_letter += len(data[at_byte:end].decode("utf-8", "surrogatepass"))
            at_byte = end
        found.append(at_letter)
    return found


def _by_expression(patterns: list[str]) -> Callable[[str], tuple[list[int], Ends]]:
    heads: dict[str, list[tuple[str, int]]] = {}
    for number, pattern in enumerate(patterns):
        heads.setdefault(pattern[:2], []).append((pattern, number))
    expression = re.compile("(?=(?:" + "|".join(re.escape(head) for head in sorted(heads)) + "))")

    def search(text: str) -> tuple[list[int], Ends]:
        spaced = " " + text.translate(_EDGES_OF_TEXT) + " "
        found = []
        for match in expression.finditer(spaced):
            at = match.start()
            for head in {spaced[at : at + 1], spaced[at : at + 2]}:
                for pattern, number in heads.get(head, ()):
                    if spaced.startswith(pattern, at):
                        found.append((at + len(pattern), number))
        found.sort()
        return [number for _, number in found], lambda: [end for end, _ in found]

    return search


Search = Callable[[bytes], list[tuple[int, int]]]
"""Number of the sign and where it begins, for every sign that does not overlap one before it."""


def signs(literals: Sequence[bytes]) -> Search:
    """A search for a few short byte strings, leftmost first."""
    try:
        from ahocorasick_rs import BytesAhoCorasick, MatchKind
    except ImportError:
        pattern = re.compile(b"|".join(b"(" + re.escape(literal) + b")" for literal in literals))
        return lambda data: [
            (match.lastindex - 1, match.start()) for match in pattern.finditer(data) if match.lastindex
        ]
    engine = BytesAhoCorasick(list(literals), matchkind=MatchKind.LeftmostFirst)
    return lambda data: [(number, start) for number, start, _ in engine.find_matches_as_indexes(data)]


def narrow(text: str) -> bytes:
    """One byte for each letter of the text; what is beyond Latin-1 becomes a question mark."""
    return text.encode("latin-1", "replace")
