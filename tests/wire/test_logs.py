"""Logs of other applications: every shape that is read, and the verdicts on them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.contracts import ModelProfile
from hermes.errors import UsageError
from hermes.messages import Usage
from hermes.providers.accounting import PromptCache
from hermes.providers.profiles import profile_for
from hermes.wire.ledger import Ledger
from hermes.wire.logs import _unmarked, read_log
from hermes.wire.request import Wire
from hermes.wire.review import Entry, take

CLAUDE = profile_for("claude-sonnet-4-5", "anthropic")
GPT = profile_for("gpt-4o", "openai")
LONG = "".join(f"Rule {n}: say what you did, in one line, and why it was done.\n" for n in range(160))
MARK = {"type": "ephemeral"}
TOOLS = [
    {"name": name, "description": name * 20, "input_schema": {"type": "object"}} for name in ("look", "act")
]


class App:
    """An application that calls a provider, whose cache is what the published rules make it, and logs it."""

    def __init__(self, profile: ModelProfile) -> None:
        self.profile, self.now, self.lines = profile, 1_772_000_000.0, []
        self.cache = PromptCache(profile.cache, lambda: self.now)

    def call(self, body: dict[str, Any], **more: Any) -> None:
        usage = self.cache.answer(json.dumps(body, separators=(",", ":")).encode())
        row = {"started": self.now, "request": body, "response": self._response(usage), **more}
        self.lines.append(json.dumps(row))
        self.now += 10

    def _response(self, usage: Usage) -> dict[str, Any]:
        if self.profile is GPT:
            details = {"cached_tokens": usage.cache_read}
            told = {"prompt_tokens": usage.input, "completion_tokens": 5, "prompt_tokens_details": details}
            return {"id": "chatcmpl-1", "model": "gpt-4o-2024-08-06", "usage": told}
        told = {
            "input_tokens": usage.input - usage.cache_read - usage.cache_write,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": 5,
        }
        return {"id": "msg_1", "type": "message", "model": "claude-sonnet-4-5-20250929", "usage": told}

    def verdicts(self) -> list[Entry]:
        (wires,) = read_log("\n".join(self.lines)).sessions().values()
        ledger = Ledger()
        return [take(ledger, wire, self.profile) for wire in wires]


def messages(*turns: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": [{"type": "text", "text": t}]} for n, t in enumerate(turns)]


def claude(*turns: str, tools: list[Any] = TOOLS, system: str = LONG) -> dict[str, Any]:
    said = messages(*turns)
    said[-1]["content"][-1]["cache_control"] = MARK
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "tools": tools,
        "system": [{"type": "text", "text": system, "cache_control": MARK}],
        "messages": said,
    }


def gpt(*turns: str, system: str = LONG) -> dict[str, Any]:
    return {"messages": [{"role": "system", "content": system}, *messages(*turns)], "model": "gpt-4o"}


def test_a_clean_application_is_accused_of_nothing() -> None:
    app = App(CLAUDE)
    app.call(claude("hi"))
    app.call(claude("hi", "Hello.", "go on"))
    app.call(claude("hi", "Hello.", "go on", "I did.", "and now?"))
    assert [e.verdict.cause for e in app.verdicts()] == ["first", "hit", "hit"]


def test_tools_that_change_places() -> None:
    app = App(CLAUDE)
    app.call(claude("hi"))
    app.call(claude("hi", "Hello.", "go on", tools=TOOLS[::-1]))
    verdict = app.verdicts()[1].verdict
    assert (verdict.cause, verdict.difference and verdict.difference.where) == ("changed", "tools")


def test_a_pause_that_was_too_long() -> None:
    app = App(CLAUDE)
    app.call(claude("hi"))
    app.now += 300
    app.call(claude("hi", "Hello.", "go on"))
    assert [e.verdict.cause for e in app.verdicts()] == ["first", "expired"]


def test_a_clock_in_the_system_text() -> None:
    app = App(GPT)
    app.call(gpt("hi", system="It is 12:00.\n" + LONG))
    app.call(gpt("hi", "Hello.", "go on", system="It is 12:01.\n" + LONG))
    verdict = app.verdicts()[1].verdict
    assert (verdict.cause, verdict.difference and verdict.difference.where) == ("changed", "system")


def test_conversations_are_told_apart() -> None:
    app = App(GPT)
    app.call(gpt("hi"), session_id="a")
    app.call(gpt("ho"), session_id="b")
    app.call(gpt("hi", "Hello.", "on"), session_id="a")
    found = read_log("\n".join(app.lines)).sessions()
    assert {name: [w.n for w in wires] for name, wires in found.items()} == {"a": [1, 3], "b": [2]}
    by_model = read_log("\n".join(app.lines), by="model").sessions()
    assert {name: len(wires) for name, wires in by_model.items()} == {"gpt-4o": 3}


BODY = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
TOLD = {"prompt_tokens": 2000, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 1024}}
CHUNK = {"id": "x", "model": "gpt-4o-1", "choices": [], "usage": TOLD}
SHAPES: dict[str, dict[str, Any]] = {
    "plain": {"request": BODY, "response": {"usage": TOLD}},
    "text in text": {"request": json.dumps(BODY), "response": json.dumps({"usage": TOLD})},
    "batch": {"custom_id": "1", "body": BODY, "response": {"status_code": 200, "body": {"usage": TOLD}}},
    "wrapped": {"request": {"url": "https://api.openai.com/v1", "body": BODY}, "response": {"usage": TOLD}},
    "flat": {**BODY, "response": {"usage": TOLD}},
    "usage beside": {"request": BODY, "response": "hello", "usage": TOLD},
    "stream as text": {"request": BODY, "response": f"data: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n"},
    "stream as list": {"req": BODY, "res": [{"choices": []}, CHUNK]},
    "responses": {
        "request": {"model": "gpt-4o", "input": "hi"},
        "response": {
            "usage": {
                "input_tokens": 2000,
                "output_tokens": 7,
                "input_tokens_details": {"cached_tokens": 1024},
            }
        },
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_call(shape: str) -> None:
    (call,) = read_log(json.dumps(SHAPES[shape])).calls
    assert (call.wire.provider, call.wire.model) == ("openai", "gpt-4o")
    assert call.wire.usage == Usage(input=2000, cache_read=1024, output=7)
    assert len(call.wire.fragments) == 1


def test_a_stream_of_messages() -> None:
    start = {
        "type": "message_start",
        "message": {
            "id": "msg_9",
            "model": "claude-x",
            "usage": {"input_tokens": 4, "cache_read_input_tokens": 96},
        },
    }
    end = {"type": "message_delta", "usage": {"output_tokens": 9}}
    stream = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in (start, end))
    (call,) = read_log(json.dumps({"request": claude("hi"), "response": stream})).calls
    assert call.wire.usage == Usage(input=100, cache_read=96, output=9)
    assert (call.wire.provider, call.wire.request_id, call.wire.served) == ("anthropic", "msg_9", "claude-x")


def test_lines_that_are_no_calls_are_named() -> None:
    good = json.dumps(SHAPES["plain"])
    log = read_log(f'\n{good}\nnot json\n{{"level": "info"}}\n[]\n{{"request": {{"messages": 3}}}}\n')
    assert [call.line for call in log.calls] == [2]
    assert [line for line, _ in log.passed_over] == [3, 4, 5, 6]
    with pytest.raises(UsageError, match="there is no call in this log"):
        read_log('{"level": "info"}\n')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
PART = st.fixed_dictionaries(
    {"type": st.just("text"), "text": st.text(max_size=9)},
    optional={"cache_control": st.just(MARK), "x": JSON},
)


@given(st.fixed_dictionaries({"role": st.just("user"), "content": st.lists(PART, max_size=4)}))
def test_marks_are_taken_out_and_nothing_else(message: dict[str, Any]) -> None:
    text, marks = _unmarked(message)
    plain = [{n: v for n, v in part.items() if n != "cache_control"} for part in message["content"]]
    assert json.loads(text) == {**message, "content": plain}
    assert len(marks) == sum("cache_control" in part for part in message["content"])
    assert {mark for _, mark in marks} <= {',"cache_control":{"type":"ephemeral"}'}
    assert all(text[place] == "}" for place, _ in marks)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(("request", "response", "usage", "messages", "time")), JSON),
        max_size=3,
    )
)
def test_no_log_breaks_it(rows: list[Any]) -> None:
    text = "\n".join(json.dumps(row) for row in rows)
    try:
        assert all(isinstance(call.wire, Wire) for call in read_log(text).calls)
    except UsageError as error:
        assert "no call" in str(error)
