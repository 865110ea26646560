"""A stored session as it is played again: its calls, and what was said beside the prompt in the meantime."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hermes.contracts import ModelProfile
from hermes.messages import Annex
from hermes.prompt import SystemPrompt
from hermes.sessions.contract import Store
from hermes.wire.blocks import Block
from hermes.wire.layout import Layout, Measure
from hermes.wire.ledger import read_calls
from hermes.wire.prediction import measure_for
from hermes.wire.request import Wire
from hermes.wire.review import ProfileFor

REWRITTEN = frozenset(
    (
        "personality",
        "ephemeral",
        "memory changed",
        "skills changed",
        "context changed",
        "surface changed",
        "system message changed",
    )
)
"""What is said at the tail here and stands in the system text elsewhere."""


@dataclass(frozen=True, slots=True)
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


def learned_measure(calls: Iterable[Wire], profile_for: ProfileFor) -> tuple[Measure, float]:
    """Tokens of blocks, estimated, and corrected by what the provider counted in these calls; and the factor
    by which it counts more than the estimate says.

    The blocks that a call brought share what it was counted longer than the one before.
    """
    known: dict[bytes, float] = {}
    layouts: dict[tuple[str, str], tuple[Layout, list[Block], list[float]]] = {}
    scale = 1.0
    plain: dict[str, Measure] = {}

    def estimate(block: Block, profile: ModelProfile) -> float:
        if profile.name not in plain:
            plain[profile.name] = measure_for(profile)
        return plain[profile.name](block)

    profile = ModelProfile()
    for wire in calls:
        profile, key = profile_for(wire.model, wire.provider), (wire.provider, wire.model)
        if key not in layouts:
            seen: list[Block] = []

            def measured(block: Block, seen: list[Block] = seen, of: ModelProfile = profile) -> float:
                seen.append(block)
                return estimate(block, of)

            layouts[key] = Layout(measured), seen, []
        layout, seen, told = layouts[key]
        seen.clear()
        layout.take(wire)
        at = len(layout) - len(seen)
        del told[at:]
        base, under = (told[-1], layout.sums[at - 1]) if at else (0.0, 0.0)
        guessed = (layout.sums[-1] - under) if seen else 0.0
        counted = wire.usage.input - base
        factor = counted / guessed if guessed and wire.usage.input and counted > 0 else scale
        factor = factor if 0.1 < factor < 10 else scale
        for number, block in enumerate(seen):
            told.append(base + factor * (layout.sums[at + number] - under))
            known[block.raw] = factor * estimate(block, profile)
        scale = factor if at == 0 else scale
    last, factor = profile, scale
    return lambda block: known.get(block.raw) or factor * estimate(block, last), scale
