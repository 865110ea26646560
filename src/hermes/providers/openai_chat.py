"""The chat-completions wire: OpenAI and everything that speaks like it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from hermes.contracts import CacheRules, ModelProfile
from hermes.frozen import frozen
from hermes.messages import Message, ModelRequest, ToolCall, ToolSpec
from hermes.provenance import digest_of
from hermes.providers.alternation import alternating
from hermes.providers.canonical import (
    Head,
    arguments_json,
    foreign_json,
    json_bytes,
    json_text,
    listed_tools,
    quoted,
    text_blocks,
    wire_name,
)

EMPTY = "(empty)"
"""Stands for a text that is empty where a provider refuses empty ones; part of the wire format."""


OPAQUE = '{"chat":'
"""How `Message.opaque` begins when it holds what a provider of this wire wants back beside the message."""


@frozen
class OpenAiChat:
    """The codec, as an endpoint takes it.

    `reasoning`: whether the model's reasoning goes back to it; a session's choice, for good. `usage`: whether
    it may be asked for usage; `progress`: whether it tells how much of the prompt it has read. `limit` is the
    field for the most tokens of an answer. `cache_key`: equal prompts are sent with an equal key, from the
    stable tier. Where the provider takes marks, texts stand in content parts, which can
    carry one.
    """

    reasoning: bool = False
    usage: bool = True
    limit: str = "max_tokens"
    cache_key: bool = False
    progress: bool = False

    @property
    def name(self) -> str:
        return "openai-chat/1+reasoning" if self.reasoning else "openai-chat/1"

    def head(self, request: ModelRequest, profile: ModelProfile) -> bytes:
        return b"".join(self.layout(request, profile)[0])

    def layout(self, request: ModelRequest, profile: ModelProfile) -> tuple[Head, tuple[int, ...]]:
        """The head, and the offsets in it at which each part of the system message may take a mark."""
        tools = listed_tools(request.tools, _tool)
        tiers = [text for text in request.system if text]
        if not tiers:
            return (tools, b'"messages":['), ()
        opening = b'"messages":[{"role":' + json_bytes(profile.instruction_role) + b',"content":'
        if takes_marks(profile.cache):
            return text_blocks((tools, opening + b"["), tiers, b"]},")
        first, *others = map(quoted, tiers)
        return (tools, opening + b'"', first, *(p for o in others for p in (b"\\n\\n", o)), b'"},'), ()

    def fragments(
        self, messages: tuple[Message, ...], profile: ModelProfile, after: str = ""
    ) -> tuple[bytes, ...]:
        spoken: Iterable[Message] = alternating(messages, after) if profile.strict_template else messages
        if not profile.system_mid_conversation:
            spoken = (replace(m, role="user") if m.role == "system" else m for m in spoken)
        return tuple(self._entry(message, profile) for message in spoken)

    def tail(self, request: ModelRequest, profile: ModelProfile) -> bytes:
        """What may change from call to call stands behind everything that may not."""
        key = request.cache_key or _stable_digest(request) if self.cache_key else ""
        return _tail(request.model, self.limit, request.max_tokens, key, self.usage, self.progress)

    def _entry(self, message: Message, profile: ModelProfile) -> bytes:
        content = _content(message.sent, takes_marks(profile.cache))
        match message.role:
            case "tool":
                return json_bytes({"role": "tool", "tool_call_id": message.call_id, "content": content})
            case "assistant":
                return self._assistant(message)
            case "system":
                return json_bytes({"role": profile.instruction_role, "content": content})
        return json_bytes({"role": "user", "content": content})

    def _assistant(self, message: Message) -> bytes:
        packed = json.loads(message.opaque)["chat"] if message.opaque.startswith(OPAQUE) else {}
        entry: dict[str, object] = {"role": "assistant"}
        entry["content"] = None if message.tool_calls and not message.sent else message.sent
        if self.reasoning and (details := packed.get("reasoning_details")):
            entry["reasoning_details"] = details
        elif self.reasoning and message.reasoning:
            entry["reasoning_content"] = message.reasoning
        if message.tool_calls:
            extra = packed.get("calls", {})
            entry["tool_calls"] = [
                _call(call) | extra.get(str(number), {}) for number, call in enumerate(message.tool_calls)
            ]
        return foreign_json(json_text(entry))


def pack_opaque(details: list[dict[str, Any]], extra: list[dict[str, Any]]) -> str:
    """What a provider wants back beside the message: signed reasoning, and fields of its own on calls."""
    packed: dict[str, Any] = {}
    if details:
        packed["reasoning_details"] = details
    if any(extra):
        packed["calls"] = {str(number): fields for number, fields in enumerate(extra) if fields}
    return json_text({"chat": packed}) if packed else ""


def takes_marks(rules: CacheRules) -> bool:
    """Whether a provider behind this wire takes marks of ours."""
    return rules.kind == "marks" or rules.max_marks is not None


@lru_cache(maxsize=64)  # most calls of a session end alike
def _tail(model: str, limit: str, max_tokens: int, key: str, usage: bool, progress: bool) -> bytes:
    fields: dict[str, object] = {"model": model, limit: max_tokens, "stream": True}
    if usage:
        fields["stream_options"] = {"include_usage": True}
    if key:
        fields["prompt_cache_key"] = key
    if progress:
        fields["return_progress"] = True
    return b"]," + json_bytes(fields)[1:]


def _stable_digest(request: ModelRequest) -> str:
    return digest_of(request.system[0])[:32] if request.system and request.system[0] else ""


def _call(call: ToolCall) -> dict[str, object]:
    function = {"name": wire_name(call.name), "arguments": arguments_json(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _content(text: str, in_parts: bool) -> object:
    return [{"type": "text", "text": text or EMPTY}] if in_parts else text


def _tool(tool: ToolSpec) -> bytes:
    told = json_bytes({"name": tool.name, "description": tool.description})[:-1]
    told += b',"parameters":' + foreign_json(tool.parameters) + b"}"
    return b'{"type":"function","function":' + told + b"}"
