"""Leaves out the middle of what repeats itself, so that a text pumped full of one phrase costs little.

Whole repeats are left out, so that the text around the gap reads as it did: what a rule finds in the shorter
text stands in the longer one too, and every repeat of it says the same.
"""

from __future__ import annotations

from typing import NamedTuple

from hermes.security.findings import Mark

# So much is kept at each end of what repeats: more than any rule reads at once.
_KEPT = 1_000
# Every so many letters is looked whether the next ones come again, no further on than `_PERIOD`.
_STEP, _SAMPLE, _PERIOD = 2_000, 48, 2_000


class Gap(NamedTuple):
    """Where something is left out of a text, as an offset in what is left, and how many letters."""

    at: int
    size: int


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
            gaps.append(Gap(kept, size))
        at = max(end - _SAMPLE, at + _STEP)
    return "".join([*pieces, text[done:]]) if gaps else text, gaps


def _end(text: str, start: int, period: int) -> int:
    """How far the text from `start` repeats with the period."""
    low, step = start, _SAMPLE
    while text[low : low + step] == text[low + period : low + period + step] and low + period + step <= len(
        text
    ):
        low += step
        step *= 2
    while step:
        if (
            low + period + step <= len(text)
            and text[low : low + step] == text[low + period : low + period + step]
        ):
            low += step
        step //= 2
    return low + period


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
