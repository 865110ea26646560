"""The scripted model: deterministic, and strict about what it is sent."""

from __future__ import annotations

import asyncio

import pytest

from hermes.errors import ModelError
from hermes.messages import Completed, Message, ModelEvent, ReasoningDelta, TextDelta, Usage
from hermes.providers.accounting import BadMarks, PromptCache
from hermes.providers.scripted import PROFILE, BrokenPrefix, ScriptedModel, Step, call
from tests.providers.loopback import Clock
from tests.providers.talks import CLAUDE, request
from tests.providers.test_wrappers import heard


def test_steps_in_order() -> None:
    model = ScriptedModel(
        [
            Step("Let me look.", (call("read_file", '{"path":"a"}'),), reasoning="hm", piece=5),
            lambda asked: f"{len(asked.messages)} messages",
        ]
    )
    first = Message("user", "hi")
    events = heard(model, request((first,)))
    assert events[:-1] == [ReasoningDelta("hm"), TextDelta("Let m"), TextDelta("e loo"), TextDelta("k.")]
    done = events[-1]
    assert isinstance(done, Completed)
    assert (done.stop, done.message.tool_calls) == ("tool_calls", (call("read_file", '{"path":"a"}'),))
    told = Message("tool", "x", call_id="call_read_file")
    last = heard(model, request((first, done.message, told)))[-1]
    assert isinstance(last, Completed)
    assert (last.message.text, last.stop) == ("3 messages", "end")
    with pytest.raises(ModelError, match="no more answers"):
        heard(model, request((first, done.message, told)))


def test_what_was_sent_may_not_move() -> None:
    model = ScriptedModel(["a", "b", "c", "d"])
    heard(model, request((Message("user", "one"),), session_id="s"))
    with pytest.raises(BrokenPrefix, match="no epoch had ended") as caught:
        heard(model, request((Message("user", "One"),), session_id="s"))
    assert isinstance(caught.value, AssertionError)
    assert "'" in str(caught.value)
    heard(model, request((Message("user", "other session"),), session_id="t"))
    heard(model, request((Message("user", "Two"),), session_id="s", epoch="compaction"))


def test_a_check_can_be_turned_off() -> None:
    model = ScriptedModel(["a", "b"], check=False, keep=False)
    heard(model, request((Message("user", "one"),)))
    heard(model, request((Message("user", "two"),)))
    assert model.bodies == []


def test_a_gate_holds_an_answer_until_an_event() -> None:
    async def run() -> list[ModelEvent]:
        gate = asyncio.Event()
        events: list[ModelEvent] = []

        async def listen() -> None:
            events.extend([event async for event in ScriptedModel([Step("x", gate=gate)]).stream(request())])

        task = asyncio.create_task(listen())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert events == []
        gate.set()
        await task
        return events

    assert asyncio.run(run())[0] == TextDelta("x")


def test_an_error_after_some_words() -> None:
    model = ScriptedModel([Step("half", error=ModelError("cut", kind="network"))])

    async def run() -> list[ModelEvent]:
        events: list[ModelEvent] = []
        with pytest.raises(ModelError, match="cut"):
            async for event in model.stream(request()):
                events.append(event)
        return events

    assert asyncio.run(run()) == [TextDelta("half")]


def test_prefixes_are_counted_in_steps_from_the_minimum_on() -> None:
    cache = PromptCache(PROFILE.cache, Clock())

    def body(text: str) -> bytes:
        return b'{"model":"m","messages":[' + text.encode() + b"]}"

    long = "x" * 8000
    assert cache.answer(body("short" * 400)).cache_read == 0
    assert cache.answer(body("short" * 400)).cache_read == 0  # 503 tokens
    assert cache.answer(body(long)).cache_read == 0
    assert cache.answer(body(long + "y" * 700)) == Usage(2178, 1920)
    assert cache.answer(body("y" + long)).cache_read == 0
    assert cache.answer(body(long[:5000] + "z")).cache_read == 1152


def test_marks_that_a_provider_refuses() -> None:
    mark = '"cache_control":{"type":"ephemeral"%s}'

    def body(*lifetimes: str) -> bytes:
        blocks = (f'{{"type":"text","text":"x",{mark % ttl}}}' for ttl in lifetimes)
        return ('{"messages":[{"role":"user","content":[' + ",".join(blocks) + "]}]}").encode()

    cache = PromptCache(CLAUDE.cache, Clock())
    cache.answer(body("", "", "", ""))
    for lifetimes, words in (
        (("",) * 5, "at most 4"),
        (("", ',"ttl":"1h"'), "longer lifetime"),
        ((',"ttl":"9h"',), "not a lifetime"),
    ):
        with pytest.raises(BadMarks, match=words):
            cache.answer(body(*lifetimes))
