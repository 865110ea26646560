"""A streamed answer of the Messages wire, put together from its pieces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hermes.errors import ModelError
from hermes.messages import (
    Completed,
    Message,
    ModelEvent,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCall,
    Trace,
    Usage,
)
from hermes.providers.anthropic import pack_opaque
from hermes.providers.halves import Halves
from hermes.providers.openai_answer import own_ids
from hermes.providers.sse import Event
from hermes.text import paired

_STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "pause_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
_GROWING = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("arguments", "partial_json"),
}
"""For each kind of delta, the field of the block that grows and the field of the delta that it grows by."""

Fail = Callable[[object], ModelError]


class MessagesAnswer:
    """Takes the events of one answer."""

    def __init__(self, fail: Fail, serial: int) -> None:
        self.finished = False
        self._fail = fail
        self._serial = serial
        self._blocks: dict[int, dict[str, Any]] = {}
        self._torn: dict[int, Halves] = {}
        self._usage: dict[str, Any] = {}
        self._stop = ""
        self._id = self._model = self._told = ""

    def take(self, event: Event) -> Iterator[ModelEvent]:
        try:
            data = json.loads(event.data)
        except ValueError:
            raise self._fail(f"not JSON: {event.data[:200]}") from None
        match data.get("type") or event.name:
            case "error":
                raise self._fail(data.get("error") or data)
            case "message_start":
                self._message(data.get("message") or {})
            case "content_block_start":
                self._blocks[data["index"]] = dict(data["content_block"])
                yield from self._first(data["content_block"])
            case "content_block_delta":
                yield from self._delta(data["index"], data["delta"])
            case "message_delta":
                self._stop = (data.get("delta") or {}).get("stop_reason") or self._stop
                self._count(data.get("usage"))
                self._diagnosed(data)
            case "message_stop":
                self.finished = True

    def chunk(self, data: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """Take a whole answer of a server that does not stream."""
        if data.get("type") == "error" or data.get("error"):
            raise self._fail(data.get("error") or data)
        self._message(data)
        self._stop = data.get("stop_reason") or ""
        self._blocks = {n: dict(block) for n, block in enumerate(data.get("content") or ())}
        for block in self._blocks.values():
            yield from self._first(block)
        self.finished = True

    def _message(self, message: Mapping[str, Any]) -> None:
        self._id = message.get("id") or ""
        self._model = message.get("model") or ""
        self._count(message.get("usage"))
        self._diagnosed(message)

    def _diagnosed(self, data: Mapping[str, Any]) -> None:
        """What the provider says of its cache; null says that nothing differs."""
        if "diagnostics" in data:
            self._told = json.dumps(data["diagnostics"], separators=(",", ":"))

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        """The last count of each kind stands: they are told twice, the second time as totals."""
        self._usage |= {name: value for name, value in (usage or {}).items() if value is not None}

    def _first(self, block: Mapping[str, Any]) -> Iterator[ModelEvent]:
        if text := block.get("text"):
            yield TextDelta(paired(text))
        if thinking := block.get("thinking"):
            yield ReasoningDelta(paired(thinking))

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        kind = delta.get("type", "")
        if kind not in _GROWING:
            return
        block = self._blocks.setdefault(index, {})
        field, source = _GROWING[kind]
        piece = self._torn.setdefault(index, Halves()).add(delta.get(source) or "")
        block[field] = (block.get(field) or "") + piece
        if kind == "text_delta" and piece:
            yield TextDelta(piece)
        elif kind == "thinking_delta" and piece:
            yield ReasoningDelta(piece)

    @property
    def is_whole(self) -> bool:
        return self.finished or bool(self._stop)

    def completed(self) -> Completed:
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        used = [b for b in blocks if b.get("type") == "tool_use"]
        ids = own_ids([b.get("id") or "" for b in used], self._serial)
        calls = tuple(
            ToolCall(call_id, paired(block.get("name", "")), paired(_arguments(block)))
            for call_id, block in zip(ids, used, strict=True)
        )
        message = Message(
            "assistant",
            paired("".join(b.get("text") or "" for b in blocks if b.get("type") == "text")),
            tool_calls=calls,
            reasoning=paired("\n\n".join(b["thinking"] for b in blocks if b.get("thinking"))),
            opaque=pack_opaque(blocks, calls),
        )
        stop: StopReason = _STOPS.get(self._stop, "other")
        return Completed(message, usage_of(self._usage), stop, self._id, self._model, Trace(told=self._told))


def _arguments(block: Mapping[str, Any]) -> str:
    """The arguments as the model wrote them; those that came at once, when none came in pieces."""
    written = block.get("arguments")
    return written if written is not None else json.dumps(block.get("input") or {}, ensure_ascii=False)


def usage_of(data: Mapping[str, Any]) -> Usage:
    """Tokens of a call: what this provider calls input are only those that the cache had no part in."""

    def count(name: str, among: Mapping[str, Any] = data) -> int:
        value = among.get(name)
        return int(value) if isinstance(value, int | float) else 0

    read, written = count("cache_read_input_tokens"), count("cache_creation_input_tokens")
    long = count("ephemeral_1h_input_tokens", data.get("cache_creation") or {})
    return Usage(
        input=count("input_tokens") + read + written,
        cache_read=read,
        cache_write=written,
        output=count("output_tokens"),
        cache_write_long=long,
    )
