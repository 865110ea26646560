"""What a command is, and the conversation it is said in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from hermes.run_agent import AIAgent

Answer = Callable[["Conversation", str], Awaitable[str]]


@dataclass(slots=True)
class Conversation:
    """A face's side of a conversation with an agent."""

    agent: AIAgent
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `takes` names its argument for the help, "" for none."""

    name: str
    meaning: str
    answer: Answer
    takes: str = ""
