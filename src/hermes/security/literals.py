"""Finds many fixed strings at once, in one pass.

With `ahocorasick-rs` this is an automaton that cannot backtrack. Where that wheel is missing, one expression
of the standard library does the same work more slowly and finds the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

Hit = tuple[int, int]
"""Number of the literal, offset at which it ends."""


class Finder(Protocol):
    """Every occurrence of every literal, overlapping ones too, ordered by end."""

    def find(self, text: str) -> list[Hit]: ...


def finder(literals: Iterable[str]) -> Finder:
    """The fastest finder this installation has."""
    try:
        from ahocorasick_rs import BytesAhoCorasick
    except ImportError:
        return _Expression(literals)
    return _Automaton(literals, BytesAhoCorasick)


class _Automaton:
    def __init__(self, literals: Iterable[str], engine: type) -> None:
        self._engine = engine([literal.encode() for literal in literals])

    def find(self, text: str) -> list[Hit]:
        data = text.encode("utf-8", "surrogatepass")
        hits = self._engine.find_matches_as_indexes(data, overlapping=True)
        if len(data) == len(text):
            return [(number, end) for number, _, end in hits]
        found: list[Hit] = []
        at_byte = at_char = 0
        for number, _, end in hits:
            if end != at_byte:
                at_char += len(data[at_byte:end].decode("utf-8", "surrogatepass"))
                at_byte = end
            found.append((number, at_char))
        return found


class _Expression:
    def __init__(self, literals: Iterable[str]) -> None:
        numbered = {literal: number for number, literal in enumerate(literals)}
        self._heads: dict[str, list[tuple[str, int]]] = {}
        for literal, number in sorted(numbered.items()):
            self._heads.setdefault(literal[:2], []).append((literal, number))
        self._pattern = re.compile("(?=(" + "|".join(re.escape(head) for head in sorted(self._heads)) + "))")

    def find(self, text: str) -> list[Hit]:
        found: list[Hit] = []
        for match in self._pattern.finditer(text):
            at = match.start()
            for head in {text[at : at + 1], text[at : at + 2]}:
                for literal, number in self._heads.get(head, ()):
                    if text.startswith(literal, at):
                        found.append((number, at + len(literal)))
        return sorted(found, key=lambda hit: (hit[1], hit[0]))
