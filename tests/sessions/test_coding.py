"""How records look inside a store: what is put in comes out again, and usual things are short."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import StoreError
from hermes.messages import Annex, Message, ToolCall
from hermes.sessions.coding import message_data, message_from, pack, unpack

texts = st.lists(st.text(st.characters(exclude_categories=("Cs",))), max_size=3)


@given(texts=texts, which=st.integers(0, 2), before=st.binary(max_size=200), after=st.binary(max_size=200))
def test_packed_bytes_come_out_again(texts: list[str], which: int, before: bytes, after: bytes) -> None:
    quoted = json.dumps(texts[which] if which < len(texts) else "", ensure_ascii=False).encode()
    body = before + quoted + after
    assert unpack(pack(body, texts), texts) == body


def test_a_text_in_its_frame_is_kept_as_the_frame() -> None:
    text = 'She said "no", \\ and went.\n'
    body = b'{"role":"user","content":' + json.dumps(text).encode() + b"}"
    assert pack(body, ["other", text]) == b'\3\1\x19{"role":"user","content":}'
    with pytest.raises(StoreError, match="stored bytes are damaged"):
        unpack(pack(body, ["other", text]), ["other"])


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        (Message("user", "hi", id="m7", time="2026-03-01T12:00:00Z"), "2026-03-01T12:00:00Z"),
        (Message("user", "hi", id="m7", time="noon"), '{"id":"m7","time":"noon"}'),
        (Message("user", "hi", id="m8", time="2026"), '{"id":"m8","time":"2026"}'),
        (Message("user", "hi", id="m7", time="2026", error=True), '{"error":true,"id":"m7","time":"2026"}'),
        (Message("user", "hi"), ""),
        (
            Message("assistant", "hi", (Annex("clock", "12:00"),), (ToolCall("1", "ls", "{}"),)),
            '{"annex":[["clock","12:00","after"]],"tool_calls":[["1","ls","{}"]]}',
        ),
    ],
)
def test_a_message_is_its_text_and_what_is_not_as_usual(message: Message, kept: str) -> None:
    assert message_data(message, 7) == kept
    assert message_from(message.role, 7, message.text, kept) == message
