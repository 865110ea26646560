"""Sessions played again under another policy, against the same sessions really played under it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hermes.contracts import ModelProfile, Prices
from hermes.messages import Usage
from hermes.providers.accounting import PromptCache
from hermes.providers.cache_marks import MarkPolicy
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.profiles import profile_for
from hermes.wire.economics import Tokens
from hermes.wire.past import Past, read_past
from hermes.wire.policies import AS_SENT, Other, Policy, policies
from hermes.wire.request import Wire
from hermes.wire.simulate import Counting, advise, compare, play, simulate
from tests.wire.faults import TOOLS, WORDS
from tests.wire.rig import CLAUDE, GPT, POINTS, Rig
from tests.wire.test_clean import everything, four_bytes

EXACT = Counting(four_bytes)


def known(model: str, provider: str) -> ModelProfile:
    return {CLAUDE.name: CLAUDE, POINTS.name: POINTS}[model]


def played(folder: Path, scene: Callable[[Rig], Awaitable[None]], policy: MarkPolicy) -> Past:
    """The past of a scene that was really played, with these marks."""
    found = []

    async def under_policy(rig: Rig) -> None:
        rig.marks = policy
        await rig.use(rig.model(rig.profile, policy))
        await scene(rig)
        found.append(await read_past(rig.store, rig.agent.session_id))

    Rig(folder, tools=TOOLS).play(under_policy)
    return found[0]


def usages(past: Past) -> list[Usage]:
    return [w.usage for w in past.calls]


async def pausing(rig: Rig) -> None:
    """Pauses that are too long for one lifetime, for another, and for none."""
    await rig.say(WORDS)
    for seconds in (100, 400, 290, 3700, 30, 1000):
        rig.wait(seconds)
        await rig.say(WORDS[: seconds + 5])


SHORT = Policy("short", "all", "5m", "5m")
MIXED = Policy("mixed", "all", "1h", "5m")
LONG = Policy("long", "all", "1h", "1h")


@pytest.mark.parametrize("way", [SHORT, MIXED, LONG, Policy("none", "none")], ids=lambda p: p.name)
def test_every_class_is_foretold(way: Policy, tmp_path: Path) -> None:
    """What is simulated from one session is what the provider counts when it is played that way."""
    marks = MarkPolicy(way.where != "none", way.prompt_ttl, way.ttl)
    was = played(tmp_path / "a", pausing, MarkPolicy())
    told = [answer.wire.usage for answer in play(was, way, known, EXACT)]
    real = usages(played(tmp_path / "b", pausing, marks))
    assert [Tokens.of(u) for u in told] == [Tokens.of(u) for u in real]


def test_as_sent_is_what_was_reported(tmp_path: Path) -> None:
    was = played(tmp_path, everything, MarkPolicy())
    told = [answer.wire.usage for answer in play(was, AS_SENT, known, EXACT)]
    assert [Tokens.of(u) for u in told] == [Tokens.of(u) for u in usages(was)]


@pytest.mark.parametrize("way", [AS_SENT, SHORT, LONG, Policy("none", "none")], ids=lambda p: p.name)
def test_with_estimates_the_sums_stay_those_of_the_provider(way: Policy, tmp_path: Path) -> None:
    """Only how tokens fall into classes is foretold; how many there were is known."""
    was = played(tmp_path, everything, MarkPolicy())
    found = simulate(was, way, known, Counting.learned(was, known))
    assert found.tokens.input == sum(u.input for u in usages(was))
    assert found.tokens.output == sum(u.output for u in usages(was))
    if way is AS_SENT:
        read = sum(u.cache_read for u in usages(was))
        assert abs(found.tokens.read - read) <= 0.005 * read


WAYS = (
    *policies(CLAUDE.cache, pings=4),
    Policy("rewritten", rewrites=True),
    Policy("rewritten, marked anew", "all", rewrites=True),
    Policy("told", "all", delta=lambda before, after: f"{len(before.text)} became {len(after.text)}"),
)


@pytest.mark.parametrize("way", WAYS, ids=lambda p: p.name)
def test_every_way_follows_the_published_rules(way: Policy, tmp_path: Path) -> None:
    """The bodies of a policy, marks and pings included, are given to the rules themselves."""

    async def scene(rig: Rig) -> None:
        await rig.say(WORDS)
        rig.agent.set_personality("pirate")
        await rig.say(WORDS)
        rig.wait(900)
        rig.agent.set_personality("none")
        await everything(rig)
        rig.wait(3000)
        await rig.say()

    was = played(tmp_path, scene, MarkPolicy())
    now = [0.0]
    cache = PromptCache(CLAUDE.cache, lambda: now[0])
    seen = 0
    for answer in play(was, way, known, EXACT):
        now[0] = answer.wire.at
        told = cache.answer(marked(answer.wire))
        assert Tokens.of(answer.wire.usage)[:4] == Tokens.of(told)[:4], answer.expected
        seen += answer.ping
    assert (seen > 0) is (way.pings > 0)


def marked(wire: Wire) -> bytes:
    body = wire.body
    for at, mark in sorted(wire.marks, reverse=True):
        body = body[:at] + mark.encode() + body[at:]
    return body


def test_another_model_gets_the_same_conversation_over_its_own_wire(tmp_path: Path) -> None:
    was = played(tmp_path, everything, MarkPolicy())
    way = Policy("other", "all", other=Other(POINTS, OpenAiChat(cache_key=True)))
    cache, now = PromptCache(POINTS.cache, lambda: now[0]), [0.0]
    texts = 0
    for answer in play(was, way, known, EXACT):
        now[0] = answer.wire.at
        assert Tokens.of(answer.wire.usage)[:4] == Tokens.of(cache.answer(marked(answer.wire)))[:4]
        body = json.loads(answer.wire.body)
        assert (body["model"], body["messages"][0]["role"]) == (POINTS.name, "developer")
        texts += WORDS in answer.wire.body.decode()
    assert texts == len(was.calls)


def test_keep_warm_reads_in_place_of_writing(tmp_path: Path) -> None:
    async def scene(rig: Rig) -> None:
        await rig.say(WORDS)
        rig.wait(900)
        await rig.say(WORDS)

    was = played(tmp_path, scene, MarkPolicy())
    kept = simulate(was, Policy("kept", "all", pings=11), known, EXACT)
    lost = simulate(was, Policy("lost", "all"), known, EXACT)
    assert (kept.pings, kept.misses, lost.misses) == (3, 0, 1)
    assert kept.cost is not None
    assert lost.cost is not None
    assert kept.cost < lost.cost


def test_advice_comes_with_its_arithmetic(tmp_path: Path) -> None:
    was = played(tmp_path, pausing, MarkPolicy())
    outcomes = compare([was], policies(CLAUDE.cache, 11), known)
    advice = advise(outcomes, [was], CLAUDE)
    cheapest = min((o for o in outcomes[1:] if o.policy.set), key=lambda o: o.cost or 0)
    assert (advice.policy, advice.set) == (cheapest.policy.name, cheapest.policy.set)
    assert advice.saved == pytest.approx((outcomes[1].cost or 0) - (cheapest.cost or 0))
    assert advice.arithmetic[1].startswith("break-even of 1h: it costs $")
    assert advice.arithmetic[1].endswith("such pauses on, and there were 2")


def test_where_nothing_is_known_nothing_is_said(tmp_path: Path) -> None:
    was = played(tmp_path, pausing, MarkPolicy())
    nobody = profile_for("nobody", "nowhere")
    outcomes = compare([was], policies(nobody.cache, 0), lambda model, provider: nobody)
    assert outcomes[1].abstained == len(was.calls)
    assert (outcomes[1].known, outcomes[1].cost) == (False, None)

    def said(profile: ModelProfile) -> tuple[str, ...]:
        found = compare([was], policies(profile.cache, 0), lambda model, provider: profile)
        return advise(found, [was], profile).arithmetic

    assert said(nobody) == ("nothing is recommended: the rules of this cache are not known",)
    assert said(GPT) == ("nothing is recommended: this cache leaves nothing to set",)
    free = replace(GPT, prices=Prices())
    assert said(free) == ("nothing is recommended: no prices are known",)
