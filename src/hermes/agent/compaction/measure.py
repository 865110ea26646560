"""How many tokens a conversation takes: what the provider counted, and an estimate of what is new."""

from __future__ import annotations

from collections.abc import Iterable

from hermes.agent.session import Session
from hermes.contracts import ModelProfile
from hermes.messages import Message
from hermes.providers.tokens import estimate_tokens

_FRAME = 8  # what a provider's message frame costs, about


def size_of(messages: Iterable[Message], profile: ModelProfile) -> int:
    """The messages as the model sees them, in tokens, estimated."""
    return sum(_FRAME + estimate_tokens(_seen(message), profile) for message in messages)


def used(session: Session, profile: ModelProfile) -> int:
    """What the next request would take, in tokens."""
    heard = session.answered[0]
    if not heard:
        return fixed(session, profile) + size_of(session.visible, profile)
    return session.last_input + size_of(session.visible[heard + 1 :], profile)


def fixed(session: Session, profile: ModelProfile) -> int:
    """What stands before the messages: the prompt and the tools, in tokens, estimated."""
    tools = "".join(t.name + t.description + t.parameters for t in session.tools)
    return estimate_tokens(session.prompt.text + tools, profile)


def _seen(message: Message) -> str:
    return message.sent + "".join(call.name + call.arguments for call in message.tool_calls)
