"""What a person can say with a slash, the same on every face. One table; handlers by subject beside it."""

from __future__ import annotations

from hermes.commands import cache, conversation
from hermes.commands.records import Command, Conversation
from hermes.errors import HermesError

__all__ = ["COMMANDS", "Command", "Conversation", "answer"]


async def answer(talk: Conversation, line: str) -> str:
    """What a line that begins with a slash is answered with; an error is an answer too."""
    name, _, argument = line.strip().removeprefix("/").partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), COMMANDS, 1)
        hint = f" Did you mean /{near[0]}?" if near else " /help lists them."
        return f"There is no command /{name}.{hint}"
    try:
        return await command.answer(talk, argument.strip())
    except HermesError as error:
        return str(error)


async def _help(talk: Conversation, argument: str) -> str:
    names = {c.name: c for c in COMMANDS.values()}
    return "\n".join(f"/{c.name + ' ' + c.takes:<22} {c.meaning}" for c in names.values())


_TABLE = (
    Command("new", "Begin a new session.", conversation.new),
    Command("reset", "The same.", conversation.new),
    Command(
        "personality", "Show or change the personality of this session.", conversation.personality, "[NAME]"
    ),
    Command("tools", "The tools of this session; switch one on or off.", conversation.tools, "[on|off NAME]"),
    Command("model", "Show or change the model.", conversation.model, "[NAME]"),
    Command("prompt", "The frozen prompt of this session.", conversation.prompt),
    Command("usage", "What this session has cost, and how much of it was cached.", conversation.usage),
    Command("cache", "What came from the prompt cache, and why not more.", cache.cache, "[CALL]"),
    Command("refresh", "Build the prompt anew; the price is told first.", conversation.refresh, "[yes]"),
    Command("compress", "Summarise the conversation so far.", conversation.compress, "[FOCUS]"),
    Command("sessions", "The last sessions.", conversation.sessions),
    Command("resume", "Go on with another session.", conversation.resume, "ID"),
    Command("help", "This list.", _help),
    Command("quit", "Leave.", conversation.leave),
)
COMMANDS = {command.name: command for command in _TABLE}
