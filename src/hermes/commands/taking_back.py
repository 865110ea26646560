"""`/undo` and `/retry`: the last turn taken back. Nothing that was said is lost, and what it cost is told."""

from __future__ import annotations

from hermes.commands.money import profiles
from hermes.commands.records import Conversation
from hermes.messages import Message
from hermes.wire.economics import bill, dollars

_NONE = "There is no turn to take back."


async def undo(conversation: Conversation, argument: str) -> str:
    taken = await _taken(conversation)
    if not taken:
        return _NONE
    return f'Taken back: "{_brief(taken[0].text)}" and all that followed. {await _price(conversation, taken)}'


async def retry(conversation: Conversation, argument: str) -> str:
    taken = await _taken(conversation)
    if not taken:
        return _NONE
    conversation.say_next = taken[0].text
    return f"Once more. {await _price(conversation, taken)}"


async def _taken(conversation: Conversation) -> tuple[Message, ...]:
    return await conversation.agent.undo() if await conversation.agent.look() else ()


async def _price(conversation: Conversation, taken: tuple[Message, ...]) -> str:
    """What the turn has cost, and what it means for the next call."""
    agent, places = conversation.agent, {int(message.id[1:]) for message in taken}
    # A call is noted when its answer has its place, which is the last then.
    calls = [c for c in await agent.store.calls(agent.session_id) if c.messages - 1 in places]
    spent = bill(calls, profiles(agent))
    tokens = spent.usage.input + spent.usage.output
    money = f" ({dollars(spent.spent)})" if spent.spent is not None else ""
    return (
        f"Its {tokens:,} tokens{money} stay paid and on record; what stays of the conversation is sent in "
        "the same bytes as before, so that it is still cached."
    )


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"
