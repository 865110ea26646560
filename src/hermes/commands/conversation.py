"""Commands about the conversation itself."""

from __future__ import annotations

from hermes.agent.personality import personalities
from hermes.commands.guarded import late_tools, renew_prompt, summary_waits, switch_model, told_at_the_tail
from hermes.commands.records import Conversation
from hermes.errors import UsageError
from hermes.text import many
from hermes.tool_names import TOOLSETS
from hermes.turns import NoticeShown, Question


async def new(conversation: Conversation, argument: str) -> str:
    conversation.agent.reset()
    return "A new session begins with your next message."


async def personality(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    if argument:
        agent.set_personality(argument)
        told = f"Personality: {agent.personality or 'none'}, for this session, from your next message on."
        return told + told_at_the_tail(agent)
    known, _ = personalities(agent.sources.config.agent.personalities)
    lines = [f"{'*' if p.name == agent.personality else ' '} {p.name:<12} {p.description}" for p in known]
    return "\n".join([*lines, f"{' ' if agent.personality else '*'} none"])


def personality_words(conversation: Conversation) -> list[tuple[str, str]]:
    known, _ = personalities(conversation.agent.sources.config.agent.personalities)
    return [*((p.name, p.description) for p in known), ("none", "as SOUL.md has it")]


def tool_words(conversation: Conversation) -> list[tuple[str, str]]:
    return [("on", "switch one on"), ("off", "switch one off")]


async def tools(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    if argument:
        switch, _, name = argument.partition(" ")
        if switch not in ("on", "off") or not name.strip():
            raise UsageError("Say /tools on NAME or /tools off NAME; /tools alone lists them.")
        return agent.switch_tool(name.strip(), on=switch == "on") + await late_tools(agent)
    lines = [
        f"{'off' if name in agent.off else 'on':<4}{name:<16} {tool.spec.description.partition('.')[0]}"
        for name, tool in agent.tools.items()
    ]
    sets = {name: sorted(agent.tools.keys() & set(members)) for name, members in TOOLSETS.items()}
    lines += [f"toolset {name:<12} {', '.join(there)}" for name, there in sets.items() if there]
    return "\n".join(lines) or "There are no tools."


async def model(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    if argument:
        return await switch_model(agent, argument)
    profile = agent.model.profile
    return f"Model: {profile.name}" + (f" at {profile.provider}" if profile.provider else "")


async def refresh(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    if agent.session is None:
        return "The session has not begun; it will get a new prompt anyway."
    return await renew_prompt(agent, argument)


async def compress(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    waits, focus = await summary_waits(agent, argument)
    if waits:
        return waits
    told = [e.notice.text async for e in agent.compact(focus) if isinstance(e, NoticeShown)]
    return "\n".join(told) or "There was nothing to summarise."


async def sessions(conversation: Conversation, argument: str) -> str:
    found = await conversation.agent.store.list(limit=10)
    lines = [f"{s.id}  {s.updated[:16]}  {many(s.messages, 'message'):>13}  {s.title}" for s in found]
    return "\n".join(lines) or "There are no sessions yet."


async def resume(conversation: Conversation, argument: str) -> str:
    agent = conversation.agent
    name = argument or await _picked(conversation)
    if not name:
        raise UsageError("Say which: /resume ID. /sessions lists them.")
    session_id = await agent.store.resolve(name)
    agent.reset()
    agent.session_id = session_id
    return f"Going on with session {session_id}."


async def _picked(conversation: Conversation) -> str:
    """The session that the person picks from the last ones; "" where nobody can be asked."""
    agent = conversation.agent
    found = [s for s in await agent.store.list(limit=10) if s.id != agent.session_id]
    named = {f"{s.updated[:16].replace('T', ' ')}  {s.title or s.id}": s.id for s in found}
    if not named:
        raise UsageError("There is no other session yet.")
    said = await agent.ask(Question("clarify", "Which session do you want to go on with?", tuple(named)))
    return named.get(said, said)


async def leave(conversation: Conversation, argument: str) -> str:
    conversation.ended = True
    return "Bye."
