"""What goes into a turn and what comes out of it. Faces make the one and show the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Literal

from hermes.frozen import frozen
from hermes.messages import Annex, Message, ToolCall, Usage
from hermes.provenance import Notice

__all__ = [
    "AnswerRestarted",
    "Ask",
    "EphemeralOverlay",
    "Event",
    "Notice",
    "NoticeShown",
    "PromptProgress",
    "Question",
    "ReasoningShown",
    "TextShown",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "TurnEnded",
    "TurnRequest",
    "nobody",
]

Lasts = Literal["turn", "standing"]


@frozen
class EphemeralOverlay:
    """Text added at the time of a call. A `standing` one is sent again only when it changes."""

    annex: Annex
    lasts: Lasts = "turn"


@frozen
class TurnRequest:
    """What a face asks for: the person's words and what its surface adds to them."""

    text: str
    overlays: tuple[EphemeralOverlay, ...] = ()
    prefill: tuple[Message, ...] = ()
    system_message: str = ""


@frozen
class TextShown:
    """A piece of the answer."""

    text: str


@frozen
class ReasoningShown:
    """A piece of the model's reasoning."""

    text: str


@frozen
class PromptProgress:
    """The model is still reading the prompt: so many tokens of all. Only slow readers tell."""

    read: int
    total: int


@frozen
class AnswerRestarted:
    """A call failed and is made again: the text shown since the last call is void."""

    reason: str


@frozen
class ToolStarted:
    """A tool begins its work."""

    call: ToolCall


@frozen
class ToolFinished:
    """A tool has ended; `seconds` is how long it took."""

    call: ToolCall
    result: str
    error: bool
    seconds: float


@frozen
class ToolProgress:
    """A line about a tool that is at work; nothing of it reaches the model."""

    call: ToolCall
    text: str


@frozen
class NoticeShown:
    """Something a person must be told."""

    notice: Notice


@frozen
class TurnEnded:
    """The end of a turn: the final answer, what it cost, why it ended."""

    text: str
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    reason: Literal["done", "max_turns", "cancelled", "failed", "length", "refused"] = "done"


Event = (
    TextShown
    | ReasoningShown
    | PromptProgress
    | AnswerRestarted
    | ToolStarted
    | ToolFinished
    | ToolProgress
    | NoticeShown
    | TurnEnded
)


@frozen
class Question:
    """Something the running turn wants a person to decide.

    `kind` is `approval` for a call that waits for a yes, `clarify` for a question of the model's. `choices`
    are the answers on offer; a clarification takes any other text too. `detail` is what there is to look at
    first: the command, or a diff. `call` is the call that waits.
    """

    kind: Literal["approval", "clarify"]
    text: str
    choices: tuple[str, ...] = ()
    detail: str = ""
    call: ToolCall | None = None


Ask = Callable[[Question], Awaitable[str]]
"""How a face puts a question to its person: one of the choices or a text; "" when nobody answers."""


async def nobody(question: Question) -> str:  # noqa: ARG001
    """Where nobody can be asked."""
    return ""
