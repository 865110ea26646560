"""What is foretold of a call is what the ledger makes of it later, from the bytes alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import chain, repeat
from pathlib import Path

import pytest

from hermes.contracts import CacheRules, CacheTtl, ModelProfile
from hermes.turns import TurnEnded, TurnRequest
from tests.providers.loopback import Reply
from tests.wire.rig import CLAUDE, GPT, Rig

Scene = Callable[[Rig], Awaitable[None]]
REFUSED = Reply(status=400, body={"error": {"message": "not like this", "type": "invalid_request_error"}})


async def fail(rig: Rig) -> None:
    """A turn whose request is refused."""
    going_on = rig.server.replies
    rig.server.replies = chain([REFUSED], going_on)
    *_, ended = [event async for event in rig.agent.run(TurnRequest("Go on."))]
    assert isinstance(ended, TurnEnded)
    assert ended.reason == "failed"


async def never_answered(rig: Rig) -> None:
    """A request that begins otherwise and is refused; the next one begins as that did."""
    await rig.say()
    await rig.say()
    rig.edit("project/AGENTS.md", "make lint", "make all")
    await rig.agent.refresh()
    await fail(rig)
    await rig.say()
    await rig.say()


async def refused_at_first(rig: Rig) -> None:
    await fail(rig)
    await rig.say()
    await rig.say()


async def gone_on_with(rig: Rig) -> None:
    await rig.say()
    await rig.restart()
    await fail(rig)
    await rig.say()


@pytest.mark.parametrize("profile", [CLAUDE, GPT], ids=lambda p: p.name)
@pytest.mark.parametrize("scene", [never_answered, refused_at_first, gone_on_with])
def test_a_call_that_is_never_answered_changes_no_forecast(
    scene: Scene, profile: ModelProfile, tmp_path: Path
) -> None:
    entries = Rig(tmp_path, profile, repeat("Aye.")).play(scene)

    told = [(e.wire.forecast, e.wire.predicted, e.wire.predicted_write) for e in entries]
    assert told == [(e.expected.expected, e.expected.read, e.expected.write) for e in entries]
    assert told[0][:2] == ("first", 0)


@pytest.mark.parametrize(
    ("rules", "silence"),
    [
        (CacheRules("none"), "no cache"),
        (CacheRules(), "abstained"),
        (CacheRules("prefix"), "abstained"),
        (CacheRules("prefix", minimum_tokens=1), "abstained"),
        (CacheRules("prefix", minimum_tokens=1, step=1), ""),
        (CacheRules("marks", minimum_tokens=1), "abstained"),
        (CacheRules("marks", minimum_tokens=1, ttls=(CacheTtl("5m", 1.25, 300),)), ""),
    ],
)
def test_where_rules_are_not_known_nothing_is_foretold(rules: CacheRules, silence: str) -> None:
    assert rules.silence == silence
