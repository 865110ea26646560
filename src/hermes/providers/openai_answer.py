"""A streamed answer of the chat-completions wire, put together from its pieces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hermes.errors import ModelError
from hermes.messages import (
    Completed,
    Message,
    ModelEvent,
    PromptRead,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCall,
    Trace,
    Usage,
)
from hermes.providers.halves import Halves
from hermes.providers.openai_chat import pack_opaque
from hermes.providers.sse import Event
from hermes.text import paired

_STOPS: dict[str, StopReason] = {
    "stop": "end",
    "eos": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "refused",
}

PROGRESS_TOKENS = 256
"""What is read of a prompt in less than a few seconds by any model is not told of."""

Fail = Callable[[object], ModelError]
"""Makes the error for what a provider reports in the midst of an answer."""


class ChatAnswer:
    """Takes the events of one answer. `serial` makes the ids of calls to which the provider gives none."""

    def __init__(self, fail: Fail, serial: int) -> None:
        self.finished = False
        self._fail = fail
        self._serial = serial
        self._text, self._reasoning = Halves(), Halves()
        self._calls: list[_Call] = []
        self._details: list[dict[str, Any]] = []
        self._stop = ""
        self._usage: Mapping[str, Any] = {}
        self._id = self._model = ""
        self._route: dict[str, str] = {}

    def take(self, event: Event) -> Iterator[ModelEvent]:
        if event.data.strip() == "[DONE]":
            self.finished = True
            return
        try:
            data = json.loads(event.data)
        except ValueError:
            raise self._fail(f"not JSON: {event.data[:200]}") from None
        if isinstance(data, Mapping):
            yield from self.chunk(data)

    def chunk(self, data: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """Take one chunk, or a whole answer of a server that does not stream."""
        if data.get("error"):
            raise self._fail(data["error"])
        self._id = data.get("id") or self._id
        self._model = data.get("model") or self._model
        self._route |= {n: str(data[n]) for n in ("provider", "system_fingerprint") if data.get(n)}
        self._usage = data.get("usage") or (data.get("x_groq") or {}).get("usage") or self._usage
        if told := data.get("prompt_progress"):
            yield from _progress(told)
        for choice in (data.get("choices") or ())[:1]:
            self._usage = choice.get("usage") or self._usage
            self._stop = choice.get("finish_reason") or self._stop
            yield from self._delta(choice.get("delta") or choice.get("message") or {})

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning") or ""
        content = delta.get("content") or ""
        if isinstance(content, list):  # parts, as Mistral has them
            reasoning += "".join(_texts(content, "thinking"))
            content = "".join(_texts(content, "text"))
        if isinstance(reasoning, str) and (whole := self._reasoning.add(reasoning)):
            yield ReasoningDelta(whole)
        if whole := self._text.add(content or delta.get("refusal") or ""):
            yield TextDelta(whole)
        for part in delta.get("reasoning_details") or ():
            self._detail(part)
        for part in delta.get("tool_calls") or ():
            self._call(part)

    def _call(self, part: Mapping[str, Any]) -> None:
        """A piece of a call: it goes on with the last one unless index or id say that it is another."""
        function = part.get("function") or {}
        index, call_id = part.get("index"), part.get("id") or ""
        call = next((c for c in reversed(self._calls) if c.index == index), None)
        if call is None or (call_id and call.id and call_id != call.id):
            call = _Call(index)
            self._calls.append(call)
        call.id = call.id or call_id
        call.name = call.name or function.get("name") or ""
        arguments = function.get("arguments")
        call.arguments += (
            arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""
        )
        call.extra |= {k: v for k, v in part.items() if k not in ("index", "id", "type", "function") and v}

    def _detail(self, part: dict[str, Any]) -> None:
        """A piece of signed reasoning: texts of one block are joined, the rest is taken over."""
        last = self._details[-1] if self._details else None
        same = last is not None and all(last.get(k) == part.get(k) for k in ("type", "index"))
        if last is None or not same:
            self._details.append(dict(part))
            return
        for name, value in part.items():
            joined = name in ("text", "summary", "data") and isinstance(last.get(name), str)
            last[name] = last[name] + value if joined and isinstance(value, str) else value

    @property
    def is_whole(self) -> bool:
        """Whether the model has said all it wanted to: some servers leave the last event out."""
        return self.finished or bool(self._stop)

    def completed(self) -> Completed:
        calls = tuple(
            ToolCall(call_id, paired(c.name), paired(c.arguments))
            for c, call_id in zip(
                self._calls, own_ids([paired(c.id) for c in self._calls], self._serial), strict=True
            )
        )
        message = Message(
            "assistant",
            str(self._text),
            tool_calls=calls,
            reasoning=str(self._reasoning),
            opaque=paired(pack_opaque(self._details, [c.extra for c in self._calls])),
        )
        stop: StopReason = _STOPS.get(self._stop, "other")
        if calls and stop in ("end", "other"):
            stop = "tool_calls"
        trace = Trace(route=" ".join(self._route.values()))
        return Completed(message, usage_of(self._usage), stop, self._id, self._model, trace)


def own_ids(given: Sequence[str], serial: int) -> list[str]:
    """The ids of the calls of one answer, each its own: a server may leave them out, or give one twice."""
    ids: list[str] = []
    for n, call_id in enumerate(given):
        own = call_id or f"call_{serial}_{n}"
        ids.append(f"{own}_{n}" if own in ids else own)
    return ids


class _Call:
    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id = self.name = self.arguments = ""
        self.extra: dict[str, Any] = {}


def _progress(told: Mapping[str, Any]) -> Iterator[ModelEvent]:
    """How far a server has read, where it has much to read."""
    read, total = _count(told, "processed"), _count(told, "total")
    if total - _count(told, "cache") >= PROGRESS_TOKENS:
        yield PromptRead(read, total)


def usage_of(data: Mapping[str, Any]) -> Usage:
    """Tokens as any provider of this wire reports them; its input counts cached ones."""
    told = data.get("prompt_tokens_details") or data.get("input_tokens_details") or {}
    spoken = data.get("completion_tokens_details") or {}
    return Usage(
        input=_count(data, "prompt_tokens"),
        cache_read=_count(told, "cached_tokens") or _count(data, "prompt_cache_hit_tokens", "cached_tokens"),
        cache_write=_count(told, "cache_write_tokens", "cache_creation_tokens"),
        output=_count(data, "completion_tokens"),
        reasoning=_count(spoken, "reasoning_tokens"),
    )


def _count(data: Mapping[str, Any], *names: str) -> int:
    return next((int(data[n]) for n in names if isinstance(data.get(n), int | float)), 0)


def _texts(parts: list[Any], kind: str) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == kind:
            inner = part.get(kind) or ""
            yield "".join(_texts(inner, "text")) if isinstance(inner, list) else str(inner)
