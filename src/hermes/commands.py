"""What a person can say with a slash, the same on every face."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from hermes.agent.personality import personalities
from hermes.errors import HermesError, UsageError
from hermes.providers.connect import connect
from hermes.run_agent import AIAgent
from hermes.turns import NoticeShown

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


async def answer(conversation: Conversation, line: str) -> str:
    """What a line that begins with a slash is answered with; an error is an answer too."""
    name, _, argument = line.strip().removeprefix("/").partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        from difflib import get_close_matches

        near = get_close_matches(name.lower(), COMMANDS, 1)
        hint = f" Did you mean /{near[0]}?" if near else " /help lists them."
        return f"There is no command /{name}.{hint}"
    try:
        return await command.answer(conversation, argument.strip())
    except HermesError as error:
        return str(error)


async def _new(conversation: Conversation, argument: str) -> str:
    conversation.agent.reset()
    return "A new session begins with your next message."


async def _personality(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    if argument:
        agent.set_personality(argument)
        return f"Personality: {agent.personality or 'none'}, for this session, from your next message on."
    known, _ = personalities(agent.sources.config.agent.personalities)
    lines = [f"{'*' if p.name == agent.personality else ' '} {p.name:<12} {p.description}" for p in known]
    return "\n".join([*lines, f"{' ' if agent.personality else '*'} none"])


async def _tools(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    if argument:
        switch, _, name = argument.partition(" ")
        if switch not in ("on", "off") or not name.strip():
            raise UsageError("Say /tools on NAME or /tools off NAME; /tools alone lists them.")
        return agent.switch_tool(name.strip(), on=switch == "on")
    lines = [
        f"{'off' if name in agent.off else 'on':<4}{name:<16} {tool.spec.description.partition('.')[0]}"
        for name, tool in agent.tools.items()
    ]
    return "\n".join(lines) or "There are no tools."


async def _model(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    if argument:
        agent.set_model(connect(argument, agent.sources.config))
    profile = agent.model.profile
    return f"Model: {profile.name}" + (f" at {profile.provider}" if profile.provider else "")


async def _prompt(conversation: Conversation, argument: str) -> str:
    session = conversation.agent.session
    if session is None:
        raise UsageError("The session has not begun; hermes prompt show tells what it would get.")
    return session.prompt.text


async def _usage(conversation: Conversation, argument: str) -> str:
    session = conversation.agent.session
    if session is None:
        return "Nothing has been asked yet."
    u = session.usage
    share = 100 * u.cache_read // u.input if u.input else 0
    return (
        f"{session.calls} calls, {u.input:,} tokens in ({u.cache_read:,} from the cache, {share} %; "
        f"{u.cache_write:,} written to it), {u.output:,} out"
    )


async def _refresh(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    if agent.session is None:
        return "The session has not begun; it will get a new prompt anyway."
    tokens = agent.session.last_input
    if argument != "yes":
        return (
            f"A new prompt makes the provider read about {tokens:,} tokens again that are cached now. "
            "What has changed is told to the model without that. To do it all the same: /refresh yes"
        )
    await agent.refresh()
    return "The prompt was built anew; the conversation goes on behind it."


async def _compress(conversation: Conversation, argument: str) -> str:
    told = [e.notice.text async for e in conversation.agent.compact(argument) if isinstance(e, NoticeShown)]
    return "\n".join(told) or "There was nothing to summarise."


async def _sessions(conversation: Conversation, argument: str) -> str:
    found = await conversation.agent.store.list(limit=10)
    lines = [f"{s.id}  {s.updated[:16]}  {s.messages:>4} messages  {s.title}" for s in found]
    return "\n".join(lines) or "There are no sessions yet."


async def _resume(conversation: Conversation, argument: str) -> str:
    if not argument:
        raise UsageError("Say which: /resume ID. /sessions lists them.")
    session_id = await conversation.agent.store.resolve(argument)
    conversation.agent.reset()
    conversation.agent.session_id = session_id
    return f"Going on with session {session_id}."


async def _help(conversation: Conversation, argument: str) -> str:
    names = {c.name: c for c in COMMANDS.values()}
    return "\n".join(f"/{c.name + ' ' + c.takes:<22} {c.meaning}" for c in names.values())


async def _quit(conversation: Conversation, argument: str) -> str:
    conversation.ended = True
    return "Bye."


_TABLE = (
    Command("new", "Begin a new session.", _new),
    Command("reset", "The same.", _new),
    Command("personality", "Show or change the personality of this session.", _personality, "[NAME]"),
    Command("tools", "The tools of this session; switch one on or off.", _tools, "[on|off NAME]"),
    Command("model", "Show or change the model.", _model, "[NAME]"),
    Command("prompt", "The frozen prompt of this session.", _prompt),
    Command("usage", "What this session has cost, and how much of it was cached.", _usage),
    Command("refresh", "Build the prompt anew; the price is told first.", _refresh, "[yes]"),
    Command("compress", "Summarise the conversation so far.", _compress, "[FOCUS]"),
    Command("sessions", "The last sessions.", _sessions),
    Command("resume", "Go on with another session.", _resume, "ID"),
    Command("help", "This list.", _help),
    Command("quit", "Leave.", _quit),
)
COMMANDS = {command.name: command for command in _TABLE}
