"""How records look inside a store: short JSON for messages, fragments as what differs from their text."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from hermes.errors import BytesGone, StoreError
from hermes.messages import Annex, Message, ToolCall

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_OTHER = tuple(f.name for f in fields(Message) if f.name not in ("role", "text"))
_others = attrgetter(*_OTHER)
_USUAL = _others(Message("user"))  # the last two are the id and the time
_RAW, _DEFLATED, GONE, _AROUND = b"\0", b"\1", b"\2", b"\3"
"""How stored bytes begin: as they are, deflated, taken away by the retention policy but for a digest, or as
what stands around a text: which text, in a byte, how many bytes before it, in another, and all of them."""
LONG = 32768
"""Bodies of more bytes are packed in a hurry."""
FRAME = 128
"""Around a text at most so many bytes are kept as they are; more are worth being deflated."""
NEAR = 8
"""Fragments of no more messages than this are kept as what differs from their texts."""


def compact(value: object) -> str:
    """JSON without blanks, keys in order."""
    return _JSON.encode(value)


def message_data(message: Message, seq: int) -> str:
    """All of a message but its role and text; what is as usual is left out. Of most that leaves the time."""
    values = _others(message)
    if values[:-2] == _USUAL[:-2] and message.id == f"m{seq}" and message.time[:1].isdigit():
        return message.time
    found: dict[str, Any] = {n: v for n, v, usual in zip(_OTHER, values, _USUAL, strict=True) if v != usual}
    if message.annex:
        found["annex"] = [[a.kind, a.text, a.place] for a in message.annex]
    if message.tool_calls:
        found["tool_calls"] = [[c.id, c.name, c.arguments] for c in message.tool_calls]
    return compact(found) if found else ""


def message_from(role: Any, seq: int, text: str, data: str) -> Message:
    """The message again."""
    if not data:
        return Message(role, text)
    if data[0] != "{":
        return Message(role, text, id=f"m{seq}", time=data)
    try:
        found = json.loads(data)
        if "annex" in found:
            found["annex"] = tuple(Annex(*a) for a in found["annex"])
        if "tool_calls" in found:
            found["tool_calls"] = tuple(ToolCall(*c) for c in found["tool_calls"])
        return Message(role, text, **found)
    except (ValueError, TypeError) as error:
        raise damaged(f"message {seq} of a session", error) from None


def damaged(what: str, error: Exception) -> StoreError:
    return StoreError(f"{what} is stored damaged ({error}); see: hermes sessions check")


def pack(body: bytes, texts: Sequence[str] = ()) -> bytes:
    """Bytes made short. What stands in `texts` costs next to nothing; `unpack` must be given the same."""
    for place, text in enumerate(texts):  # most bodies are a text as JSON has it, in a short frame
        quoted = compact(text).encode()
        if 0 <= len(body) - len(quoted) < FRAME and (start := body.find(quoted)) >= 0:
            return _AROUND + bytes((place, start)) + body[:start] + body[start + len(quoted) :]
    return deflated((body,), texts)


def deflated(pieces: Sequence[bytes], texts: Sequence[str] = ()) -> bytes:
    """Bytes that come in pieces made short; `unpack` gives them back in one."""
    length = sum(map(len, pieces))
    known = "".join(texts).encode()
    # The dictionary is all that a deflate window reaches; a small memory level is quicker to set up.
    # What a session begins with is long, and waited for: a tenth more bytes, in a quarter of the time.
    level, memory = (1 if length > LONG else 6), (5 if length < 4096 else 8)
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15, memory, zdict=known[-32768:])
    packed = b"".join((*map(deflate.compress, pieces), deflate.flush()))
    return _DEFLATED + packed if len(packed) < length else _RAW + b"".join(pieces)


def stub(digest: str, length: int) -> bytes:
    """What is left of bytes that were taken away."""
    return GONE + bytes.fromhex(digest) + length.to_bytes(8, "big")


def read_stub(packed: bytes) -> tuple[str, int]:
    """Digest and length of bytes that were taken away; "" and 0 when they were not."""
    if packed[:1] != GONE:
        return "", 0
    return packed[1:33].hex(), int.from_bytes(packed[33:41], "big")


def unpack(packed: bytes, texts: Sequence[str] = ()) -> bytes:
    """The bytes again; StoreError when they were damaged, or are kept no longer."""
    if packed[:1] == GONE:
        digest, length = read_stub(packed)
        raise BytesGone(
            f"these {length:,} bytes are kept no longer (cache.keep_bodies); digest {digest}", length
        )
    if packed[:1] == _RAW:
        return packed[1:]
    if packed[:1] == _AROUND and packed[1] < len(texts):
        place, start = packed[1], packed[2] + 3
        return packed[3:start] + compact(texts[place]).encode() + packed[start:]
    known = "".join(texts).encode()
    inflate = zlib.decompressobj(-15, zdict=known[-32768:])
    try:
        return inflate.decompress(packed[1:]) + inflate.flush()
    except zlib.error as error:
        raise StoreError(f"stored bytes are damaged ({error}); see: hermes sessions check") from None
