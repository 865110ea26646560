"""A stored session as it is played again: its calls, and what was said beside the prompt in the meantime."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from hermes.frozen import frozen
from hermes.messages import Annex
from hermes.prompt import SystemPrompt
from hermes.sessions.contract import Store
from hermes.wire.layout import Layout
from hermes.wire.ledger import read_calls
from hermes.wire.prediction import measure_for
from hermes.wire.request import Wire
from hermes.wire.review import ProfileFor

REWRITTEN = frozenset(
    (
        "personality",
        "ephemeral",
        "identity changed",
        "memory changed",
        "skills changed",
        "context changed",
        "model changed",
        "surface changed",
        "system message changed",
    )
)
"""What is said at the tail here and stands in the system text elsewhere."""


@frozen
class Past:
    """The calls of a session. `said` holds for a call what was newly said at the tail, `prompts` the prompt
    of each call; `lost` calls are left out, since what they sent is kept no longer.
    """

    session: str
    calls: tuple[Wire, ...]
    said: dict[int, tuple[Annex, ...]] = field(default_factory=dict)
    prompts: dict[int, SystemPrompt] = field(default_factory=dict)
    lost: int = 0


async def read_past(store: Store, session_id: str) -> Past:
    """A stored session. StoreError when it cannot be had."""
    messages = {m.seq: m.message for m in await store.messages(session_id)}
    said: dict[int, tuple[Annex, ...]] = {}
    prompts: dict[int, SystemPrompt] = {}
    made: dict[str, SystemPrompt] = {}
    wires, lost, heard, named = [], 0, 0, ""
    for wire, call in await read_calls(store, session_id):
        named = call.prompt or named
        if wire.gone:
            lost += 1
            continue
        if named and named not in made:
            made[named] = SystemPrompt.from_json((await store.blob(session_id, named)).decode())
        if named:
            prompts[wire.n] = made[named]
        if not wire.aside:
            new = [messages[seq] for seq in range(heard, call.messages) if seq in messages]
            said[wire.n] = tuple(a for m in new for a in m.annex if a.kind in REWRITTEN)
            heard = call.messages
        if not is_ping(wire):
            wires.append(wire)
    return Past(session_id, tuple(wires), said, prompts, lost)


def is_ping(wire: Wire) -> bool:
    """Whether a call was made only to keep the cache warm."""
    most = wire.settings.get("max_tokens", wire.settings.get("max_completion_tokens"))
    return wire.aside and most in (0, 1)


def factor_of(calls: Iterable[Wire], profile_for: ProfileFor) -> float:
    """By how much the provider counts more than our estimate does, in the longest of these calls."""
    longest = max((w for w in calls if w.usage.input), key=lambda w: w.usage.input, default=None)
    if longest is None:
        return 1.0
    layout = Layout(measure_for(profile_for(longest.model, longest.provider)))
    layout.take(longest)
    weight = layout.measured(len(layout) - 1) if len(layout) else 0.0
    return longest.usage.input / weight if weight else 1.0
