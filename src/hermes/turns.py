"""What goes into a turn and what comes out of it. Faces make the one and show the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hermes.messages import Annex, Message, ToolCall, Usage
from hermes.provenance import Notice

__all__ = [
    "AnswerRestarted",
    "EphemeralOverlay",
    "Event",
    "Notice",
    "NoticeShown",
    "ReasoningShown",
    "TextShown",
    "ToolFinished",
    "ToolStarted",
    "TurnEnded",
    "TurnRequest",
]

Lasts = Literal["turn", "standing"]


@dataclass(frozen=True, slots=True)
class EphemeralOverlay:
    """Text added at the time of a call. A `standing` one is sent again only when it changes."""

    annex: Annex
    lasts: Lasts = "turn"


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a face asks for: the person's words and what its surface adds to them."""

    text: str
    overlays: tuple[EphemeralOverlay, ...] = ()
    prefill: tuple[Message, ...] = ()
    system_message: str = ""


@dataclass(frozen=True, slots=True)
class TextShown:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningShown:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerRestarted:
    """A call failed and is made again: the text shown since the last call is void."""

    reason: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool begins its work."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool has ended; `seconds` is how long it took."""

    call: ToolCall
    result: str
    error: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class NoticeShown:
    """Something a person must be told."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The end of a turn: the final answer, what it cost, why it ended."""

    text: str
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    reason: Literal["done", "max_turns", "cancelled", "failed", "length", "refused"] = "done"


Event = TextShown | ReasoningShown | AnswerRestarted | ToolStarted | ToolFinished | NoticeShown | TurnEnded
