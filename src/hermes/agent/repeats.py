"""Notices that a model makes the same call again and again, to no avail."""

from __future__ import annotations

from hermes.messages import Message, ToolCall

_FAILED = object()
"""What comes of a call that fails, whatever its words."""


class Repeats:
    """The calls of one turn, each by its name and arguments, with what came of it last and how often."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[object, int]] = {}

    def times(self, call: ToolCall, result: Message, *, changes: bool) -> int:
        """How often in a row the same has come of a call, this time included.

        `changes`: it is a call that may change something outside. When it succeeds, something else may come
        of all others than before, and they count anew.
        """
        key = call.name, call.arguments
        outcome = _FAILED if result.error else result.text
        before, times = self._known.get(key, (None, 0))
        times = times + 1 if outcome == before else 1
        if changes and not result.error:
            self._known.clear()
        self._known[key] = outcome, times
        return times
