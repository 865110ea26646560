"""How much may be tried in a text: a bound that grows with it, far above what honest files ask for."""

from __future__ import annotations

# What a text may cost at all, and for each letter. The unit is about a microsecond.
_AT_LEAST, _A_LETTER = 14_000, 0.3


class TooDense(Exception):
    """A text holds so many places that look like orders that not all of them are tried."""


class Effort:
    """What is left to be spent on one text and on all that is hidden or disguised in it."""

    def __init__(self, length: int) -> None:
        self.left = _AT_LEAST + int(length * _A_LETTER)

    def spend(self, amount: int) -> None:
        """Take so much; raises `TooDense` when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise TooDense
