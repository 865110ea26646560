"""How much may be tried in a text: a bound that grows with it, far above what honest files ask for."""

from __future__ import annotations

# What may be spent on any text, and on each letter of a long one. The unit is about a microsecond: a text of
# 64 kB that asks for more is read for 40 to 50 ms. Honest texts seldom ask for a third of it.
_ANY_TEXT, _A_LETTER = 44_000, 0.66


class TooDense(Exception):
    """A text holds so many places that look like orders that not all of them are tried."""


class Effort:
    """What is left to be spent on one text and on all that is hidden or disguised in it."""

    def __init__(self, length: int) -> None:
        self.left = max(_ANY_TEXT, int(length * _A_LETTER))

    def spend(self, amount: int) -> None:
        """Take so much; raises `TooDense` when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise TooDense
