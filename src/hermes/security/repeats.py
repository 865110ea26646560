"""Leaves out the middle of what repeats itself, so that a text pumped full of one phrase costs little.

Whole repeats are left out, so that the text around the gap reads as it did: what a rule finds in the shorter
text stands in the longer one too, and in each repeat again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hermes.security.findings import Mark

# So much is kept at each end of what repeats: more than any rule reads at once.
_KEPT = 1_000
# Every so many letters is looked whether the next ones come again, no further on than `_PERIOD`.
_STEP, _SAMPLE, _PERIOD = 2_000, 48, 2_000
# In so many repeats that were left out a mark is told again: more than a text may have of one kind.
_AGAIN = 60


class Gap(NamedTuple):
    """Where something is left out of a text, as an offset in what is left, and how many letters of it; after
    how many they repeat."""

    at: int
    size: int
    period: int


def shorten(text: str) -> tuple[str, list[Gap]]:
    """The text without the middles of what repeats, and where they were, in order."""
    pieces: list[str] = []
    gaps: list[Gap] = []
    at = done = kept = 0
    while at + 2 * _KEPT + _PERIOD < len(text):
        again = text.find(text[at : at + _SAMPLE], at + 1, at + _SAMPLE + _PERIOD)
        end = _end(text, at, again - at) if again >= 0 else at
        size = (end - at - 2 * _KEPT) // (again - at) * (again - at)
        if size > 0:
            pieces.append(text[done : at + _KEPT])
            kept += len(pieces[-1])
            done = at + _KEPT + size
            gaps.append(Gap(kept, size, again - at))
        at = max(end - _SAMPLE, at + _STEP)
    return "".join([*pieces, text[done:]]) if gaps else text, gaps


def _end(text: str, start: int, period: int) -> int:
    """How far the text from `start` repeats with the period."""

    def repeats(low: int, size: int) -> bool:
        behind = low + period + size
        return behind <= len(text) and text[low : low + size] == text[low + period : behind]

    low, step = start, _SAMPLE
    while repeats(low, step):
        low += step
        step *= 2
    while step:
        if repeats(low, step):
            low += step
        step //= 2
    return low + period


def told_again(marks: Iterable[Mark], gaps: list[Gap]) -> Iterator[Mark]:
    """Marks of the shorter text where they stand in the longer one, and in the repeats that were left out."""
    for mark in marks:
        placed = widened(mark, gaps)
        yield placed
        for gap in gaps if mark.end - mark.start < _KEPT else ():
            if gap.at - gap.period <= mark.start < gap.at:
                for times in range(1, min(gap.size // gap.period, _AGAIN) + 1):
                    shift = times * gap.period
                    yield placed._replace(start=placed.start + shift, end=placed.end + shift)


def widened(mark: Mark, gaps: list[Gap]) -> Mark:
    """A mark of the shorter text where it stands in the longer one; one that is as long as a repeat is kept
    grows by what was left out of it."""
    start = end = 0
    for gap in gaps:
        if gap.at <= mark.start:
            start += gap.size
            end += gap.size
        elif gap.at <= mark.end - _KEPT:
            end += gap.size
    return mark._replace(start=mark.start + start, end=mark.end + end)
