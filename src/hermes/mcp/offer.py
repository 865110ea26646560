"""What a server offers, as a model may be told of it, and what it answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hermes.frozen import frozen
from hermes.messages import ToolSpec
from hermes.provenance import Notice, digest_of
from hermes.security.foreign_tools import admitted_spec
from hermes.security.policy import Policies
from hermes.text import grapheme_start
from hermes.tooling import Tool, ToolError

if TYPE_CHECKING:
    from mcp_types import CallToolResult
    from mcp_types import Tool as RemoteTool

    from hermes.mcp.settings import Server

MAX_RESULT = 40_000
"""Characters of a result that go to the model: its two ends."""

LONGEST = 64
"""Characters of a tool's name; some providers take no more."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class ServerTool(Tool):
    """A tool whose arguments its server checks: a schema from outside may be anything."""

    def read(self, arguments: str) -> dict[str, Any]:
        try:
            given = json.loads(arguments) if arguments.strip() else {}
        except ValueError as error:
            raise ToolError(f"the arguments of {self.spec.name} are not valid JSON: {error}") from None
        if not isinstance(given, dict):
            raise ToolError(f"the arguments of {self.spec.name} must be one JSON object")
        return {"arguments": given}


@frozen
class Offered:
    """A tool of a server: as the model is told of it, and by the name that the server calls it."""

    spec: ToolSpec
    remote: str
    reads_only: bool


def prefix(server: str) -> str:
    """What the names of all tools of a server begin with: sorted by name they are sorted by server."""
    return f"mcp__{server}__"


def offered(
    server: Server, tools: Iterable[RemoteTool], policies: Policies
) -> tuple[tuple[Offered, ...], tuple[Notice, ...]]:
    """The tools of a server in the order of their names, each through the gate."""
    found: dict[str, Offered] = {}
    notices: list[Notice] = []
    owner = f"the MCP server {server.name}"
    for tool in sorted(tools, key=lambda t: t.name):
        if server.only is not None and tool.name not in server.only:
            continue
        name = _safe(server.name, tool.name, found)
        schema = json.dumps(tool.input_schema, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        spec, told = admitted_spec(
            ToolSpec(name, tool.description or tool.title or "", schema),
            owner=owner,
            policy=policies.of("third_party"),
        )
        notices += told
        if spec is not None:
            hints = tool.annotations
            found[name] = Offered(spec, tool.name, bool(hints and hints.read_only_hint))
    if server.only is not None and (gone := sorted(set(server.only) - {o.remote for o in found.values()})):
        notices.append(Notice("warning", f"{owner} has no tool {', '.join(gone)}, named in its tools"))
    return tuple(found[name] for name in sorted(found)), tuple(notices)


def _safe(server: str, name: str, taken: Iterable[str]) -> str:
    """A name as every provider takes it; where that loses something, a digest keeps names apart."""
    whole = prefix(server) + _UNSAFE.sub("_", name)
    if len(whole) > LONGEST or whole in taken:
        whole = f"{whole[: LONGEST - 9]}_{digest_of(name)[:8]}"
    return whole


def answer(result: CallToolResult) -> str:
    """What a model gets to read of a result; pictures, sounds and files are named. ToolError for an error."""
    parts = [_part(block) for block in result.content]
    text = "\n".join(part for part in parts if part)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False, sort_keys=True)
    text = _capped(text)
    if result.is_error:
        raise ToolError(text or "the server says that it failed, and not why")
    return text


def _part(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"[{block.type}, {block.mime_type}, {_size(block.data)}: it cannot be shown here]"
        case "resource_link":
            return f"[a resource: {block.name}, {block.uri}]"
        case "resource":
            inner = block.resource
            if hasattr(inner, "text"):
                return str(inner.text)
            return f"[a file: {inner.uri}, {inner.mime_type or 'of no known kind'}, {_size(inner.blob)}]"
    return f"[{block.type}: it cannot be shown here]"


def _size(base64: str) -> str:
    return f"{len(base64) * 3 // 4:,} bytes"


def _capped(text: str) -> str:
    if len(text) <= MAX_RESULT:
        return text
    head = text[: grapheme_start(text, MAX_RESULT // 2)]
    tail = text[grapheme_start(text, len(text) - MAX_RESULT // 2) :]
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters are left out]\n{tail}"
