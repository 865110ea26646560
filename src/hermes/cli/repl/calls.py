"""Tool calls on the screen: one line each, a little of what came out, all of it on demand."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size

from hermes.cli.repl.draw import Pen, looks_like_diff
from hermes.cli.screen import plain
from hermes.messages import ToolCall
from hermes.text import many
from hermes.turns import ToolFinished

SHOWN = 3
"""Lines of a result that are shown at once; of a diff there are more."""
SHOWN_OF_DIFF = 24


@dataclass(slots=True)
class Calls:
    """The calls of this conversation: those that run, with when they began, and the results by number.

    `seen` is what was shown of a call before it ran, by its id; it is not shown again.
    """

    running: dict[str, tuple[ToolCall, float]] = field(default_factory=dict)
    finished: list[ToolFinished] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)

    def begin(self, call: ToolCall) -> None:
        self.running[call.id] = call, time.monotonic()

    def end(self, event: ToolFinished, pen: Pen) -> list[str]:
        """Note a result; the lines for it."""
        self.running.pop(event.call.id, None)
        self.finished.append(event)
        mark = ("✗ ", "bold red") if event.error else ("● ", "green")
        head = _headed(mark, event.call, f"{event.seconds:.1f} s", pen)
        return [*head, *self._some(event, pen)]

    def lines(self, pen: Pen) -> list[str]:
        """A line for each call that runs."""
        now = time.monotonic()
        return [
            line
            for call, began in self.running.values()
            for line in _headed(("○ ", "yellow"), call, f"{now - began:.0f} s", pen)
        ]

    def expanded(self, argument: str, pen: Pen) -> list[str]:
        """The whole result of a call: the last one, or that of a number from 1."""
        if not self.finished:
            return ["No tool has run yet."]
        if argument and not (argument.isdigit() and 0 < int(argument) <= len(self.finished)):
            return [f"Say /expand N with a number from 1 to {len(self.finished)}."]
        number = int(argument) if argument else len(self.finished)
        event = self.finished[number - 1]
        head = pen.styled([(f"{number}. ", "dim"), (event.call.name, "bold")])
        arguments = pen.text(_whole(event.call), "dim", "  ")
        return [*head, *arguments, *_drawn(event.result, pen)]

    def _some(self, event: ToolFinished, pen: Pen) -> list[str]:
        seen = self.seen.pop(event.call.id, "").strip()
        result = (event.result.replace(seen, "") if seen else event.result).rstrip()
        lines = _drawn(result, pen) if result else []
        most = SHOWN_OF_DIFF if looks_like_diff(result) else SHOWN
        if len(lines) <= most + 1:
            return lines
        more = f"  … {many(len(lines) - most, 'more line')} (Ctrl-O, or /expand {len(self.finished)})"
        return [*lines[:most], *pen.styled([(more, "dim")])]


def _headed(mark: tuple[str, str], call: ToolCall, seconds: str, pen: Pen) -> list[str]:
    """The line of a call: its arguments give way before its time does."""
    room = max(pen.width - cell_len(f"{mark[0]}{plain(call.name)}   {seconds}"), 0)
    shown = set_cell_size(plain(brief(call)), room) if cell_len(plain(brief(call))) > room else brief(call)
    return pen.styled([mark, (call.name, "bold"), (f" {shown}", ""), (f"  {seconds}", "dim")])


def _drawn(result: str, pen: Pen) -> list[str]:
    return pen.diff(result, "  ") if looks_like_diff(result) else pen.text(result, "dim", "  ")


def brief(call: ToolCall) -> str:
    """The arguments in a few words: their values, the first ones first."""
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError:
        given = call.arguments
    values = given.values() if isinstance(given, dict) else [given]
    return " ".join(" ".join(str(v).split())[:120] for v in values)[:200]


def _whole(call: ToolCall) -> str:
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError:
        return call.arguments
    if not isinstance(given, dict):
        return call.arguments
    return "\n".join(f"{name}: {value}" for name, value in given.items())
