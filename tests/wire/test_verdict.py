"""The verdict on calls of real sessions, over real HTTP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hermes.commands import Conversation, answer
from hermes.contracts import CacheRules
from tests.wire.rig import GPT, LONG, Rig
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


def test_a_session_whose_bodies_are_gone_goes_on(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        write(Path(rig.home.config), "cache: {keep_bodies: 3d}\n")
        await rig.restart()
        await rig.say()
        await rig.say()
        await rig.restart()
        assert [e.verdict.cause for e in await rig.entries()] == ["first", "hit"]
        rig.wait(4 * 24 * 3600)
        first = rig.agent.session_id
        rig.agent.reset()
        await rig.say()
        await rig.agent.close()
        rig.agent = rig.new_agent(first)
        await rig.say()
        await rig.say()

    entries = Rig(tmp_path).play(scene)
    assert [e.verdict.cause for e in entries] == ["first", "hit", "first", "hit"]
    assert "kept no longer" in entries[1].verdict.because
    assert [e.wire.gone for e in entries] == [True, True, False, False]
    assert entries[2].wire.epoch == "what was sent is kept no longer"


def test_a_part_of_a_text_that_stays_cached_is_foretold(tmp_path: Path) -> None:
    """Where whole prefixes are cached, a change late in the system text costs only what follows it."""

    async def scene(rig: Rig) -> None:
        await rig.say()
        rig.edit("home/SOUL.md", "Rule 150:", "Rule one hundred and fifty:")
        await rig.agent.refresh()
        await rig.say()

    _, last = Rig(tmp_path, GPT, soul=LONG).play(scene)
    assert last.verdict.cause == "changed"
    assert last.expected.read > 2000
    assert abs(last.expected.read - last.verdict.read) <= 128


def test_in_a_conversation(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        talk = Conversation(rig.agent)
        assert await answer(talk, "/cache") == "Nothing has been asked yet."
        await rig.say()
        await rig.say()
        told = (await answer(talk, "/cache")).splitlines()
        assert told[0] == "▁█  2 calls, 0 of them missed"
        assert told[1] == "call 2: hit - all that had been sent before came from the cache"
        assert (await answer(talk, "/cache 1")).startswith("call 1: first")
        assert await answer(talk, "/cache 9") == "There is no call 9; this session has made 2."
        assert (await answer(talk, "/cache x")).startswith("Say /cache for the whole session")

    Rig(tmp_path).play(scene)


def test_rules_that_are_not_known_foretell_nothing(tmp_path: Path) -> None:
    """The bytes alone are compared: a changed prefix is found, an equal one is not blamed on anybody."""
    unknown = replace(GPT, cache=CacheRules())

    async def scene(rig: Rig) -> None:
        await rig.say()
        await rig.say()
        rig.edit("home/SOUL.md", "Rule 7:", "Rule seven:")
        await rig.agent.refresh()
        await rig.say()

    entries = Rig(tmp_path, unknown).play(scene)
    assert [e.expected.expected for e in entries] == ["abstained"] * 3
    assert [e.verdict.cause for e in entries] == ["first", "unknown", "changed"]
    assert "the rules of this provider's cache are not known" in entries[1].verdict.because
