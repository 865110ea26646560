"""Finds many fixed strings at once, in one pass.

With `ahocorasick-rs` this is an automaton that cannot backtrack. Where that wheel is missing, one expression
of the standard library does the same work more slowly and finds the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

STARTS, ENDS = 1, 2
"""Where a literal must stand at the edge of a word."""

Hit = tuple[int, int, int]
"""Number of the literal, where it begins, where it ends."""

_LETTERS = frozenset(range(ord("a"), ord("z") + 1))
# Everything of ASCII that is no letter becomes a space, so that the automaton itself sees the edges of words.
_EDGES = bytes(code if code in _LETTERS or code > 127 else 32 for code in range(256))


class Finder(Protocol):
    """Every occurrence of every literal, overlapping ones too, ordered by end."""

    def find(self, text: str) -> list[Hit]: ...


def finder(literals: Sequence[tuple[str, int]]) -> Finder:
    """The fastest finder this installation has, for literals with the edges of words they need."""
    try:
        from ahocorasick_rs import BytesAhoCorasick
    except ImportError:
        return Expression(literals)
    return Automaton(literals, BytesAhoCorasick)


class Automaton:
    """Works on bytes; literals that need edges see a text in which all that is no letter is a space."""

    def __init__(self, literals: Sequence[tuple[str, int]], engine: type) -> None:
        self._plain = any(bounds for _, bounds in literals)
        self._table = _EDGES if self._plain else None
        self._lengths = [len(literal) for literal, _ in literals]
        self._trail = [1 if bounds & ENDS else 0 for _, bounds in literals]
        self._exact = [literal if self._plain and re.search(r"[^a-z \-_'\x80-\U0010ffff]", literal) else "" for literal, _ in literals]
        self._engine = engine([self._pattern(literal, bounds) for literal, bounds in literals])

    def _pattern(self, literal: str, bounds: int) -> bytes:
        data = literal.encode()
        if self._table:
            data = data.translate(self._table)
        return b" " * (bounds & STARTS) + data + b" " * (bounds >> 1)

    def find(self, text: str) -> list[Hit]:
        data = text.encode("utf-8", "surrogatepass")
        single = len(data) == len(text)
        if self._table:
            data = b" " + data.translate(self._table) + b" "
        shift = 1 if self._table else 0
        lengths, trail, exact = self._lengths, self._trail, self._exact
        found: list[Hit] = []
        at_byte, at_char = 0, -shift
        for number, _, end in self._engine.find_matches_as_indexes(data, overlapping=True):
            if single:
                stop = end - shift - trail[number]
            else:
                if end != at_byte:
                    at_char += len(data[at_byte:end].decode("utf-8", "surrogatepass"))
                    at_byte = end
                stop = at_char - trail[number]
            start = stop - lengths[number]
            if exact[number] and text[start:stop] != exact[number]:
                continue
            found.append((number, start, stop))
        return found


class Expression:
    """The same by `re`: an alternation of the first two letters, then a look at what follows."""

    def __init__(self, literals: Sequence[tuple[str, int]]) -> None:
        self._heads: dict[str, list[tuple[str, int, int]]] = {}
        for number, (literal, bounds) in enumerate(literals):
            self._heads.setdefault(literal[:2], []).append((literal, number, bounds))
        self._pattern = re.compile("(?=(" + "|".join(re.escape(head) for head in sorted(self._heads)) + "))")

    def find(self, text: str) -> list[Hit]:
        found: list[Hit] = []
        for match in self._pattern.finditer(text):
            at = match.start()
            for head in {text[at : at + 1], text[at : at + 2]}:
                for literal, number, bounds in self._heads.get(head, ()):
                    stop = at + len(literal)
                    if text.startswith(literal, at) and _edged(text, at, stop, bounds):
                        found.append((number, at, stop))
        return sorted(found, key=lambda hit: (hit[2], hit[1]))


def _edged(text: str, start: int, stop: int, bounds: int) -> bool:
    if bounds & STARTS and start and not _edge(text[start - 1]):
        return False
    return not (bounds & ENDS and stop < len(text) and not _edge(text[stop]))


def _edge(letter: str) -> bool:
    return letter.isascii() and not "a" <= letter <= "z"


Search = Callable[[bytes], list[tuple[int, int]]]
"""Number of the sign and where it begins, for every sign that does not overlap one before it."""


def signs(literals: Sequence[bytes]) -> Search:
    """A search for a few short byte strings, leftmost first."""
    try:
        from ahocorasick_rs import BytesAhoCorasick, MatchKind
    except ImportError:
        pattern = re.compile(b"|".join(b"(" + re.escape(literal) + b")" for literal in literals))
        return lambda data: [(match.lastindex - 1, match.start()) for match in pattern.finditer(data) if match.lastindex]
    engine = BytesAhoCorasick(list(literals), matchkind=MatchKind.LeftmostFirst)
    return lambda data: [(number, start) for number, start, _ in engine.find_matches_as_indexes(data)]


def narrow(text: str) -> bytes:
    """One byte for each letter of the text; what is beyond Latin-1 becomes a question mark."""
    return text.encode("latin-1", "replace")
