"""What a person can say with a slash, the same on every face. One table; handlers by subject beside it."""

from __future__ import annotations

from collections.abc import Iterable

from hermes.commands import cache, conversation, looking, memory, skills, taking_away, taking_back
from hermes.commands.records import Command, Conversation
from hermes.errors import HermesError

__all__ = ["COMMANDS", "Command", "Conversation", "answer", "words_for"]


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


def words_for(talk: Conversation, name: str) -> Iterable[tuple[str, str]]:
    """The words that a command may take as its argument, each with its meaning."""
    command = COMMANDS.get(name)
    return command.words(talk) if command and command.words else ()


async def _help(talk: Conversation, argument: str) -> str:
    names = {c.name: c for c in COMMANDS.values()}
    labels = [f"/{c.name} {c.takes}".rstrip() for c in names.values()]
    width = max(map(len, labels))
    return "\n".join(
        f"{label:<{width}}  {c.meaning}" for label, c in zip(labels, names.values(), strict=True)
    )


_TABLE = (
    Command("new", "Begin a new session.", conversation.new),
    Command("reset", "The same.", conversation.new),
    Command(
        "personality",
        "Show or change the personality of this session.",
        conversation.personality,
        "[NAME]",
        words=conversation.personality_words,
    ),
    Command(
        "tools",
        "The tools of this session; switch one on or off.",
        conversation.tools,
        "[on|off NAME]",
        anytime=True,
        words=conversation.tool_words,
    ),
    Command(
        "model",
        "Show or change the model; its price is told first.",
        conversation.model,
        "[NAME [now|later]]",
    ),
    Command(
        "prompt",
        "What the frozen prompt is made of; its text; who put TEXT there.",
        looking.prompt,
        "[full|TEXT]",
        anytime=True,
        words=looking.prompt_words,
    ),
    Command("context", "What fills the context window.", looking.context, anytime=True),
    Command(
        "usage", "What this session has cost, and how much of it was cached.", looking.usage, anytime=True
    ),
    Command(
        "cache",
        "What came from the prompt cache, and why not more.",
        cache.cache,
        "[CALL|pending]",
        anytime=True,
    ),
    Command(
        "refresh", "Build the prompt anew; the price is told first.", conversation.refresh, "[now|later]"
    ),
    Command("compress", "Summarise the conversation so far.", conversation.compress, "[FOCUS]"),
    Command("undo", "Take back the last turn.", taking_back.undo),
    Command("retry", "Take back the last turn and say the same again.", taking_back.retry),
    Command("copy", "Copy the last answer, or its Nth code block.", taking_away.copy, "[N]", anytime=True),
    Command(
        "export", "Write the conversation as Markdown or JSON.", taking_away.export, "[FILE]", anytime=True
    ),
    Command(
        "memory",
        "What is remembered; add or remove an entry, undo.",
        memory.memory,
        "[add|remove|undo …]",
        anytime=True,
    ),
    Command(
        "skills",
        "The skills; follow one, show one, switch one on or off.",
        skills.skills,
        "[use|show|on|off NAME]",
        words=skills.skill_words,
    ),
    Command("sessions", "The last sessions.", conversation.sessions, anytime=True),
    Command("resume", "Go on with another session.", conversation.resume, "[ID]"),
    Command("help", "This list.", _help, anytime=True),
    Command("quit", "Leave.", conversation.leave),
)
COMMANDS = {command.name: command for command in _TABLE}
