"""A text that comes in pieces, between two of which a character may be torn."""

from __future__ import annotations

from hermes.text import paired


class Halves:
    """Puts the halves of a surrogate pair together, in whichever pieces they come; a lone one is U+FFFD.

    A server that cuts its text by the count of UTF-16 units sends such pieces. What cannot be encoded could
    neither be shown nor stored.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._held = ""

    def add(self, piece: str) -> str:
        """What is whole now, to be shown; a first half waits for the next piece."""
        if not self._held and piece.isascii():
            self._text.append(piece)
            return piece
        piece = self._held + piece
        self._held = piece[-1] if "\ud800" <= piece[-1:] <= "\udbff" else ""
        whole = paired(piece.removesuffix(self._held))
        self._text.append(whole)
        return whole

    def __str__(self) -> str:
        """The whole text."""
        return "".join(self._text) + paired(self._held)
