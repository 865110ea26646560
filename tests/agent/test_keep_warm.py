"""Keeping a resting conversation in the cache: when it pays, verified, and ended when it does not."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from hermes.agent.keep_warm import KeepWarm, recent_pauses
from hermes.config.records import CacheConfig
from hermes.messages import Usage
from hermes.providers.profiles import profile_for
from tests.wire.faults import WORDS
from tests.wire.rig import CLAUDE, GPT, OPUS, POINTS, Rig
from tests.world import NOW

ON = CacheConfig(keep_warm=True)


def now(rig: Rig) -> datetime:
    return NOW + timedelta(seconds=rig.server.clock.now)


async def rest(rig: Rig, warm: KeepWarm, seconds: float) -> list[str]:
    """Rest as a face does, with a clock that is moved; what was told meanwhile."""
    told: list[str] = []
    until = rig.server.clock.now + seconds
    while True:
        delay = warm.delay(rig.agent.session, rig.agent.model.profile, now(rig))
        if delay is None or rig.server.clock.now + delay >= until:
            rig.server.clock.now = until
            return told
        rig.wait(delay)
        told += [n.text for n in await rig.agent.keep_warm(warm)]


def test_a_long_rest_ends_with_a_hit(tmp_path: Path) -> None:
    warm = KeepWarm(ON)

    async def scene(rig: Rig) -> None:
        await rig.say(WORDS)
        assert await rest(rig, warm, 1500) == []
        usage = await rig.say()
        assert usage.cache_read > 0.9 * usage.input
        assert [json.loads(c.body)["max_tokens"] for c in rig.server.calls] == [8192, *[0] * 5, 8192]
        assert [json.loads(c.body)["stream"] for c in rig.server.calls[:2]] == [True, False]
        pings = rig.server.calls[1:-1]
        assert {(c.usage.cache_write, c.usage.input - c.usage.cache_read < 10) for c in pings} == {(0, True)}

    entries = Rig(tmp_path).play(scene)
    assert [e.verdict.cause for e in entries] == ["first", *["hit"] * 6]
    assert [e.wire.aside for e in entries] == [False, *[True] * 5, False]
    assert 0 < warm.spent < 0.02


def test_no_more_pings_than_one_miss_costs(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        warm = KeepWarm(ON)
        await rig.say(WORDS)
        await rest(rig, warm, 9_000)
        assert len(rig.server.calls) == 1 + 11  # (1.25 - 0.1) / 0.1
        await rig.say()
        assert warm.delay(rig.agent.session, CLAUDE, now(rig)) is not None, "it begins anew with each message"

    Rig(tmp_path).play(scene)


def test_it_ends_when_the_cache_does_not_hold(tmp_path: Path) -> None:
    """A router that bills pings in full is found out by the first of them."""

    async def scene(rig: Rig) -> None:
        warm = KeepWarm(ON)
        await rig.say(WORDS)
        rig.server.cache.forget()
        (told,) = await rest(rig, warm, 3_000)
        assert told.startswith("the conversation is no longer kept in the cache while it rests: only 0 of ")
        assert "tokens came from the cache, for $0.0" in told
        assert len(rig.server.calls) == 2
        assert warm.delay(rig.agent.session, CLAUDE, now(rig)) is None

    Rig(tmp_path).play(scene)


def test_a_refusal_ends_it(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        warm = KeepWarm(ON)
        await rig.say(WORDS)
        rig.server.proxy = lambda body: body.replace(b'"ephemeral"', b'"ephemeral","ttl":"9h"')
        (told,) = await rest(rig, warm, 3_000)
        assert "the provider refused" in told
        assert len(rig.server.calls) == 2

    Rig(tmp_path).play(scene)


def test_where_it_cannot_pay_nothing_is_sent(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        await rig.say(WORDS)
        session, moment = rig.agent.session, now(rig)
        free = replace(CLAUDE, prices=replace(CLAUDE.prices, input=None, cache_read=None))
        assert KeepWarm(CacheConfig()).delay(session, CLAUDE, moment) is None, "it is off unless wanted"
        assert KeepWarm(ON).delay(session, free, moment) is None, "prices are not known"
        assert KeepWarm(ON).delay(session, GPT, moment) is None, "no lifetime is promised"
        assert KeepWarm(ON).delay(session, profile_for("x", "y"), moment) is None, "no rules are known"
        assert KeepWarm(ON).delay(None, CLAUDE, moment) is None
        assert KeepWarm(ON).delay(session, OPUS, moment) is None, "another model has nothing to keep"
        assert KeepWarm(ON).delay(session, CLAUDE, moment + timedelta(minutes=9)) is None, (
            "it is gone already"
        )
        assert KeepWarm(ON).delay(session, CLAUDE, moment) == 300 - 30 - 1

    Rig(tmp_path).play(scene)


def test_pauses_of_the_past_tell_how_long_it_pays(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        await rig.say(WORDS)
        moment, session = now(rig), rig.agent.session

        def most(*pauses: float) -> int:
            warm = KeepWarm(ON, pauses)
            warm.delay(session, CLAUDE, moment)
            return warm.most(CLAUDE)

        assert most(*[400.0] * 9, 10.0) == 1, "who is back after seven minutes needs one"
        assert most(*[40_000.0] * 9) == 0, "who is back tomorrow needs none"
        assert most(*[400.0] * 4) == 11, "four pauses tell little"

    Rig(tmp_path).play(scene)


def test_pauses_are_those_between_calls(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        await rig.say(WORDS)
        rig.wait(399)
        await rig.say()
        await rest(rig, KeepWarm(ON), 600)
        assert await recent_pauses(rig.store) == (400.0,)

    Rig(tmp_path).play(scene)


def test_another_wire_lets_the_model_write_one_token(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        warm = KeepWarm(ON)
        await rig.say(WORDS)
        assert await rest(rig, warm, 3_000) == []
        assert [json.loads(c.body)["max_tokens"] for c in rig.server.calls] == [8192, 1]
        assert rig.session.usage.plus(Usage()).output > 0

    Rig(tmp_path, POINTS).play(scene)
