"""The verdict on calls of real sessions, over real HTTP."""

from __future__ import annotations

from pathlib import Path

from tests.wire.rig import Rig
from tests.world import write


def test_a_refresh_is_traced_to_the_line(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        await rig.say()
        await rig.say()
        soul = Path(rig.home.soul)
        write(soul, soul.read_text(encoding="utf-8").replace("Rule 7:", "Rule seven:"))
        await rig.agent.refresh()
        await rig.say()

    first, second, third = Rig(tmp_path).play(scene)
    assert (first.verdict.cause, second.verdict.cause) == ("first", "hit")
    verdict = third.verdict
    assert (verdict.cause, verdict.action) == ("changed", "refresh")
    assert verdict.difference is not None
    assert verdict.difference.source.endswith("SOUL.md:9")


def test_a_pause_that_was_too_long(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        await rig.say()
        rig.wait(298)
        await rig.say()
        rig.wait(301)
        await rig.say()

    assert [e.verdict.cause for e in Rig(tmp_path).play(scene)] == ["first", "hit", "expired"]
