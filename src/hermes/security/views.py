"""Readings of a text with the way back, so that a finding always points into the original.

What disappears is counted when somebody asks for the way back; only what is put in costs an entry in a map.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate

from hermes.frozen import frozen
from hermes.security.literals import narrow

# (start, end, what is read there); replacements never overlap.
Edit = tuple[int, int, str]


class Without:
    """The way back from a text that lost letters: told from how many of each block stayed."""

    _BLOCK = 256

    def __init__(self, text: str, lost: Sequence[str]) -> None:
        self._text, self._lost = text, lost

    @cached_property
    def _marked(self) -> bytes:
        """A byte for each letter of the longer text: NUL where it was lost."""
        marked = self._text.replace("\0", " ")
        for letter in self._lost:
            marked = marked.replace(letter, "\0")
        return narrow(marked)

    @cached_property
    def _stayed(self) -> list[int]:
        """How many letters stayed before each block."""
        marked, size = self._marked, self._BLOCK
        blocks = range(0, len(marked), size)
        stayed = [min(size, len(marked) - at) - marked.count(0, at, at + size) for at in blocks]
        return [0, *accumulate(stayed)]

    def back(self, offset: int) -> int:
        """Where the letter at `offset` of the shorter text stands in the longer one."""
        block = bisect_right(self._stayed, offset) - 1
        if block == len(self._stayed) - 1:
            return len(self._text)
        at, left = block * self._BLOCK, offset - self._stayed[block]
        while left or not self._marked[at]:
            left -= self._marked[at] != 0
            at += 1
        return at


@frozen
class View:
    """A reading of a text, with the way back.

    `starts` are offsets in the view, `origins` those in the text without what is invisible; from there
    `without` leads to the original.
    """

    text: str
    starts: tuple[int, ...] = ()
    origins: tuple[tuple[int, int], ...] = ()
    without: Without | None = None

    def start(self, offset: int) -> int:
        """The original offset at which the character at `offset` of the view begins."""
        if self.starts:
            piece = bisect_right(self.starts, offset) - 1
            first, _ = self.origins[piece]
            offset = first if self._replaced(piece) else first + offset - self.starts[piece]
        return self.without.back(offset) if self.without else offset

    def end(self, offset: int) -> int:
        """The original offset behind the character before `offset` of the view."""
        if offset == 0:
            return offset
        if self.starts:
            piece = bisect_right(self.starts, offset - 1) - 1
            first, last = self.origins[piece]
            offset = last if self._replaced(piece) else first + offset - self.starts[piece]
        return self.without.back(offset - 1) + 1 if self.without else offset

    def _replaced(self, piece: int) -> bool:
        following = self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.text)
        first, last = self.origins[piece]
        return last - first != following - self.starts[piece]


def edited(text: str, edits: Iterable[Edit], without: Without | None) -> View:
    """The view of a text with edits in it, in order; of those that overlap the first."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[tuple[int, int]] = []
    done = at = 0
    for start, end, reading in edits:
        if start < done:
            continue
        if start > done:
            pieces.append(text[done:start])
            starts.append(at)
            origins.append((done, start))
            at += start - done
        if reading:
            pieces.append(reading)
            starts.append(at)
            origins.append((start, end))
            at += len(reading)
        done = end
    pieces.append(text[done:])
    starts.append(at)
    origins.append((done, len(text)))
    return View("".join(pieces), tuple(starts), tuple(origins), without)
