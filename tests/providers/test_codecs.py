"""The bytes of the two wires: golden, valid, the same for ever, append-only."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given

from hermes.contracts import Codec, ModelProfile
from hermes.messages import Message, ModelRequest, ToolCall
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.anthropic import pack_opaque as pack_blocks
from hermes.providers.canonical import arguments_json, foreign_json, json_bytes
from hermes.providers.openai_chat import OpenAiChat, pack_opaque
from tests.providers.talks import CLAUDE, OPENAI, OPENAI_POINTS, ROUTED, STRICT, TALK, request, talks

WIRES: dict[str, tuple[Codec, ModelProfile]] = {
    "openai-chat-1": (OpenAiChat(cache_key=True, limit="max_completion_tokens"), OPENAI),
    "openai-chat-1-points": (OpenAiChat(), OPENAI_POINTS),
    "openai-chat-1-routed": (OpenAiChat(reasoning=True), ROUTED),
    "openai-chat-1-strict": (OpenAiChat(usage=False), STRICT),
    "anthropic-messages-1": (AnthropicMessages(), CLAUDE),
}


def body_of(codec: Codec, profile: ModelProfile, asked: ModelRequest) -> bytes:
    fragments = codec.fragments(asked.messages, profile)
    return codec.head(asked, profile) + b",".join(fragments) + codec.tail(asked, profile)


@pytest.mark.parametrize("name", WIRES)
def test_golden_bytes(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"wire/{name}.json", body_of(*WIRES[name], request()).decode() + "\n")


@pytest.mark.parametrize("name", WIRES)
def test_same_bytes_in_every_process(name: str) -> None:
    code = (
        "import sys; from tests.providers.test_codecs import *;"
        f"sys.stdout.buffer.write(body_of(*WIRES[{name!r}], request()))"
    )
    made = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout
        for seed in ("1", "7")
    ]
    assert made == [body_of(*WIRES[name], request())] * 2


@given(talks)
@example([TALK])
def test_any_talk_is_valid_json_and_only_grows(steps: list[tuple[Message, ...]]) -> None:
    for codec, profile in WIRES.values():
        sent: tuple[bytes, ...] = ()
        said: tuple[Message, ...] = ()
        body = b""
        for step in steps:
            sent += codec.fragments(step, profile, said[-1].role if said else "")
            said += step
            if not sent:
                continue
            asked = request(said)
            tail = codec.tail(asked, profile)
            before, body = body, codec.head(asked, profile) + b",".join(sent) + tail
            assert body.startswith(before.removesuffix(tail))
            json.loads(body)


@given(talks)
def test_a_fragment_knows_nothing_of_later_ones(steps: list[tuple[Message, ...]]) -> None:
    said = tuple(message for step in steps for message in step)
    for codec, profile in WIRES.values():
        whole = codec.fragments(said, profile)
        assert codec.fragments(said, profile) == whole
        end = 0
        for step in steps:
            end += len(step)
            part = codec.fragments(said[:end], profile)
            # Two unsent messages of a person may still become one, where the template is strict.
            settled = max(len(part) - 1, 0) if profile.strict_template else len(part)
            assert part[:settled] == whole[:settled]


@given(talks)
def test_anthropic_gets_what_it_takes(steps: list[tuple[Message, ...]]) -> None:
    codec, profile = WIRES["anthropic-messages-1"]
    said = tuple(message for step in steps for message in step)
    entries = [json.loads(f) for f in codec.fragments(said, profile)]
    assert [e["role"] for e in entries[:1]] in ([], ["user"])
    for at, entry in enumerate(entries):
        assert entry["content"]
        for block in entry["content"]:
            assert block["type"] != "text" or block["text"].strip()
        asked = [b["id"] for b in entry["content"] if b["type"] == "tool_use"]
        if asked:
            told = [b["tool_use_id"] for b in entries[at + 1]["content"] if b["type"] == "tool_result"]
            assert told == asked


def _strict(entries: list[dict[str, Any]]) -> Iterator[str]:
    """What a strict chat template would refuse."""
    allowed = {
        "": {"user"},
        "user": {"assistant"},
        "assistant": {"user", "tool"},
        "tool": {"tool", "assistant"},
    }
    before = ""
    for entry in entries:
        if entry["role"] not in allowed[before]:
            yield f"{entry['role']} after {before or 'nothing'}"
        before = entry["role"]


@given(talks)
@example([(Message("system", "late"),), (Message("user", "x"),), (Message("user", "y"),)])
@example([(Message("assistant", "first"),), (Message("assistant", "again"), Message("system", "s"))])
def test_a_strict_template_gets_turns_in_turn(steps: list[tuple[Message, ...]]) -> None:
    codec, profile = WIRES["openai-chat-1-strict"]
    sent: list[bytes] = []
    last = ""
    for step in steps:
        sent += codec.fragments(step, profile, last)
        last = step[-1].role if step else last
    assert list(_strict([json.loads(f) for f in sent])) == []


def test_unsent_words_are_merged_where_templates_are_strict_and_sent_ones_never() -> None:
    codec, profile = WIRES["openai-chat-1-strict"]
    first = codec.fragments((Message("user", "a"), Message("system", "b")), profile)
    second = codec.fragments((Message("user", "c"),), profile, "system")
    assert [json.loads(f) for f in first + second] == [
        {"role": "user", "content": "a\n\nb"},
        {"role": "assistant", "content": "(no answer)"},
        {"role": "user", "content": "c"},
    ]


def test_a_late_system_message_stays_one_only_where_it_may() -> None:
    late = (Message("system", "s"),)
    assert json.loads(OpenAiChat().fragments(late, OPENAI)[0])["role"] == "system"
    assert json.loads(OpenAiChat().fragments(late, ROUTED)[0])["role"] == "user"
    assert json.loads(AnthropicMessages().fragments(late, CLAUDE)[0])["role"] == "user"


def test_reasoning_is_kept_or_dropped_as_the_codec_says() -> None:
    said = (Message("assistant", "x", reasoning="why"),)
    kept, dropped = OpenAiChat(reasoning=True), OpenAiChat()
    assert (kept.name, dropped.name) == ("openai-chat/1+reasoning", "openai-chat/1")
    assert json.loads(kept.fragments(said, OPENAI)[0])["reasoning_content"] == "why"
    assert b"why" not in dropped.fragments(said, OPENAI)[0]


def test_fields_a_provider_wants_back_come_back() -> None:
    opaque = pack_opaque(
        [{"type": "reasoning.text", "text": "t", "signature": "s"}],
        [{}, {"extra_content": {"google": {"thought_signature": "sig"}}}],
    )
    calls = (ToolCall("1", "a", "{}"), ToolCall("2", "b", "{}"))
    entry = json.loads(
        OpenAiChat(reasoning=True).fragments(
            (Message("assistant", "", tool_calls=calls, reasoning="t", opaque=opaque),), OPENAI
        )[0]
    )
    assert entry == {
        "role": "assistant",
        "content": None,
        "reasoning_details": [{"type": "reasoning.text", "text": "t", "signature": "s"}],
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}},
            {
                "id": "2",
                "type": "function",
                "function": {"name": "b", "arguments": "{}"},
                "extra_content": {"google": {"thought_signature": "sig"}},
            },
        ],
    }


def test_signed_thinking_goes_back_in_its_order_and_unsigned_not_at_all() -> None:
    blocks = [
        {"type": "thinking", "thinking": "a", "signature": "s1"},
        {"type": "text", "text": "look"},
        {"type": "redacted_thinking", "data": "zzz"},
        {"type": "tool_use", "id": "t1", "name": "x", "input": {}},
    ]
    calls = (ToolCall("t1", "x", '{"q": 1}'),)
    opaque = pack_blocks(blocks, calls)
    (fragment,) = AnthropicMessages().fragments(
        (Message("user"), Message("assistant", "look", tool_calls=calls, opaque=opaque)), CLAUDE
    )[1:]
    assert json.loads(fragment)["content"] == [*blocks[:3], {**blocks[3], "input": {"q": 1}}]
    assert pack_blocks([{"type": "thinking", "thinking": "a"}, blocks[1]], ()) == ""


def test_what_one_provider_made_opaque_is_nothing_to_another() -> None:
    said = (Message("user", "u"), Message("assistant", "x", opaque='{"anthropic":[{"type":"thinking"}]}'))
    assert json.loads(OpenAiChat().fragments(said, OPENAI)[1]) == {"role": "assistant", "content": "x"}
    said = (Message("user", "u"), Message("assistant", "x", opaque='{"chat":{}}'))
    assert json.loads(AnthropicMessages().fragments(said, CLAUDE)[1])["content"] == [
        {"type": "text", "text": "x"}
    ]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("", "{}"),
        ('{"a": 1.50}', '{"a": 1.50}'),
        ('{"a": 1', '{"malformed_arguments":"{\\"a\\": 1"}'),
        ("[1]", '{"malformed_arguments":"[1]"}'),
        ('{"a": NaN}', '{"malformed_arguments":"{\\"a\\": NaN}"}'),
        ('{"a": "\\ud83d"}', '{"a":"\ufffd"}'),
        ("[" * 100_000, '{"malformed_arguments":"' + "[" * 100_000 + '"}'),
    ],
)
def test_arguments_are_an_object_whatever_the_model_wrote(written: str, sent: str) -> None:
    assert arguments_json(written) == sent


def test_ids_of_another_provider_are_made_to_fit() -> None:
    said = (
        Message("user", "u"),
        Message("assistant", "", tool_calls=(ToolCall("functions.read:0", "read", "{}"),)),
        Message("tool", "r", call_id="functions.read:0"),
    )
    _, asked, told = (json.loads(f)["content"][0] for f in AnthropicMessages().fragments(said, CLAUDE))
    assert (asked["id"], told["tool_use_id"]) == ("functions_read_0", "functions_read_0")


@pytest.mark.parametrize(
    ("called", "sent"),
    [
        ("read_file", "read_file"),
        ("mcp__a__b-c", "mcp__a__b-c"),
        ("", "unnamed"),
        ("functions.read file\n", "functions_read_file_"),
        ("é" * 99, "_" * 64),
    ],
)
def test_a_name_that_no_tool_can_have_is_refused_by_nobody(called: str, sent: str) -> None:
    said = (Message("assistant", "", tool_calls=(ToolCall("c", called, "{}"),)),)
    (chat,), (block,) = (
        codec.fragments(said, profile, "user")
        for codec, profile in ((OpenAiChat(), OPENAI), (AnthropicMessages(), CLAUDE))
    )
    assert json.loads(chat)["tool_calls"][0]["function"]["name"] == sent
    assert json.loads(block)["content"][0]["name"] == sent


def test_whatever_reads_like_a_mark_is_spelled_otherwise() -> None:
    schema = '{"properties":{"cache_control":{"type":"ephemeral"},"prompt_cache_breakpoint":{}}}'
    spelled = foreign_json(schema)
    assert b'"cache_control"' not in spelled
    assert b'"prompt_cache_breakpoint"' not in spelled
    assert json.loads(spelled) == json.loads(schema)


def test_json_is_canonical() -> None:
    assert json_bytes({"b": "é\ud83d", "a": [1, None]}) == '{"b":"é\ufffd","a":[1,null]}'.encode()


def test_equal_stable_tiers_have_equal_cache_keys() -> None:
    codec = OpenAiChat(cache_key=True)

    def key(*system: str, **fields: str) -> str:
        return str(json.loads(body_of(codec, OPENAI, request(system=system, **fields)))["prompt_cache_key"])

    assert key("S", "c", "v") == key("S", "x", "y") != key("T", "c", "v")
    assert key("S", cache_key="mine") == "mine"


def test_a_session_id_is_never_sent_as_text() -> None:
    for codec, profile in WIRES.values():
        assert b"sess-7" not in body_of(codec, profile, request(session_id="sess-7", epoch="compaction"))
