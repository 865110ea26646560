"""What rides on the results of tools: of folders a call entered, of calls to no avail, of what runs out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from hermes.agent.overlays import PRESSURE
from hermes.agent.repeats import Repeats
from hermes.agent.session import Session
from hermes.agent.subdirectory_hints import Conversation, Hinted
from hermes.bulkhead import behind_bulkhead
from hermes.messages import Annex, Message, ToolCall
from hermes.prompts import prompt_text
from hermes.provenance import Notice
from hermes.text import many
from hermes.tooling import Tool, ToolContext, ToolError

Hints = Callable[[Conversation, ToolCall, Message], Hinted]
"""What is to be said of the places a call went to: to the model with its result, and to the person."""


def no_hints(conversation: Conversation, call: ToolCall, result: Message) -> Hinted:  # noqa: ARG001
    return Hinted()


@dataclass(slots=True)
class ResultNotes:
    """The notes of one turn. After `patience` equal outcomes the model is told, after twice as many failures
    of one call it is `hopeless` to go on. `told` is for the person; whoever shows it empties it.
    """

    session: Session
    context: ToolContext
    hints: Hints
    patience: int
    told: list[Notice] = field(default_factory=list)
    hopeless: bool = False
    _repeats: Repeats = field(default_factory=Repeats)

    def of(self, call: ToolCall, result: Message, tool: Tool | None) -> list[Annex]:
        """What is to be said of one call of a tool, which may be None, with its result."""
        return [*self._of_places(call, result, tool), *self._of_repeats(call, result, tool)]

    def of_window(self, window: int | None, most: float) -> list[Annex]:
        """A word, once, when more than this part of the context window is used."""
        if not window or PRESSURE in self.session.standing:
            return []
        percent = 100 * self.session.last_input // window
        if percent < 100 * most:
            return []
        self.session.stand({**self.session.standing, PRESSURE: str(percent)})
        return [Annex("pressure", prompt_text("notes/pressure").format(percent=percent))]

    def _of_places(self, call: ToolCall, result: Message, tool: Tool | None) -> tuple[Annex, ...]:
        seen = Conversation(self.session.prompt, self.session.visible, lambda: self._stands(call, tool))
        hinted, failed = behind_bulkhead("the hints", lambda: self.hints(seen, call, result), Hinted())
        self.told += (*hinted.notices, *failed)
        return hinted.annexes

    def _of_repeats(self, call: ToolCall, result: Message, tool: Tool | None) -> list[Annex]:
        times = self._repeats.times(call, result, changes=tool is not None and tool.effects)
        if result.error and times == 2 * self.patience:
            self.hopeless = True
            same = f"{call.name} failed {many(times, 'time')} in a row with the same arguments"
            text = f"{same}; the model is asked to finish"
            self.told.append(Notice("warning", text))
        if times < self.patience or not (result.error or times % self.patience == 0):
            return []
        note = "repeated" if result.error else "same_result"
        return [Annex("repeated failure", prompt_text(f"notes/{note}").format(times=times))]

    def _stands(self, call: ToolCall, tool: Tool | None) -> str:
        """The directory in which a call has left its shell; "" when it has none."""
        if tool is None or tool.plan is None:
            return ""
        with suppress(ToolError):
            return tool.plan(self.context, **tool.read(call.arguments)).cwd
        return ""
