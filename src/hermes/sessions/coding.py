"""How records look inside a store: short JSON for messages, fragments as what differs from their text."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from hermes.errors import BytesGone, StoreError
from hermes.messages import Annex, Message, ToolCall

_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_DEFAULT = Message("user")
_OTHER = tuple(f.name for f in fields(Message) if f.name not in ("role", "text"))
_RAW, _DEFLATED, GONE = b"\0", b"\1", b"\2"
"""How stored bytes begin: as they are, deflated, or taken away by the retention policy but for a digest."""
LONG = 32768
"""Bodies of more bytes are packed in a hurry."""
NEAR = 8
"""Fragments of no more messages than this are kept as what differs from their texts."""


def compact(value: object) -> str:
    """JSON without blanks, keys in order."""
    return _JSON.encode(value)


def message_data(message: Message) -> str:
    """All of a message but its role and text; what is as usual is left out."""
    found: dict[str, Any] = {n: v for n in _OTHER if (v := getattr(message, n)) != getattr(_DEFAULT, n)}
    if message.annex:
        found["annex"] = [[a.kind, a.text, a.place] for a in message.annex]
    if message.tool_calls:
        found["tool_calls"] = [[c.id, c.name, c.arguments] for c in message.tool_calls]
    return compact(found) if found else ""


def message_from(role: Any, text: str, data: str) -> Message:
    """The message again."""
    if not data:
        return Message(role, text)
    found = json.loads(data)
    if "annex" in found:
        found["annex"] = tuple(Annex(*a) for a in found["annex"])
    if "tool_calls" in found:
        found["tool_calls"] = tuple(ToolCall(*c) for c in found["tool_calls"])
    return Message(role, text, **found)


def pack(body: bytes, texts: Iterable[str] = ()) -> bytes:
    """Bytes made short. What stands in `texts` costs next to nothing; `unpack` must be given the same."""
    known = "".join(texts).encode()
    # The dictionary is all that a deflate window reaches; a small memory level is quicker to set up.
    # What a session begins with is long, and waited for: a tenth more bytes, in a quarter of the time.
    level, memory = (1 if len(body) > LONG else 6), (5 if len(body) < 4096 else 8)
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15, memory, zdict=known[-32768:])
    packed = deflate.compress(body) + deflate.flush()
    return _DEFLATED + packed if len(packed) < len(body) else _RAW + body


def stub(digest: str, length: int) -> bytes:
    """What is left of bytes that were taken away."""
    return GONE + bytes.fromhex(digest) + length.to_bytes(8, "big")


def read_stub(packed: bytes) -> tuple[str, int]:
    """Digest and length of bytes that were taken away; "" and 0 when they were not."""
    if packed[:1] != GONE:
        return "", 0
    return packed[1:33].hex(), int.from_bytes(packed[33:41], "big")


def unpack(packed: bytes, texts: Iterable[str] = ()) -> bytes:
    """The bytes again; StoreError when they were damaged, or are kept no longer."""
    if packed[:1] == GONE:
        digest, length = read_stub(packed)
        raise BytesGone(
            f"these {length:,} bytes are kept no longer (cache.keep_bodies); digest {digest}", length
        )
    if packed[:1] == _RAW:
        return packed[1:]
    known = "".join(texts).encode()
    inflate = zlib.decompressobj(-15, zdict=known[-32768:])
    try:
        return inflate.decompress(packed[1:]) + inflate.flush()
    except zlib.error as error:
        raise StoreError(f"stored bytes are damaged ({error}); see: hermes sessions check") from None
