"""A provider on this machine: both wires over real HTTP and SSE, with cache rules and a clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from hermes.contracts import CacheRules
from hermes.messages import ToolCall, Usage
from hermes.providers.accounting import BadMarks, PromptCache

NO_CACHE = CacheRules(kind="none")


@dataclass
class Clock:
    """Seconds that move when told to."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Reply:
    """What the server answers. `piece` cuts the stream into writes of so many bytes; `newline` ends lines.

    `drop_after` so many events the connection is cut; `error` is then sent as an event in place of the rest.
    A `body`, or a `status` other than 200, is sent as JSON alone. `hold` waits for ever after what is sent.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    piece: int = 0
    newline: str = "\n"
    drop_after: int | None = None
    error: Any = None
    hold: bool = False


@dataclass
class Call:
    """A request as the server got it."""

    path: str
    headers: dict[str, str]
    body: bytes
    usage: Usage = field(default_factory=Usage)


class Loopback:
    """The server; `replies` are given in order, `calls` are what came. `proxy` stands before the cache."""

    def __init__(
        self,
        replies: Iterable[Reply | str],
        rules: CacheRules = NO_CACHE,
        models: tuple[str, ...] = ("scripted-1",),
    ) -> None:
        self.clock = Clock()
        self.rules = rules
        self.cache = PromptCache(rules, self.clock)
        self.worker = "fp_1"
        self.workers = {self.worker: self.cache}
        self.proxy: Callable[[bytes], bytes] = lambda body: body
        self.replies = iter(replies)
        self.models = models
        self.calls: list[Call] = []
        self.asked: dict[str, Any] = {}
        self.connections = 0
        self.hung_up = 0
        self.base_url = ""

    def serve_from(self, worker: str) -> None:
        """From now on another machine answers, with a cache of its own."""
        self.worker = worker
        self.cache = self.workers.setdefault(worker, PromptCache(self.rules, self.clock))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Loopback]:
        open_ones: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            task = asyncio.current_task()
            assert task is not None
            open_ones[task] = writer
            try:
                while await self._serve_one(reader, writer):
                    pass
            except (ConnectionError, asyncio.IncompleteReadError):
                self.hung_up += 1
            finally:
                writer.close()
                del open_ones[task]

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield self
        finally:
            server.close()
            tasks = tuple(open_ones)
            for writer in open_ones.values():
                writer.close()
            await asyncio.gather(*tasks)

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; false when the connection is at its end."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return False
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {n.lower(): v for n, _, v in (line.partition(": ") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        path = urlsplit(first.split(" ")[1]).path.removeprefix("/v1")  # a proxy gets the whole address
        if path == "/models":
            data = [{"id": name, "object": "model"} for name in self.models]
            return await _send_json(writer, 200, {"object": "list", "data": data})
        call = Call(path, headers, body)
        self.calls.append(call)
        reply = next(self.replies)
        reply = Reply(reply) if isinstance(reply, str) else reply
        if reply.status != 200 or reply.body is not None:
            return await _send_json(writer, reply.status, reply.body, reply.headers)
        json.loads(body)
        try:
            call.usage = self.cache.answer(self.proxy(body))
        except BadMarks as error:
            told = {"type": "error", "error": {"type": "invalid_request_error", "message": str(error)}}
            return await _send_json(writer, 400, told)
        told = self._compared(json.loads(body))
        if not json.loads(body).get("stream", True):
            if reply.hold:
                await reader.read()  # until the caller hangs up
                self.hung_up += 1
                return False
            return await _send_json(writer, 200, message_whole(call.usage))
        events = (
            chat_events(reply, call.usage, self.worker, self.models[0])
            if path == "/chat/completions"
            else message_events(reply, call.usage, self.models[0], f"msg_{len(self.calls)}", told)
        )
        return await self._stream(reader, writer, reply, list(events))

    def _compared(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What a message says of its cache, when it is asked to."""
        self.asked[f"msg_{len(self.calls)}"] = asked
        if "diagnostics" not in asked:
            return {}
        name = asked["diagnostics"]["previous_message_id"]
        if name is None:
            return {"diagnostics": None}
        if name not in self.asked:
            return {"diagnostics": {"cache_miss_reason": {"type": "previous_message_not_found"}}}
        for part in ("model", "tools", "system"):
            if unmarked(asked.get(part)) != unmarked(self.asked[name].get(part)):
                reason = {"type": f"{part}_changed", "cache_missed_input_tokens": 2000}
                return {"diagnostics": {"cache_miss_reason": reason}}
        return {"diagnostics": None}

    async def _stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: Reply, events: list[str]
    ) -> bool:
        whole = reply.drop_after is None
        if not whole:
            events = events[: reply.drop_after]
            if reply.error is not None:
                events.append(sse(reply.error, "error" if "type" in reply.error else ""))
        data = "".join(events).replace("\n", reply.newline).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
            b"transfer-encoding: chunked\r\nx-request-id: req-1\r\n\r\n"
        )
        for at in range(0, len(data), reply.piece or len(data)):
            piece = data[at : at + (reply.piece or len(data))]
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
        if reply.hold:
            await reader.read()  # until the caller hangs up
            self.hung_up += 1
            return False
        if not whole and reply.error is None:
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


def unmarked(value: Any) -> Any:
    """A part of a request without its cache marks."""
    if isinstance(value, list):
        return [unmarked(v) for v in value]
    if isinstance(value, dict):
        return {k: unmarked(v) for k, v in value.items() if k != "cache_control"}
    return value


async def _send_json(
    writer: asyncio.StreamWriter, status: int, data: Any, headers: Mapping[str, str] | None = None
) -> bool:
    body = data.encode() if isinstance(data, str) else json.dumps(data).encode()
    kind = "text/html" if isinstance(data, str) else "application/json"
    lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()
    return True


def sse(data: Any, name: str = "") -> str:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return (f"event: {name}\n" if name else "") + f"data: {text}\n\n"


def _pieces(text: str, size: int = 7) -> Iterable[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def chat_events(reply: Reply, usage: Usage, worker: str = "fp_1", model: str = "scripted-1") -> Iterable[str]:
    """A streamed chat completion as its documentation shows it, with a comment as routers send them."""
    chat = _chat | {"system_fingerprint": worker, "model": model}

    def chunk(delta: dict[str, Any], stop: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": stop}
        return sse(chat | {"choices": [choice]})

    yield ": PROCESSING\n\n"
    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for piece in _pieces(reply.thinking):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(reply.text):
        yield chunk({"content": piece})
    for number, call in enumerate(reply.calls):
        function = {"name": call.name, "arguments": ""}
        yield chunk(
            {"tool_calls": [{"index": number, "id": call.id, "type": "function", "function": function}]}
        )
        for piece in _pieces(call.arguments):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if reply.calls else "stop")
    told = {
        "prompt_tokens": usage.input,
        "completion_tokens": 5,
        "total_tokens": usage.input + 5,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "completion_tokens_details": {"reasoning_tokens": 2 if reply.thinking else 0},
    }
    yield sse(chat | {"choices": [], "usage": told})
    yield sse("[DONE]")


_chat = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1750000000,
    "model": "scripted-1",
    "system_fingerprint": "fp_1",
}


def message_whole(usage: Usage, model: str = "scripted-1") -> dict[str, Any]:
    """The answer to a request that lets the model write nothing."""
    return {
        "id": "msg_0",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": "max_tokens",
        "stop_sequence": None,
        "usage": {**_told(usage), "output_tokens": 0},
    }


def _told(usage: Usage) -> dict[str, Any]:
    long = usage.cache_write_long
    return {
        "input_tokens": usage.input - usage.cache_read - usage.cache_write,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write - long,
            "ephemeral_1h_input_tokens": long,
        },
        "output_tokens": 1,
        "service_tier": "standard",
    }


def message_events(
    reply: Reply,
    usage: Usage,
    model: str = "scripted-1",
    name: str = "msg_1",
    more: Mapping[str, Any] | None = None,
) -> Iterable[str]:
    """A streamed message as its documentation shows it."""
    message = {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _told(usage),
        **(more or {}),
    }
    yield _named({"type": "message_start", "message": message})
    index = 0
    if reply.thinking:
        yield from _block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            "thinking_delta",
            "thinking",
            reply.thinking,
        )
        index = 1
    yield _named({"type": "ping"})
    if reply.text:
        yield from _block(index, {"type": "text", "text": ""}, "text_delta", "text", reply.text)
        index += 1
    for number, call in enumerate(reply.calls, index):
        start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield from _block(number, start, "input_json_delta", "partial_json", call.arguments)
    stop = "tool_use" if reply.calls else "end_turn"
    yield _named(
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        }
    )
    yield _named({"type": "message_stop"})


def _block(index: int, start: dict[str, Any], delta: str, field_name: str, text: str) -> Iterable[str]:
    yield _named({"type": "content_block_start", "index": index, "content_block": start})
    for piece in _pieces(text):
        told = {"type": delta, field_name: piece}
        yield _named({"type": "content_block_delta", "index": index, "delta": told})
    if delta == "thinking_delta":
        told = {"type": "signature_delta", "signature": "c2lnbmVk"}
        yield _named({"type": "content_block_delta", "index": index, "delta": told})
    yield _named({"type": "content_block_stop", "index": index})


def _named(data: dict[str, Any]) -> str:
    return sse(data, data["type"])
