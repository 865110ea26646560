"""A strict reading of the rules for cache marks, on its own: it shares no code with what places them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

MOST = 4
LOOK_BACK = 20
SECONDS = {"5m": 300, "1h": 3600}
CHARS_PER_TOKEN = 2.0
"""Fewer characters than any text has to a token: what is too short by this is too short."""


class Rules:
    """Holds the requests of one session, in order, against the rules."""

    def __init__(self, minimum: int) -> None:
        self.minimum = minimum
        self.written: set[bytes] = set()
        self.newest = b""

    def check(self, body: bytes) -> None:
        """AssertionError when a request breaks a rule, or cannot reach what the one before it wrote."""
        asked = json.loads(body)
        by_itself = asked.pop("cache_control", None)
        places = list(_places(asked))
        marks = [at for at, (_, _, mark, _) in enumerate(places) if mark]
        lifetimes = [SECONDS[places[at][2]] for at in marks]
        assert len(marks) + bool(by_itself) <= MOST, "at most four marks"
        assert not by_itself or places[-1][2] in ("", by_itself.get("ttl", "5m")), "one lifetime on a block"
        assert lifetimes == sorted(lifetimes, reverse=True), "the longer lifetime stands first"
        for at in marks:
            assert places[at][3] not in ("thinking", "redacted_thinking"), "no mark on thinking"
            assert places[at][1] >= self.minimum * CHARS_PER_TOKEN, "no mark below the minimum"
        if self.newest:
            reached = {places[back][0] for at in marks for back in range(at, max(at - LOOK_BACK, -1), -1)}
            assert self.newest in reached, "the newest entry of the request before is within reach"
        self.written |= {places[at][0] for at in marks}
        self.newest = places[marks[-1]][0] if marks else self.newest


def _places(body: dict[str, Any]) -> Iterator[tuple[bytes, int, str, str]]:
    """For each block: digest of all up to it, characters up to it, the lifetime of its mark, its kind."""
    seen, size = hashlib.md5(), 0
    for where, block in _blocks(body):
        mark = block.pop("cache_control", None)
        assert mark is None or set(mark) <= {"type", "ttl"}
        assert mark is None or mark["type"] == "ephemeral"
        assert mark is None or block.get("text", "x"), "no mark on an empty text"
        text = where + json.dumps(block, sort_keys=True, ensure_ascii=False)
        seen.update(text.encode())
        size += len(text)
        yield seen.digest(), size, mark.get("ttl", "5m") if mark else "", block.get("type", "")


def _blocks(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from (("tools", tool) for tool in body.get("tools", ()))
    yield from (("system", block) for block in body.get("system", ()))
    for message in body["messages"]:
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        yield from ((message["role"], block) for block in content or ())
        yield from ((message["role"], call) for call in message.get("tool_calls", ()))
