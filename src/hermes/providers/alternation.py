"""Who may speak after whom, where an endpoint insists on it.

Everything here only appends: what was sent is never merged into. Two messages become one only while both
are unsent; where the turn was already sent, a short stand-in of the other side goes between.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hermes.messages import Message

# Part of the wire format: a change needs a new version of every codec, so they do not stand in a text file.
NOTHING_SAID = Message("user", "(no message)")
NOT_ANSWERED = Message("assistant", "(no answer)")


def opened_by_user(messages: Iterable[Message], after: str) -> tuple[Message, ...]:
    """The messages, with a stand-in before a conversation that the assistant opens."""
    given = tuple(messages)
    if not after and given and given[0].role == "assistant":
        return (NOTHING_SAID, *given)
    return given


def alternating(messages: Iterable[Message], after: str) -> tuple[Message, ...]:
    """The messages as a strict chat template takes them: no late system message, user and assistant in turn.

    Tool results follow the assistant that asked for them, and an assistant follows them.
    """
    said: list[Message] = []
    for message in messages:
        before = said[-1].role if said else after.replace("system", "user")
        if message.role == "assistant":
            if before not in ("user", "tool"):
                said.append(NOTHING_SAID)
            said.append(message)
        elif message.role == "tool":
            said.append(message)
        elif said and before == "user":
            said[-1] = Message("user", "\n\n".join(t for t in (said[-1].sent, message.sent) if t))
        else:
            if before in ("user", "tool"):
                said.append(NOT_ANSWERED)
            said.append(replace(message, role="user"))
    return tuple(said)
