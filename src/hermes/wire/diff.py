"""Where two requests part: the first byte that differs, the block it is in, what kind of change it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from json.decoder import scanstring  # type: ignore[attr-defined]  # the typed stubs leave it out
from typing import Any, Literal, NamedTuple

from hermes.frozen import frozen
from hermes.prompt import SystemPrompt
from hermes.providers.accounting import common_length
from hermes.wire.blocks import Block, fragment_blocks, head_blocks
from hermes.wire.layout import ORDERED
from hermes.wire.request import Wire

Where = Literal["model", "settings", "tools", "system", "messages"]
_TEXT = re.compile(r'"(?:text|content)"\s*:\s*(?=")')
_CLOCK = re.compile(r"\d{1,4}[-:/.]\d{2}|\d{9,}")
AROUND = 24
"""Characters that are shown on each side of the first that differs."""


class Located(NamedTuple):
    """A block with its place in the body: from byte `start` to `end`, in entry `piece`, -1 for the head."""

    block: Block
    start: int
    end: int
    piece: int


@frozen
class Difference:
    """The first difference. `offset` counts bytes of the newer body without marks.

    `name` is the tool, the section, or the message it is in; `how` says what kind of change it is;
    `before` and `after` are what stands there; `source` is where that text comes from, as `path:line`.
    """

    where: Where
    name: str
    how: str
    offset: int = 0
    before: str = ""
    after: str = ""
    source: str = ""
    tier: str = ""


def first_difference(before: Wire, after: Wire, prompt: SystemPrompt | None = None) -> Difference | None:
    """Where `after` does not begin with all of `before`, as a provider reads them; None when it does.

    `prompt` is the one that `after` was made from: it tells the source of a byte of the system text.
    """
    if found := _settings(before, after):
        return found
    old, new = _prefix(before), _prefix(after)
    if new.startswith(old):
        return None
    offset = common_length(old, new)
    was, now = _at(before, offset), _at(after, offset)
    kinds = {found.block.kind for found in (was, now) if found}
    if "tool" in kinds:
        found = _tools(before, after)
    elif "system" in kinds:
        found = _system(before, after, prompt)
    else:
        found = _message(before, was, now)
    return replace(found, offset=offset)


def _settings(before: Wire, after: Wire) -> Difference | None:
    old, new = before.settings, after.settings
    a, b = (f"{w.provider}:{s.get('model', '')}" for w, s in ((before, old), (after, new)))
    if a != b:
        return Difference("model", b, "another model", before=a, after=b)
    for name in ORDERED:
        if old.get(name) != new.get(name):
            shown = (json.dumps(s.get(name), ensure_ascii=False)[:80] for s in (old, new))
            return Difference("settings", name, "another value", 0, *shown)
    return None


def _prefix(wire: Wire) -> bytes:
    return wire.head + b",".join(wire.fragments)


def located(wire: Wire) -> Iterator[Located]:
    """All blocks of a request in their order."""
    for block in head_blocks(wire.head):
        yield Located(block, block.start, block.end, -1)
    at = len(wire.head)
    for piece, fragment in enumerate(wire.fragments):
        for block in fragment_blocks(fragment):
            yield Located(block, at + block.start, at + block.end, piece)
        at += len(fragment) + 1


def _at(wire: Wire, offset: int) -> Located | None:
    """The block that holds a byte; the one after it when it stands between two."""
    return next((found for found in located(wire) if offset < found.end), None)


# -- tools ------------------------------------------------------------------------------------------------


def _listed(wire: Wire) -> list[dict[str, Any]]:
    try:
        tools = json.loads(wire.head.rstrip().rstrip(b",") + (b"]}" if b'"messages"' in wire.head else b"}"))
    except ValueError:
        return []
    return [tool.get("function", tool) for tool in tools.get("tools", ())]


def _tools(before: Wire, after: Wire) -> Difference:
    old, new = _listed(before), _listed(after)
    names, now = [t.get("name", "") for t in old], [t.get("name", "") for t in new]
    if gone := [n for n in names if n not in now]:
        return Difference("tools", gone[0], "removed", source=f"tool {gone[0]}")
    if come := [n for n in now if n not in names]:
        return Difference("tools", come[0], "added", source=f"tool {come[0]}")
    if names != now:
        first = next(b for a, b in zip(names, now, strict=True) if a != b)
        return Difference(
            "tools", first, "another order", 0, ", ".join(names), ", ".join(now), f"tool {first}"
        )
    for was, is_ in zip(old, new, strict=True):
        for part in dict.fromkeys([*was, *is_]):
            if json.dumps(was.get(part)) != json.dumps(is_.get(part)):
                a, b = (_shown(t.get(part)) for t in (was, is_))
                name = str(is_.get("name", ""))
                where = f"tool {name}: {part}"
                return _compared("tools", name, a, b, where, same=was.get(part) == is_.get(part))
    return Difference("tools", now[0] if now else "", "white space or key order", source="the list of tools")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# -- system -----------------------------------------------------------------------------------------------


def system_text(wire: Wire) -> str:
    """The system text of a request, all its blocks joined."""
    return "".join(_text_of(block) for block in head_blocks(wire.head) if block.kind == "system")


def _text_of(block: Block) -> str:
    raw = block.raw.decode("utf-8", "replace")
    found = _TEXT.search(raw)
    at = found.end() if found else raw.find('"')
    if at < 0:
        return raw
    try:
        return str(scanstring(raw, at + 1)[0])
    except ValueError:
        return raw


def _system(before: Wire, after: Wire, prompt: SystemPrompt | None) -> Difference:
    old, new = system_text(before), system_text(after)
    if old == new:
        return Difference("system", "", "another form of the same text", source="the serialised system text")
    at = common_length(old, new)
    name, source, tier = "system", f"system text, line {new.count(chr(10), 0, at) + 1}", ""
    if prompt is not None and prompt.text == new:
        name, source, tier = section_at(prompt, min(at, max(len(new) - 1, 0)))
    return replace(_compared("system", name, old, new, source), tier=tier)


def section_at(prompt: SystemPrompt, offset: int) -> tuple[str, str, str]:
    """Section, source (`path:line` where there is one) and tier of a character of a prompt."""
    if not prompt.spans:
        return "system", "the prompt", ""
    section = next((s for at, s in reversed(prompt.places()) if at <= offset), None)
    span = prompt.span_at(offset)
    line = prompt.passage.line_at(offset)
    place = f"{span.origin.path}:{line}" if span.origin.path and line else span.origin.place
    return (section.slot if section else "system", place, section.tier.name.lower() if section else "")


# -- messages ---------------------------------------------------------------------------------------------


def _message(before: Wire, was: Located | None, now: Located | None) -> Difference:
    if now is None:
        gone = len(before.fragments)
        return Difference(
            "messages", f"message {gone}", "removed", source="the end of the conversation is not sent again"
        )
    name = f"message {now.piece + 1} ({now.block.role})"
    if was is None or was.piece != now.piece:
        return Difference("messages", name, "another place", source=name)
    old, new = _text_of(was.block), _text_of(now.block)
    if was.block.role != now.block.role:
        return Difference("messages", name, "removed or inserted", 0, old[:80], new[:80], name)
    same = _value(was.block) == _value(now.block) is not None
    if old == new:
        old, new = was.block.raw.decode("utf-8", "replace"), now.block.raw.decode("utf-8", "replace")
    if b'"image' in now.block.raw or b'"data:' in now.block.raw or b'"source"' in now.block.raw:
        raws = [b.block.raw.decode("utf-8", "replace") for b in (was, now)]
        found = _compared("messages", name, raws[0], raws[1], name)
        return replace(found, how="an image or file, encoded anew")
    at = common_length(old, new)
    line = new.count("\n", 0, at) + 1
    return _compared("messages", name, old, new, f"{name}, line {line}", same=same)


def _value(block: Block) -> Any:
    """What a block says as JSON, whatever the order of keys; None when it cannot be read alone."""
    raw = block.raw.decode("utf-8", "replace").lstrip(", ")
    for text in (raw, "{" + raw + "}", "{" + raw + "]}"):
        try:
            return json.loads(text)
        except ValueError:
            continue
    return None


# -- what kind of change ----------------------------------------------------------------------------------


def _compared(where: Where, name: str, old: str, new: str, source: str, *, same: bool = False) -> Difference:
    at = common_length(old, new)
    a, b = (t[max(at - AROUND, 0) : at + AROUND] for t in (old, new))
    lines = _line(old, at), _line(new, at)
    how = _how(old, new) or (_how(*lines) if lines[0] != lines[1] else "") or "edited"
    if same:
        how = "key order or spacing"
    return Difference(where, name, how, 0, a, b, source)


def _how(old: str, new: str) -> str:
    """What kind of change it is; "" when it is any."""
    if "".join(old.split()) == "".join(new.split()):
        return "white space"
    if _CLOCK.sub("0", old) == _CLOCK.sub("0", new) or _digits(old) == _digits(new):
        return "a clock, a count or an id"
    if old and new.startswith(old):
        return "appended to"
    return "cut short" if new and old.startswith(new) else ""


def _line(text: str, at: int) -> str:
    """The line that holds a character."""
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def _digits(text: str) -> str:
    return re.sub(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){0,6}|\d+", "0", text)
