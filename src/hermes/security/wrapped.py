"""Sentences that are broken into lines, read as if they were not: what is said goes on behind a line end."""

from __future__ import annotations

from bisect import bisect_left

from hermes.security.expressions import compiled

# The end of a line between a word and a word.
_WRAPPED = r"\n(?<=[\w,)'\"*`]\n)(?=[ \t]{0,6}[^\W\d_])"
# So far from it stand words that go on behind it.
_AHEAD = 90


def unwrapped(text: str, places: dict[str, list[int]]) -> tuple[str, dict[str, list[int]]]:
    """The text with spaces for such ends, offsets as they were, and those of the places that are near one."""
    ends = [match.start() for match in compiled(_WRAPPED).finditer(text)]
    if not ends:
        return text, {}
    near = {}
    for trigger, starts in places.items():
        if kept := [at for at in starts if _is_near(ends, at)]:
            near[trigger] = kept
    return compiled(_WRAPPED).sub(" ", text) if near else text, near


def _is_near(ends: list[int], at: int) -> bool:
    place = bisect_left(ends, at - _AHEAD)
    return place < len(ends) and ends[place] < at + _AHEAD
