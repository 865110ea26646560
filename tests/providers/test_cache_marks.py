"""Marks: the provider's rules hold, the cache is hit, and no byte of text moves."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from hermes.config.records import CacheConfig
from hermes.contracts import CacheRules, Codec, ModelProfile
from hermes.messages import Completed, Message, ModelRequest, ToolCall, Usage
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.cache_marks import MarkPolicy, mark_policy, unmarked
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.scripted import ScriptedModel, Step
from tests.providers.loopback import Clock
from tests.providers.mark_rules import Rules
from tests.providers.talks import CLAUDE, OPENAI, OPENAI_POINTS, ROUTED, TOOLS, request

SYSTEM = ("S" * 9000, "\nC" * 3000, "V" * 900)
MINUTE = 60.0
WIRES: dict[str, tuple[Codec, ModelProfile]] = {
    "anthropic": (AnthropicMessages(), CLAUDE),
    "routed": (OpenAiChat(), ROUTED),
}


def words(chance: random.Random, most: int = 60) -> str:
    return "".join(chance.choice('abcdefgh ийк漢字\n"\\') for _ in range(chance.randint(1, most)))


def step(chance: random.Random, calls: int) -> tuple[Message, list[Message]]:
    """An answer of the model and what follows it."""
    asked = tuple(
        ToolCall(f"c{n}", "read_file", json.dumps({"path": words(chance, 9)})) for n in range(calls)
    )
    answer = Message("assistant", words(chance) if chance.random() < 0.7 else "", tool_calls=asked)
    told = [Message("tool", words(chance), call_id=call.id) for call in asked]
    more = chance.randint(0 if told else 1, 2)
    return answer, [*told, *(Message("user", words(chance)) for _ in range(more))]


class Talk:
    """A session with a scripted model: each call sends the stored fragments and those that are new."""

    def __init__(self, model: ScriptedModel, system: tuple[str, ...] = SYSTEM, session: str = "") -> None:
        self.model = model
        self.system = system
        self.session = session
        self.fragments: tuple[bytes, ...] = ()
        self.last = ""

    def call(self, *messages: Message) -> Usage:
        self.fragments += self.model.codec.fragments(messages, self.model.profile, self.last)
        self.last = messages[-1].role
        asked = ModelRequest(
            "m-1", self.system, TOOLS, messages, fragments=self.fragments, session_id=self.session
        )
        return asyncio.run(_usage(self.model, asked))


async def _usage(model: ScriptedModel, asked: ModelRequest) -> Usage:
    events = [event async for event in model.stream(asked)]
    assert isinstance(events[-1], Completed)
    return events[-1].usage


def scripted(wire: str, answers: int = 300, **fields: object) -> ScriptedModel:
    codec, profile = WIRES[wire]
    values: dict[str, object] = {"profile": profile, "codec": codec}
    return ScriptedModel([Step("ok")] * answers, **(values | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("turns", "policy"),
    [(200, MarkPolicy()), (20, MarkPolicy(prompt="1h", messages="5m")), (20, MarkPolicy(True, "1h", "1h"))],
)
def test_two_hundred_turns_keep_every_rule(wire: str, turns: int, policy: MarkPolicy) -> None:
    chance = random.Random(7)
    model = scripted(wire, policy=policy)
    talk, rules = Talk(model), Rules(CLAUDE.cache.minimum_tokens or 0)
    before = talk.call(Message("user", words(chance)))
    for _ in range(turns):
        answer, told = step(chance, chance.choice([0, 0, 0, 0, 1, 1, 1, 2, 5, 30]))
        now = talk.call(answer, *told)
        assert now.cache_read == before.input
        assert now.cache_read + now.cache_write == now.input
        before = now
    for body, sent in zip(model.bodies, model.sent, strict=True):
        assert unmarked(sent) == body
        rules.check(sent)


def places(sent: bytes) -> list[str]:
    """Where marks stand: numbers of system blocks, and of messages from the end."""
    body = json.loads(sent)
    entries = body["messages"]
    system = body.get("system")
    if system is None:
        system, entries = entries[0]["content"], entries[1:]
    found = [f"system {n}" for n, block in enumerate(system) if "cache_control" in block]
    for n, entry in enumerate(entries, -len(entries)):
        blocks = entry["content"] if isinstance(entry["content"], list) else ()
        found += [f"message {n}" for block in blocks if "cache_control" in block]
    return found


@pytest.mark.parametrize("wire", WIRES)
def test_the_four_places_and_the_trade_when_a_turn_is_long(wire: str) -> None:
    model = scripted(wire)
    talk = Talk(model)
    talk.call(Message("user", "go"))
    talk.call(*TALK_OF(2))
    assert places(model.sent[-1]) == ["system 0", "system 1", "system 2", "message -1"]
    talk.call(*TALK_OF(12))
    before = -2 if wire == "anthropic" else -13
    assert places(model.sent[-1]) == ["system 0", "system 1", f"message {before - 1}", "message -1"]
    talk.call(Message("assistant", "so"), Message("user", "on"))
    assert places(model.sent[-1]) == ["system 0", "system 1", "system 2", "message -1"]


def TALK_OF(calls: int) -> tuple[Message, ...]:  # noqa: N802
    asked = tuple(ToolCall(f"c{n}", "read_file", "{}") for n in range(calls))
    return (Message("assistant", "", tool_calls=asked), *(Message("tool", "r", call_id=c.id) for c in asked))


def test_one_session_reads_the_stable_tier_that_another_wrote() -> None:
    model = scripted("anthropic")
    first = Talk(model, SYSTEM, "a").call(Message("user", "x"))
    other = Talk(model, (SYSTEM[0], "\nother project" * 400, "later"), "b").call(Message("user", "y"))
    same = Talk(model, (*SYSTEM[:2], "another day" * 50), "c").call(Message("user", "y"))
    assert first.cache_read == 0
    assert other.cache_read > len(SYSTEM[0]) // 4
    assert same.cache_read > (len(SYSTEM[0]) + len(SYSTEM[1])) // 4


@pytest.mark.parametrize(("policy", "read"), [(MarkPolicy(), False), (MarkPolicy(True, "1h", "1h"), True)])
def test_six_minutes_apart(policy: MarkPolicy, read: bool) -> None:
    clock = Clock()
    talk = Talk(scripted("anthropic", clock=clock, policy=policy))
    first = talk.call(Message("user", "x"))
    clock.now += 6 * MINUTE
    second = talk.call(Message("assistant", "ok"), Message("user", "y"))
    assert second.cache_read == (first.input if read else 0)
    assert first.cache_write_long == (first.input if read else 0)


def test_a_prompt_that_lives_long_and_messages_that_do_not() -> None:
    clock = Clock()
    model = scripted("anthropic", clock=clock, policy=MarkPolicy(prompt="1h"))
    talk = Talk(model)
    first = talk.call(Message("user", "x" * 8000))
    clock.now += 6 * MINUTE
    second = talk.call(Message("assistant", "ok"), Message("user", "y"))
    assert b'"ttl":"1h"' in model.sent[0]
    assert 0 < second.cache_read == first.cache_write_long < first.input


def test_nothing_below_the_minimum_is_marked() -> None:
    model = scripted("anthropic")
    talk = Talk(model, ("short", "prompt", "here"))
    talk.call(Message("user", "x"))
    assert places(model.sent[-1]) == []
    talk.call(Message("assistant", "ok"), Message("user", "words " * 2000))
    assert places(model.sent[-1]) == ["message -1"]


def test_a_setting_sends_none() -> None:
    model = scripted("anthropic", policy=MarkPolicy(send=False))
    Talk(model).call(Message("user", "x"))
    assert model.sent == model.bodies
    assert places(model.sent[0]) == []


def test_who_takes_no_marks_gets_none() -> None:
    unknown = ModelProfile(name="x", cache=CacheRules(kind="unknown"))
    for profile in (OPENAI, unknown):
        model = ScriptedModel(["ok"], profile=profile)
        Talk(model).call(Message("user", "x"))
        assert model.sent == model.bodies


def test_a_provider_of_unknown_number_of_marks_gets_one() -> None:
    profile = replace(ROUTED, cache=CacheRules(kind="marks"))
    model = ScriptedModel(["ok"], profile=profile)
    Talk(model).call(Message("user", "x"))
    assert places(model.sent[0]) == ["message -1"]


def test_breakpoints_where_the_provider_marks_the_newest_by_itself() -> None:
    model = ScriptedModel(["ok"] * 3, profile=OPENAI_POINTS)
    talk = Talk(model)
    before = talk.call(Message("user", "x"))
    for calls in (3, 40):
        now = talk.call(*TALK_OF(calls))
        assert now.cache_read == before.input
        before = now
    told = [json.loads(sent)["messages"] for sent in model.sent]
    marked = [
        [
            (n, part["prompt_cache_breakpoint"])
            for n, entry in enumerate(messages)
            for part in entry["content"] or ()
            if "prompt_cache_breakpoint" in part
        ]
        for messages in told
    ]
    point: Mapping[str, str] = {"mode": "explicit"}
    assert marked[0] == [(0, point), (0, point), (0, point)]
    assert marked[1] == [(0, point), (0, point), (1, point)]
    assert marked[2] == [(0, point), (0, point), (5, point)]
    assert [unmarked(sent) for sent in model.sent] == model.bodies


def test_texts_and_arguments_that_look_like_marks_are_left_alone() -> None:
    mark = ',"cache_control":{"type":"ephemeral"}'
    said = (
        Message("user", mark),
        Message("assistant", mark, tool_calls=(ToolCall("c", "x", '{"a":1' + mark + "}"),)),
        Message("tool", mark, call_id="c"),
    )
    for codec, profile in WIRES.values():
        body = (
            codec.head(request(system=(mark,)), profile) + b",".join(codec.fragments(said, profile)) + b"]}"
        )
        assert unmarked(body) == body
        assert json.loads(body)


@pytest.mark.parametrize(
    ("settings", "policy", "told"),
    [
        (CacheConfig(), MarkPolicy(), []),
        (CacheConfig(ttl="1h"), MarkPolicy(True, "1h", "1h"), []),
        (CacheConfig(prompt_ttl="1h"), MarkPolicy(True, "1h", ""), []),
        (CacheConfig(marks=False, diagnostics=True), MarkPolicy(False, ask=True), []),
        (
            CacheConfig(ttl="2h"),
            MarkPolicy(),
            ["cache.ttl: 2h is not a lifetime of this model (5m, 1h); it is passed over"],
        ),
        (
            CacheConfig(ttl="1h", prompt_ttl="5m"),
            MarkPolicy(True, "1h", "1h"),
            ["cache.prompt_ttl is shorter than cache.ttl, which providers refuse; 1h stands for both"],
        ),
    ],
)
def test_the_owners_wishes(settings: CacheConfig, policy: MarkPolicy, told: list[str]) -> None:
    made, notices = mark_policy(settings, CLAUDE.cache)
    assert (made, [n.text for n in notices]) == (policy, told)


def test_the_rules_can_be_broken() -> None:
    """The strict reading itself: each rule refuses what breaks it."""
    long = {"type": "text", "text": "x" * 9000}
    mark = {"cache_control": {"type": "ephemeral"}}
    hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}

    def refused(*blocks: dict[str, object], **more: object) -> str:
        body = {"messages": [{"role": "user", "content": list(blocks)}], **more}
        rules = Rules(1024)
        rules.check(json.dumps({"messages": [{"role": "user", "content": [long | mark]}]}).encode())
        with pytest.raises(AssertionError) as caught:
            rules.check(json.dumps(body).encode())
        return str(caught.value).splitlines()[0]

    assert refused(*[long | mark] * 5) == "at most four marks"
    assert refused(*[long | mark] * 4, **mark) == "at most four marks"
    assert refused(long | mark, **hour) == "one lifetime on a block"
    assert refused(long | mark, long | hour) == "the longer lifetime stands first"
    assert refused({"type": "text", "text": "x"} | mark) == "no mark below the minimum"
    assert refused(long, *[{"type": "text", "text": "y"}] * 20, long | mark) == (
        "the newest entry of the request before is within reach"
    )
