"""The Messages wire of Anthropic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.messages import Message, ModelRequest, ToolCall, ToolSpec
from hermes.providers.alternation import opened_by_user
from hermes.providers.canonical import (
    Head,
    arguments_json,
    foreign_json,
    json_bytes,
    listed_tools,
    text_blocks,
    wire_name,
)

EMPTY = "(empty)"
"""Stands for a text that is empty, which the provider refuses; part of the wire format."""

OPAQUE = '{"anthropic":'
"""How `Message.opaque` begins when it holds an assistant's content blocks as this provider made them."""

_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")


@frozen
class AnthropicMessages:
    """The codec. Each tier is a system block of its own; the results of one step are one user message."""

    name: str = "anthropic-messages/1"

    def head(self, request: ModelRequest, profile: ModelProfile) -> bytes:
        return b"".join(self.layout(request, profile)[0])

    def layout(self, request: ModelRequest, profile: ModelProfile) -> tuple[Head, tuple[int, ...]]:
        """The head, and the offsets in it at which each system block may take a mark."""
        opening = listed_tools(request.tools, _tool)
        tiers = [text for text in request.system if text]
        if not tiers:
            return (opening, b'"messages":['), ()
        return text_blocks((opening, b'"system":['), tiers, b'],"messages":[')

    def fragments(
        self, messages: tuple[Message, ...], profile: ModelProfile, after: str = ""
    ) -> tuple[bytes, ...]:
        made: list[bytes] = []
        for are_results, group in groupby(opened_by_user(messages, after), lambda m: m.role == "tool"):
            if are_results:
                made.append(_entry("user", b",".join(_result(m) for m in group)))
            else:
                made.extend(_said(message, profile) for message in group)
        return tuple(made)

    def tail(self, request: ModelRequest, profile: ModelProfile) -> bytes:
        """What may change from call to call stands behind everything that may not.

        A request that lets the model write nothing cannot be streamed.
        """
        most = request.max_tokens
        return b"]," + json_bytes({"model": request.model, "max_tokens": most, "stream": most > 0})[1:]


def _said(message: Message, profile: ModelProfile) -> bytes:
    if message.role == "assistant":
        return _entry("assistant", _assistant(message))
    kept = message.role == "system" and profile.system_mid_conversation
    return _entry("system" if kept else "user", _text(message.sent))


def _assistant(message: Message) -> bytes:
    """The content blocks; signed reasoning goes back with all blocks in the order in which they came."""
    if message.opaque.startswith(OPAQUE + "[{"):
        return foreign_json(message.opaque[len(OPAQUE) + 1 : -2])
    blocks = [_text(message.sent)] if message.sent or not message.tool_calls else []
    blocks += [_tool_use(call) for call in message.tool_calls]
    return b",".join(blocks)


def pack_opaque(blocks: Iterable[Mapping[str, Any]], calls: Iterable[ToolCall]) -> str:
    """All content blocks of an answer as JSON, in their order, when some of them are signed; else ""."""
    left = iter(calls)
    kept: list[bytes] = []
    signed = False
    for block in blocks:
        kind = block.get("type")
        if kind == "tool_use":
            kept.append(_tool_use(next(left)))
        elif kind == "text":
            kept += [json_bytes({"type": "text", "text": block["text"]})] if block["text"].strip() else []
        elif kind != "thinking" or block.get("signature"):  # what is not signed is not taken back
            kept.append(json_bytes(block))
            signed = True
    return OPAQUE + "[" + b",".join(kept).decode("utf-8") + "]}" if signed else ""


def _tool_use(call: ToolCall) -> bytes:
    told = json_bytes({"type": "tool_use", "id": _id(call.id), "name": wire_name(call.name)})[:-1]
    return told + b',"input":' + foreign_json(arguments_json(call.arguments)) + b"}"


def _id(call_id: str) -> str:
    """An id as this provider takes it; another one may have made it."""
    return _NOT_IN_IDS.sub("_", call_id) or "call"


def _result(message: Message) -> bytes:
    block: dict[str, object] = {"type": "tool_result", "tool_use_id": _id(message.call_id)}
    if message.error:
        block["is_error"] = True
    return json_bytes({**block, "content": message.sent or EMPTY})


def _text(text: str) -> bytes:
    return json_bytes({"type": "text", "text": text if text.strip() else EMPTY})


def _entry(role: str, blocks: bytes) -> bytes:
    return b'{"role":"' + role.encode() + b'","content":[' + blocks + b"]}"


def _tool(tool: ToolSpec) -> bytes:
    told = json_bytes({"name": tool.name, "description": tool.description})[:-1]
    return told + b',"input_schema":' + foreign_json(tool.parameters) + b"}"
