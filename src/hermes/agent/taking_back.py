"""Taking back the last turn: an epoch ends, nothing is lost, and what stays is the same bytes."""

from __future__ import annotations

from hermes.agent.compaction.carrying import still_standing
from hermes.agent.session import Session
from hermes.messages import Message

REASON = "a turn was taken back"
_TAKEN_BACK = "taken back"
"""Stands for a digest: what was said last of a standing kind is gone, so it is to be said anew."""


async def take_back(session: Session) -> tuple[Message, ...]:
    """Begin an epoch without the last turn; its messages, none when there is none."""
    at = last_turn(session)
    if at < 0:
        return ()
    kept, gone = session.visible[:at], tuple(session.visible[at:])
    said = {annex.kind for message in gone for annex in message.annex}
    standing = still_standing(session.standing, kept, ())
    session.new_epoch(REASON, session.prompt, kept)
    session.stand({kind: _TAKEN_BACK if kind in said else digest for kind, digest in standing.items()})
    await session.save()
    return gone


def last_turn(session: Session) -> int:
    """Where the last turn begins among the visible messages; -1 where none does.

    What was said while the agent worked stands behind a result and begins none; nor does a summary, which
    has no words of the person's.
    """
    for at in range(len(session.visible) - 1, -1, -1):
        message = session.visible[at]
        if message.role == "user" and message.text and (at == 0 or session.visible[at - 1].role != "tool"):
            return at
    return -1
