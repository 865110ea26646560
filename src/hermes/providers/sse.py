"""Server-sent events, read from whatever pieces the network gives."""

from __future__ import annotations

from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event; `name` is "" when the server gave none."""

    name: str
    data: str


class EventParser:
    """Turns bytes into events. A piece may end anywhere, in the middle of a line end or of a character.

    Comments and fields other than `event` and `data` are passed over; an event without data is none; one
    that the end of the stream cuts off is dropped, as the standard has it.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._name = ""
        self._data: list[str] = []
        self._begun = self._after_return = False

    def feed(self, piece: bytes) -> list[Event]:
        """The events that a piece completes."""
        if self._after_return and piece:
            piece = piece.removeprefix(b"\n")  # the other half of a line end
            self._after_return = False
        if b"\n" not in piece and b"\r" not in piece:
            self._pieces.append(piece)
            return []
        self._after_return = piece.endswith(b"\r")
        text = b"".join((*self._pieces, piece))
        *lines, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._pieces = [rest]
        if not self._begun and lines:
            self._begun = True
            lines[0] = lines[0].removeprefix(_BOM)
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            event = Event(self._name, "\n".join(self._data)) if self._data else None
            self._name, self._data = "", []
            return event
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
        elif field == b"event":
            self._name = value.removeprefix(b" ").decode("utf-8", "replace")
        return None
