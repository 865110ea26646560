"""Sentences that are broken into lines, read as if they were not: what is said goes on behind a line end."""

from __future__ import annotations

from hermes.security.expressions import compiled

# The end of a line between a word and a word.
_WRAPPED = r"\n(?<=[\w,)'\"*`]\n)(?=[ \t]{0,6}[^\W\d_])"


def unwrapped(text: str) -> str:
    """The text with spaces for such ends; offsets stay."""
    return compiled(_WRAPPED).sub(" ", text)
