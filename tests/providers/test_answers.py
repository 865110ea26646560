"""Answers as the providers' documentation shows them, put together into one message."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from hermes.errors import ModelError
from hermes.messages import Completed, Message, ModelEvent, ReasoningDelta, TextDelta, ToolCall, Usage
from hermes.providers.anthropic_answer import MessagesAnswer
from hermes.providers.openai_answer import ChatAnswer
from hermes.providers.sse import Event

Answer = ChatAnswer | MessagesAnswer


def fail(error: object) -> ModelError:
    return ModelError(f"failed: {error}")


def heard(answer: Answer, chunks: Iterable[Any]) -> tuple[list[ModelEvent], Completed]:
    events = [
        e
        for chunk in chunks
        for e in answer.take(Event("", chunk if isinstance(chunk, str) else json.dumps(chunk)))
    ]
    assert answer.is_whole
    return events, answer.completed()


def chat(*deltas: dict[str, Any], stop: str = "stop", **fields: Any) -> list[Any]:
    chunks: list[Any] = [{"id": "x", "model": "m", "choices": [{"index": 0, "delta": d}]} for d in deltas]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]} | fields, "[DONE]"]


def called(*parts: dict[str, Any], stop: str = "tool_calls") -> tuple[ToolCall, ...]:
    return heard(ChatAnswer(fail, 4), chat(*({"tool_calls": [p]} for p in parts), stop=stop))[
        1
    ].message.tool_calls


USAGE = {
    "openai": (
        {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 192, "accepted_prediction_tokens": 0},
        },
        Usage(2006, 1920, 0, 300, 192),
    ),
    "openai from 5.6": (
        {
            "prompt_tokens": 2006,
            "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 1006},
        },
        Usage(2006, 1000, 1006, 3),
    ),
    "deepseek": (
        {
            "prompt_tokens": 300,
            "completion_tokens": 10,
            "prompt_cache_hit_tokens": 256,
            "prompt_cache_miss_tokens": 44,
        },
        Usage(300, 256, 0, 10),
    ),
    "openrouter": (
        {
            "prompt_tokens": 10339,
            "completion_tokens": 60,
            "cost": 0.0012,
            "prompt_tokens_details": {"cached_tokens": 10318, "cache_write_tokens": 21},
            "completion_tokens_details": {"reasoning_tokens": 0},
            "cost_details": {"upstream_inference_cost": None},
        },
        Usage(10339, 10318, 21, 60),
    ),
    "gemini, compatible": (
        {
            "prompt_tokens": 5000,
            "completion_tokens": 7,
            "total_tokens": 5100,
            "prompt_tokens_details": {"cached_tokens": 4080},
        },
        Usage(5000, 4080, 0, 7),
    ),
    "moonshot": ({"prompt_tokens": 90, "completion_tokens": 7, "cached_tokens": 64}, Usage(90, 64, 0, 7)),
    "llama.cpp": (
        {
            "completion_tokens": 8,
            "prompt_tokens": 1593,
            "total_tokens": 1601,
            "prompt_tokens_details": {"cached_tokens": 1582},
        },
        Usage(1593, 1582, 0, 8),
    ),
    "ollama": ({"prompt_tokens": 26, "completion_tokens": 298, "total_tokens": 324}, Usage(26, 0, 0, 298)),
    "nothing": (None, Usage()),
    "nonsense": ({"prompt_tokens": "many", "prompt_tokens_details": None}, Usage()),
}


@pytest.mark.parametrize("provider", USAGE)
def test_usage_of_each_provider(provider: str) -> None:
    told, usage = USAGE[provider]
    assert heard(ChatAnswer(fail, 0), chat(usage=told))[1].usage == usage


def test_usage_after_the_last_choice_and_in_a_choice() -> None:
    told = {"prompt_tokens": 7, "completion_tokens": 1}
    after = [*chat({"content": "x"})[:-1], {"choices": [], "usage": told}, "[DONE]"]
    within = chat(choices=[{"index": 0, "delta": {}, "finish_reason": "stop", "usage": told}])
    groq = chat(x_groq={"id": "req", "usage": told})
    for chunks in (after, within, groq):
        assert heard(ChatAnswer(fail, 0), chunks)[1].usage == Usage(7, 0, 0, 1)


def test_a_whole_answer() -> None:
    events, done = heard(
        ChatAnswer(fail, 0),
        chat(
            {"role": "assistant", "content": ""},
            {"reasoning_content": "hm"},
            {"content": "He"},
            {"content": "llo"},
        ),
    )
    assert events == [ReasoningDelta("hm"), TextDelta("He"), TextDelta("llo")]
    assert done == Completed(Message("assistant", "Hello", reasoning="hm"), Usage(), "end", "x", "m")


def test_calls_in_pieces_beside_each_other() -> None:
    assert called(
        {"index": 0, "id": "a", "type": "function", "function": {"name": "read", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"x":'}},
        {"index": 1, "id": "b", "function": {"name": "run", "arguments": "{"}},
        {"index": 0, "function": {"arguments": " 1}"}},
        {"index": 1, "function": {"arguments": "bad"}},
    ) == (ToolCall("a", "read", '{"x": 1}'), ToolCall("b", "run", "{bad"))


def test_calls_that_all_have_one_index_and_an_id_of_their_own() -> None:
    assert called(
        {"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}},
        {"index": 0, "id": "b", "function": {"name": "read", "arguments": "{}"}},
        stop="stop",
    ) == (ToolCall("a", "read", "{}"), ToolCall("b", "read", "{}"))


def test_calls_that_repeat_their_id_have_none_or_give_an_object() -> None:
    assert called(
        {"index": 0, "id": "a", "function": {"name": "read", "arguments": "{"}},
        {"index": 0, "id": "a", "function": {"name": "read", "arguments": "}"}},
    ) == (ToolCall("a", "read", "{}"),)
    assert called({"index": 0, "function": {"name": "read", "arguments": {"x": 1}}}) == (
        ToolCall("call_4_0", "read", '{"x": 1}'),
    )


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("stop", "end"), ("length", "length"), ("content_filter", "refused"), ("weird", "other")],
)
def test_why_it_stopped(reason: str, stop: str) -> None:
    assert heard(ChatAnswer(fail, 0), chat({"content": "x"}, stop=reason))[1].stop == stop


def test_calls_mean_tool_calls_whatever_the_reason() -> None:
    part = {"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}}
    assert heard(ChatAnswer(fail, 0), chat({"tool_calls": [part]}, stop="stop"))[1].stop == "tool_calls"


def test_content_in_parts() -> None:
    delta = {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "hi"},
        ]
    }
    events, _ = heard(ChatAnswer(fail, 0), chat(delta))
    assert events == [ReasoningDelta("hm"), TextDelta("hi")]


def test_signed_reasoning_of_a_router_is_joined_and_kept() -> None:
    done = heard(
        ChatAnswer(fail, 0),
        chat(
            {
                "reasoning": "th",
                "reasoning_details": [{"type": "reasoning.text", "text": "th", "index": 0, "format": "f"}],
            },
            {
                "reasoning": "ink",
                "reasoning_details": [{"type": "reasoning.text", "text": "ink", "index": 0}],
            },
            {"reasoning_details": [{"type": "reasoning.text", "signature": "sig", "index": 0}]},
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "zz", "index": 1}]},
        ),
    )[1]
    assert done.message.reasoning == "think"
    assert json.loads(done.message.opaque) == {
        "chat": {
            "reasoning_details": [
                {"type": "reasoning.text", "text": "think", "index": 0, "format": "f", "signature": "sig"},
                {"type": "reasoning.encrypted", "data": "zz", "index": 1},
            ]
        }
    }


def test_a_signature_on_a_call_is_kept() -> None:
    part = {
        "index": 0,
        "id": "a",
        "type": "function",
        "function": {"name": "read", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "sig"}},
    }
    done = heard(ChatAnswer(fail, 0), chat({"tool_calls": [part]}))[1]
    assert json.loads(done.message.opaque)["chat"]["calls"] == {"0": {"extra_content": part["extra_content"]}}


@pytest.mark.parametrize("data", ['{"error": {"message": "boom"}}', "{not json"])
def test_an_error_in_the_midst(data: str) -> None:
    with pytest.raises(ModelError, match="failed"):
        list(ChatAnswer(fail, 0).take(Event("", data)))
    with pytest.raises(ModelError, match="failed"):
        list(MessagesAnswer(fail, 0).take(Event("error", data)))


def test_an_answer_that_breaks_off_is_not_whole() -> None:
    for answer in (ChatAnswer(fail, 0), MessagesAnswer(fail, 0)):
        assert not answer.is_whole
    answer = ChatAnswer(fail, 0)
    list(answer.take(Event("", json.dumps(chat({"content": "x"})[0]))))
    assert not answer.is_whole


def message(*blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str = "end_turn") -> list[Any]:
    usage = {
        "input_tokens": 21,
        "cache_creation_input_tokens": 188,
        "cache_read_input_tokens": 1000,
        "cache_creation": {"ephemeral_5m_input_tokens": 88, "ephemeral_1h_input_tokens": 100},
        "output_tokens": 1,
    }
    chunks: list[Any] = [{"type": "message_start", "message": {"id": "msg_1", "model": "m", "usage": usage}}]
    for index, (start, deltas) in enumerate(blocks):
        chunks.append({"type": "content_block_start", "index": index, "content_block": start})
        chunks.append({"type": "ping"})
        chunks += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        chunks.append({"type": "content_block_stop", "index": index})
    told = {"output_tokens": 393, "input_tokens": None}
    chunks.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": told})
    return [*chunks, {"type": "message_stop"}]


def test_a_message_with_thinking_text_and_calls() -> None:
    events, done = heard(
        MessagesAnswer(fail, 0),
        message(
            (
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    {"type": "thinking_delta", "thinking": "Let me"},
                    {"type": "thinking_delta", "thinking": " see"},
                    {"type": "signature_delta", "signature": "EqQB"},
                ],
            ),
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "I look"}]),
            (
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}},
                [
                    {"type": "input_json_delta", "partial_json": ""},
                    {"type": "input_json_delta", "partial_json": '{"path":'},
                    {"type": "input_json_delta", "partial_json": ' "a"}'},
                ],
            ),
            ({"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}, []),
            stop="tool_use",
        ),
    )
    assert events == [ReasoningDelta("Let me"), ReasoningDelta(" see"), TextDelta("I look")]
    calls = (ToolCall("toolu_1", "read", '{"path": "a"}'), ToolCall("toolu_2", "now", "{}"))
    opaque = done.message.opaque
    assert done == Completed(
        Message("assistant", "I look", tool_calls=calls, reasoning="Let me see", opaque=opaque),
        Usage(input=1209, cache_read=1000, cache_write=188, output=393, cache_write_long=100),
        "tool_calls",
        "msg_1",
        "m",
    )
    assert json.loads(opaque)["anthropic"] == [
        {"type": "thinking", "thinking": "Let me see", "signature": "EqQB"},
        {"type": "text", "text": "I look"},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
        {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}},
    ]


def test_a_message_without_thinking_keeps_nothing_opaque() -> None:
    done = heard(
        MessagesAnswer(fail, 0),
        message(({"type": "text", "text": "He"}, [{"type": "text_delta", "text": "llo"}]), stop="max_tokens"),
    )[1]
    assert (done.message, done.stop) == (Message("assistant", "Hello"), "length")


def test_events_of_a_kind_not_known_are_passed_over() -> None:
    chunks = message(({"type": "text", "text": "x"}, [{"type": "citations_delta", "citation": {}}]))
    assert heard(MessagesAnswer(fail, 0), [{"type": "later"}, *chunks])[1].message.text == "x"


HALVES = ["a\ud83d", "\ude00b", "\ud83d", "c\ude00", "d\ud83d"]


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_a_character_that_comes_in_halves_is_whole(field: str) -> None:
    events, done = heard(ChatAnswer(fail, 4), chat(*({field: piece} for piece in HALVES)))
    said = "a😀b\ufffdc\ufffdd"
    assert "".join(e.text for e in events if isinstance(e, TextDelta | ReasoningDelta)) == said
    assert said + "\ufffd" in (done.message.text, done.message.reasoning)


def test_a_character_that_comes_in_halves_is_whole_on_the_messages_wire() -> None:
    def piece(text: str) -> dict[str, Any]:
        delta = {"type": "text_delta", "text": text}
        return {"type": "content_block_delta", "index": 0, "delta": delta}

    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    events, done = heard(MessagesAnswer(fail, 4), [start, *map(piece, HALVES), {"type": "message_stop"}])
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == done.message.text
    assert done.message.text == "a😀b\ufffdc\ufffdd"


def test_names_ids_and_arguments_can_be_encoded() -> None:
    (call,) = called({"id": "i\ud83d", "function": {"name": "n\ud83d", "arguments": '{"p": "\ud83d"}'}})
    assert call == ToolCall("i\ufffd", "n\ufffd", '{"p": "\ufffd"}')


def test_no_two_calls_of_an_answer_have_one_id() -> None:
    def part(index: int, name: str) -> dict[str, Any]:
        return {"index": index, "id": "c", "function": {"name": name, "arguments": "{}"}}

    assert [c.id for c in called(part(0, "a"), part(1, "b"), part(2, "d"))] == ["c", "c_1", "c_2"]
