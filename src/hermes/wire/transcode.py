"""Requests as another model would have got them: the same tools, prompt and messages over its own wire."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hermes.contracts import Codec, ModelProfile
from hermes.messages import Message, ModelRequest, ToolCall, ToolSpec
from hermes.provenance import digest_of
from hermes.providers.canonical import json_text
from hermes.wire.blocks import head_blocks
from hermes.wire.request import Wire


def transcoded(calls: Iterable[Wire], profile: ModelProfile, codec: Codec) -> tuple[Wire, ...]:
    """The calls as this model would have been asked. Reasoning that another model signed is left out."""
    heads: dict[str, tuple[ModelRequest, bytes, str]] = {}
    sources: tuple[bytes, ...] = ()
    made: tuple[bytes, ...] = ()
    after = ""
    found = []
    for wire in calls:
        if wire.head_id not in heads:
            opening = _opening(wire.head, profile)
            made_head = codec.head(opening, profile)
            heads[wire.head_id] = opening, made_head, digest_of(made_head)
        known = len(sources)
        if wire.fragments[:known] != sources or not known:
            known, made, after = 0, (), ""
        messages = tuple(m for f in wire.fragments[known:] for m in messages_of(f))
        new = codec.fragments(messages, profile, after) if messages else ()
        fragments = made + new
        if not wire.aside:
            sources, made = tuple(wire.fragments), fragments
            after = messages[-1].role if messages else after
        opening, head, head_id = heads[wire.head_id]
        request = replace(opening, max_tokens=int(wire.settings.get("max_tokens", 8192)))
        found.append(
            replace(
                wire,
                provider=profile.provider,
                head=head,
                head_id=head_id,
                fragments=fragments,
                tail=codec.tail(request, profile),
                marks=(),
            )
        )
    return tuple(found)


def _opening(head: bytes, profile: ModelProfile) -> ModelRequest:
    """The model, the system texts and the tools of a head."""
    tools, texts = [], []
    for block in head_blocks(head):
        own: Any = json.loads(block.own)
        if block.kind == "tool":
            spec = own.get("function", own)
            schema = json_text(spec.get("input_schema", spec.get("parameters", {})))
            tools.append(ToolSpec(spec.get("name", ""), spec.get("description", ""), schema))
        else:
            text = own if isinstance(own, str) else str(own.get("text", ""))
            texts.append(text.removeprefix("\n\n"))
    return ModelRequest(profile.name, tuple(texts), tuple(tools), ())


def messages_of(fragment: bytes) -> Iterator[Message]:
    """The messages in one entry of a message list, of either wire."""
    entry = json.loads(fragment)
    role, content = entry.get("role", "user"), entry.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    for part in parts:
        if part.get("type") == "tool_result":
            yield Message("tool", _text(part.get("content")), call_id=part.get("tool_use_id", ""))
    text = "".join(str(p.get("text", "")) for p in parts if p.get("type") == "text")
    calls = [
        ToolCall(p["id"], p["name"], json_text(p["input"])) for p in parts if p.get("type") == "tool_use"
    ]
    calls += [
        ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"])
        for c in entry.get("tool_calls") or ()
    ]
    if role == "tool":
        yield Message("tool", text, call_id=entry.get("tool_call_id", ""))
    elif role == "assistant":
        yield Message("assistant", text, tool_calls=tuple(calls))
    elif text:
        yield Message("system" if role in ("system", "developer") else "user", text)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(p.get("text", "")) for p in parts if isinstance(p, Mapping))
