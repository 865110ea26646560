"""Logs of other applications: lines of JSON with a request and its response, as calls of the ledger.

Read are the bodies of three public wires (chat completions, responses, messages), under the names that
loggers use. A body is put into the order in which its provider reads it: tools, system, messages. Its marks
are taken out and kept beside it, as they are for our own calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from hermes.errors import UsageError
from hermes.frozen import frozen
from hermes.messages import Usage
from hermes.provenance import digest_of
from hermes.providers import anthropic_answer, openai_answer
from hermes.wire.blocks import MARK_NAMES
from hermes.wire.request import Wire, moment_of

REQUEST = ("request", "req", "body", "kwargs", "input")
RESPONSE = ("response", "res", "output", "result", "completion")
STARTED = ("started", "start_time", "startTime", "timestamp", "time", "ts", "created_at", "at")
PROVIDER = ("provider", "custom_llm_provider", "vendor")
SECONDS = ("duration", "latency", "seconds", "elapsed")
MILLISECONDS = ("duration_ms", "latency_ms", "elapsed_ms", "ms")
FIRST = ("first_token_ms", "ttft_ms", "time_to_first_token_ms")
SESSION = ("session_id", "session", "conversation_id", "thread_id", "trace_id")
_SETTINGS = frozenset(("tools", "system", "instructions", "messages", "input", "cache_control"))


@frozen
class Logged:
    """One call of a log: the line it stands on, the conversation it belongs to, and what was sent."""

    line: int
    session: str
    wire: Wire


@dataclass(slots=True)
class Log:
    """What a file has. `passed_over` tells for each line that is no call why it is none."""

    calls: list[Logged] = field(default_factory=list)
    passed_over: list[tuple[int, str]] = field(default_factory=list)

    def sessions(self) -> dict[str, list[Wire]]:
        """The calls of each conversation in the order in which they began; each has its line for a number."""
        found: dict[str, list[Wire]] = {}
        for call in sorted(self.calls, key=lambda c: (c.wire.at, c.line)):
            found.setdefault(call.session, []).append(call.wire)
        return found


def read_log(text: str, by: str = "", provider: str = "") -> Log:
    """The calls in lines of JSON. `by` names the field that tells conversations apart, `provider` the server.

    Without `by` it is the first of the usual names that a line has; those that have none are one
    conversation. UsageError when not one line is a call.
    """
    log = Log()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError("it is no JSON object")
            log.calls.append(Logged(number, _session(row, by), _wire(row, number, provider)))
        except (ValueError, RecursionError) as error:
            log.passed_over.append((number, str(error)))
    if not log.calls:
        why = f"; line {log.passed_over[0][0]}: {log.passed_over[0][1]}" if log.passed_over else ""
        raise UsageError(
            "there is no call in this log: each line must be a JSON object with the body of a request under "
            f"{', '.join(REQUEST[:3])} and that of its response under {', '.join(RESPONSE[:3])}{why}"
        )
    return log


def _session(row: Mapping[str, Any], by: str) -> str:
    places: list[Any] = [row, row.get("metadata"), row.get("request")]
    for place in places:
        for name in (by,) if by else SESSION:
            value = place.get(name) if isinstance(place, Mapping) else None
            if isinstance(value, str | int) and value != "":
                return str(value)
    return ""


def _wire(row: Mapping[str, Any], number: int, provider: str) -> Wire:
    request = _opened(_named(row, REQUEST))
    if not isinstance(request, dict) and "messages" in row:
        request = {name: value for name, value in row.items() if name not in RESPONSE}
    if not isinstance(request, dict):
        raise ValueError(f"it has no request (looked for {', '.join(REQUEST)})")
    answer = _answer(_named(row, RESPONSE))
    usage = row.get("usage") if isinstance(row.get("usage"), Mapping) else answer.get("usage")
    is_messages = _speaks_messages(row, request, answer)
    body = _Body.of(request, is_messages)
    return Wire(
        n=number,
        at=_moment(_named(row, STARTED)),
        provider=provider or _provider(row, is_messages),
        head_id=digest_of(body.head),
        head=body.head,
        fragments=tuple(body.fragments),
        tail=body.tail,
        marks=tuple(body.marks),
        first=_seconds(row),
        route=str(answer.get("provider") or answer.get("system_fingerprint") or ""),
        served=str(answer.get("model") or ""),
        usage=_usage(usage, is_messages),
        request_id=str(answer.get("id") or row.get("request_id") or ""),
    )


# -- fields -------------------------------------------------------------------------------------------------


def _named(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _opened(value: Any) -> Any:
    """A body that was logged as text, or wrapped once more."""
    if isinstance(value, str):
        value = json.loads(value)
    if isinstance(value, dict) and not {"messages", "input"} & value.keys():
        inner = _named(value, ("body", "json", "data", "params"))
        return _opened(inner) if inner is not None else value
    return value


def _answer(value: Any) -> dict[str, Any]:
    """The response as one mapping; of a stream, what its events tell of it together."""
    if isinstance(value, str) and value.lstrip()[:5] in ("data:", "event"):
        value = [line[5:].strip() for line in value.split("\n") if line.startswith("data:")]
    elif isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    if isinstance(value, list):
        return _gathered(value)
    if isinstance(value, dict) and "usage" not in value and isinstance(value.get("body"), dict | str):
        return _answer(value["body"])
    return value if isinstance(value, dict) else {}


def _gathered(events: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    for event in events:
        try:
            told = json.loads(event) if isinstance(event, str) else event
        except ValueError:
            continue  # such as [DONE]
        if not isinstance(told, dict):
            continue
        for part in (told, told.get("message"), told.get("response")):
            if isinstance(part, dict):
                found |= {n: part[n] for n in ("id", "model", "provider", "type") if part.get(n)}
                usage |= {n: v for n, v in (part.get("usage") or {}).items() if v is not None}
    return {**found, "usage": usage} if usage else found


def _speaks_messages(row: Mapping[str, Any], request: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Whether it is the wire of Anthropic's messages."""
    usage = answer.get("usage") or row.get("usage")
    told = usage.keys() if isinstance(usage, Mapping) else ()
    if any(name in told for name in ("cache_read_input_tokens", "cache_creation_input_tokens")):
        return True
    if "prompt_tokens" in told:
        return False
    if "system" in request or answer.get("type") in ("message", "message_stop", "message_delta"):
        return True
    return "anthropic" in str(row.get("url", "")) or "anthropic" in str(_named(row, PROVIDER) or "")


def _provider(row: Mapping[str, Any], is_messages: bool) -> str:
    named = _named(row, PROVIDER)
    if isinstance(named, str) and named:
        return named
    host = urlsplit(str(row.get("url", ""))).hostname or ""
    for name in ("openrouter", "anthropic", "openai", "deepseek", "groq", "mistral"):
        if name in host:
            return name
    return "anthropic" if is_messages else "openai"


def _moment(value: Any) -> float:
    """Seconds since 1970 of a time in ISO 8601, seconds or milliseconds; 0.0 when none is told."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if value > 1e11 else float(value)
    return moment_of(value) if isinstance(value, str) else 0.0


def _seconds(row: Mapping[str, Any]) -> float:
    """Until the answer began, as near as it is told; a whole answer's time stands for its beginning."""
    for names, unit in ((FIRST, 1000.0), (MILLISECONDS, 1000.0), (SECONDS, 1.0)):
        value = _named(row, names)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value / unit
    return 0.0


def _usage(told: Any, is_messages: bool) -> Usage:
    if not isinstance(told, Mapping):
        return Usage()
    if is_messages:
        return anthropic_answer.usage_of(told)
    renamed = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    return openai_answer.usage_of({renamed.get(str(name), str(name)): v for name, v in told.items()})


# -- bodies -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Body:
    """A request in the order its provider reads it, without marks, and where they stood."""

    head: bytes = b""
    fragments: list[bytes] = field(default_factory=list)
    tail: bytes = b""
    marks: list[tuple[int, str]] = field(default_factory=list)
    _at: int = 0

    @classmethod
    def of(cls, request: dict[str, Any], is_messages: bool) -> _Body:
        messages = list(_messages(request))
        body = cls()
        parts = []
        head = b"{"
        if tools := request.get("tools"):
            head += b'"tools":[' + b",".join(body._plain(tool, len(head) + 10) for tool in tools) + b"],"
        system = request.get("system")
        if is_messages and system:
            texts = [{"type": "text", "text": system}] if isinstance(system, str) else system
            head += b'"system":['
            for number, text in enumerate(texts):
                head += b"," if number else b""
                head += body._plain(text, len(head))
            head += b"],"
        head += b'"messages":['
        while messages and not is_messages and messages[0].get("role") in ("system", "developer"):
            head += body._plain(messages.pop(0), len(head)) + b","
        body.head, at = head, len(head)
        for message in messages:
            parts.append(body._plain(message, at))
            at += len(parts[-1]) + 1
        body.fragments = parts
        if mark := request.get("cache_control"):  # automatic: on the last block that can have one
            body.marks.append((max(at - 2, 0), _mark("cache_control", mark)))
        settings = {name: value for name, value in request.items() if name not in _SETTINGS}
        body.tail = b"]," + _dumped(settings).encode()[1:]
        return body

    def _plain(self, value: Any, at: int) -> bytes:
        """The value as JSON without its marks; their places are noted, counted from where it begins, `at`."""
        text, marks = _unmarked(value)
        raw = text.encode()
        self.marks += [(at + len(text[:place].encode()), mark) for place, mark in marks]
        return raw


def _unmarked(value: Any) -> tuple[str, list[tuple[int, str]]]:
    """A value as JSON, and of the marks in it the characters behind which they stood."""
    marks: list[tuple[int, str]] = []
    pieces: list[str] = []
    length = 0

    def put(text: str) -> None:
        nonlocal length
        pieces.append(text)
        length += len(text)

    def write(item: Any) -> None:
        if isinstance(item, dict) and _holds_mark(item):
            put("{")
            kept = [(name, inner) for name, inner in item.items() if name not in MARK_NAMES]
            for number, (name, inner) in enumerate(kept):
                put(("," if number else "") + _dumped(name) + ":")
                write(inner)
            marks.extend((length, _mark(name, item[name])) for name in MARK_NAMES if item.get(name))
            put("}")
        elif isinstance(item, list) and any(_holds_mark(inner) for inner in item):
            put("[")
            for number, inner in enumerate(item):
                put("," if number else "")
                write(inner)
            put("]")
        else:
            put(_dumped(item))

    write(value)
    return "".join(pieces), marks


def _mark(name: str, value: Any) -> str:
    """A mark as it stands in a body, behind what it marks."""
    return f',"{name}":{_dumped(value)}'


def _holds_mark(item: Any) -> bool:
    """Whether a mark stands in it, or in a part of its content."""
    if not isinstance(item, dict):
        return False
    inner = item.get("content")
    return any(item.get(name) for name in MARK_NAMES) or (
        isinstance(inner, list) and any(_holds_mark(part) for part in inner)
    )


def _messages(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(instructions := request.get("instructions"), str) and instructions:
        yield {"role": "system", "content": instructions}
    given = request.get("messages", request.get("input"))
    if isinstance(given, str):
        yield {"role": "user", "content": given}
    elif isinstance(given, list) and all(isinstance(message, dict) for message in given):
        yield from given
    else:
        raise ValueError("its request has no list of messages")


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
