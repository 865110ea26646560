"""All calls of a session looked at again: what was expected of each, and the verdict on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from hermes.contracts import ModelProfile
from hermes.errors import PromptError, StoreError
from hermes.frozen import frozen
from hermes.prompt import SystemPrompt
from hermes.sessions.contract import Store
from hermes.wire.blocks import is_mark
from hermes.wire.ledger import Ledger, read_calls
from hermes.wire.prediction import Prediction
from hermes.wire.request import Wire
from hermes.wire.verdict import Verdict, judge, unseen

ProfileFor = Callable[[str, str], ModelProfile]
"""What is known of a model, by its name and provider."""


@frozen
class Entry:
    """A call, what was to be expected, and what became of it."""

    wire: Wire
    expected: Prediction
    verdict: Verdict

    def to_data(self) -> dict[str, Any]:
        """What JSON has of it: all but the bytes."""
        wire = self.wire
        return {
            "call": wire.n,
            "at": wire.at,
            "provider": wire.provider,
            "model": wire.model,
            "route": wire.route,
            "request_id": wire.request_id,
            "aside": wire.aside,
            "epoch": wire.epoch,
            "bytes": len(wire.body) + sum(len(text.encode()) for _, text in wire.marks),
            "marks": sum(is_mark(text) for _, text in wire.marks),
            "usage": asdict(wire.usage),
            "expected": asdict(self.expected),
            "verdict": asdict(self.verdict),
        }


def take(ledger: Ledger, wire: Wire, profile: ModelProfile, prompt: SystemPrompt | None = None) -> Entry:
    """Enter a call into a ledger, and judge it."""
    expected = ledger.expect(wire, profile)
    verdict = judge(wire, ledger.before, ledger.cache(wire, profile), expected, profile, prompt)
    ledger.enter(wire)
    return Entry(wire, expected, verdict)


async def review(store: Store, session_id: str, profile_for: ProfileFor) -> tuple[Entry, ...]:
    """Every call of a stored session with its verdict. StoreError when its bytes are not to be had."""
    ledger = Ledger()
    prompts: dict[str, SystemPrompt | None] = {"": None}
    named = ""
    found = []
    for wire, call in await read_calls(store, session_id):
        named = call.prompt or named
        if wire.gone:
            found.append(Entry(wire, Prediction("abstained"), unseen(wire)))
            continue
        if named not in prompts:
            prompts[named] = await _prompt(store, session_id, named)
        found.append(take(ledger, wire, profile_for(wire.model, wire.provider), prompts[named]))
    return tuple(found)


async def _prompt(store: Store, session_id: str, digest: str) -> SystemPrompt | None:
    """A stored prompt; None when it cannot be read: then a verdict names lines of the text, not of files."""
    try:
        return SystemPrompt.from_json((await store.blob(session_id, digest)).decode())
    except (PromptError, StoreError):
        return None
