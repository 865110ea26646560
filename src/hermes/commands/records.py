"""What a command is, and the conversation it is said in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from hermes.frozen import frozen
from hermes.run_agent import AIAgent

Answer = Callable[["Conversation", str], Awaitable[str]]


Words = Callable[["Conversation"], Iterable[tuple[str, str]]]
"""The words that a command may take as its argument, each with its meaning."""


@dataclass(slots=True)
class Conversation:
    """A face's side of a conversation with an agent.

    `copy` puts a text into the person's clipboard, where a face can do that. `say_next` is what a command
    wants to be said for the person; the face takes it and says it.
    """

    agent: AIAgent
    ended: bool = False
    copy: Callable[[str], object] | None = None
    say_next: str = ""

    def take_said(self) -> str:
        """What is to be said now; it is given once."""
        said, self.say_next = self.say_next, ""
        return said


@frozen
class Command:
    """One command. `takes` names its argument for the help, "" for none.

    `anytime`: it only looks, so that it may be said while a turn runs.
    """

    name: str
    meaning: str
    answer: Answer
    takes: str = ""
    anytime: bool = False
    words: Words | None = None
