"""A request as the blocks a provider's cache counts: tools, system, messages, in the order it reads them.

Works on any body of the two wires, however it is spaced and ordered: a block is the bytes that stand there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # the typed stubs leave it out
from typing import Any, Literal, NamedTuple

Kind = Literal["tool", "system", "message", "setting"]

MARK_NAMES = ("cache_control", "prompt_cache_breakpoint")
_SPACE = re.compile(r"[ \t\n\r]*")
_TTL = re.compile(r'"ttl"\s*:\s*"(\w+)"')
_DECODER = json.JSONDecoder()
_SHELL = " \t\n\r,[]{}"


class Block(NamedTuple):
    """Bytes `start` to `end` of a piece of a body, without marks: everything since the block before.

    `role` is who says it, `run` whether it is one of several calls or results that a provider may count as
    one position. `mark` is the lifetime of a mark that stands in it, "" for none, "default" without a name.
    """

    kind: Kind
    role: str
    run: str
    raw: bytes
    start: int
    end: int
    mark: str = ""
    shell: int = 0

    @property
    def own(self) -> bytes:
        """The value alone, without what stands before it in its message."""
        return self.raw[self.shell :]


class Member(NamedTuple):
    """A member of a JSON object: where its name begins, where its value begins and ends."""

    name: str
    begin: int
    value: int
    end: int
    read: Any


def members(text: str, at: int) -> Iterator[Member]:
    """The members of the object that begins at `at`. ValueError when it is none."""
    at = _over(text, at, "{")
    while text[at : at + 1] != "}":
        begin = at
        name, at = scanstring(text, _over(text, at, '"', skip=False))
        value = _over(text, at, ":")
        read, at = _DECODER.raw_decode(text, value)
        yield Member(name, begin, value, at, read)
        at = _next(text, at, "}")


def elements(text: str, at: int) -> Iterator[tuple[int, int, Any]]:
    """Begin, end and value of each element of the array that begins at `at`. ValueError when it is none."""
    at = _over(text, at, "[")
    while text[at : at + 1] != "]":
        read, end = _DECODER.raw_decode(text, at)
        yield at, end, read
        at = _next(text, end, "]")


def _over(text: str, at: int, sign: str, *, skip: bool = True) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != sign:
        raise ValueError(f"{sign} was expected at character {at}")
    return _skip(text, at + 1) if skip else at + 1


def _next(text: str, at: int, closing: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise ValueError(f"{closing} was expected at character {at}")
    return at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


class Cutter:
    """Cuts a text into blocks that follow each other; what stands between them goes to the later one."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.blocks: list[Block] = []
        self._at = at
        self._bytes = len(text[:at].encode())

    def cut(self, kind: Kind, role: str, run: str, begin: int, end: int) -> None:
        """A block up to `end`, whose own value begins at `begin`."""
        shell, own, mark = self.text[self._at : begin], self.text[begin:end], ""
        if own[:1] == "{" and any(name in own for name in MARK_NAMES):
            own, mark = _unmarked(own)
        first = not self.blocks or self.blocks[-1].kind != kind
        told = shell.lstrip(_SHELL if first else ", \t\n\r").encode()
        start = self._bytes
        self._bytes += len(self.text[self._at : end].encode())
        self._at = end
        self.blocks.append(Block(kind, role, run, told + own.encode(), start, self._bytes, mark, len(told)))

    def rest(self, kind: Kind, role: str, end: int) -> None:
        """What stands before `end` and belongs to what was cut last, when it says anything."""
        text = self.text[self._at : end]
        if not text.strip(_SHELL):
            return
        if self.blocks and self.blocks[-1].end == self._bytes and self.blocks[-1].role == role:
            last = self.blocks.pop()
            self._bytes += len(text.encode())
            self.blocks.append(last._replace(raw=last.raw + text.rstrip("}").encode(), end=self._bytes))
            self._at = end
        else:
            self.cut(kind, role, "", self._at, end)


def _unmarked(own: str) -> tuple[str, str]:
    """A block without its mark, and the name of the mark's lifetime."""
    found = next((m for m in members(own, 0) if m.name in MARK_NAMES), None)
    if found is None:
        return own, ""
    before, after = own[: found.begin].rstrip(), own[found.end :].lstrip()
    if before.endswith(","):
        before = before[:-1]
    elif after.startswith(","):
        after = after[1:].lstrip()
    ttl = found.read.get("ttl") if isinstance(found.read, dict) else None
    return before + after, ttl if isinstance(ttl, str) else "default"


def message_blocks(cutter: Cutter, at: int, end: int, kind: Kind = "message") -> None:
    """Cut one message into its content parts and its calls."""
    found = list(members(cutter.text, at))
    role = next((str(m.read) for m in found if m.name == "role"), "")
    kind = "system" if kind == "system" and role in ("system", "developer") else "message"
    begun = len(cutter.blocks)
    for member in found:
        if member.name not in ("content", "tool_calls") or not member.read:
            continue
        if not isinstance(member.read, list):
            cutter.cut(kind, role, "results" if role == "tool" else "", member.value, member.end)
            continue
        for begin, stop, part in elements(cutter.text, member.value):
            cutter.cut(kind, role, _run(role, member.name, part), begin, stop)
    if len(cutter.blocks) == begun:
        cutter.cut(kind, role, "", at, end)
    else:
        cutter.rest(kind, role, end)


def _run(role: str, name: str, part: object) -> str:
    what = part.get("type") if isinstance(part, dict) else ""
    if role == "tool" or what == "tool_result":
        return "results"
    return "calls" if name == "tool_calls" or what == "tool_use" else ""


def fragment_blocks(fragment: bytes) -> tuple[Block, ...]:
    """The blocks of one entry of the message list. ValueError when it is no JSON object."""
    cutter = Cutter(fragment.decode("utf-8", "replace"))
    message_blocks(cutter, 0, len(cutter.text))
    return tuple(cutter.blocks)


def head_blocks(head: bytes) -> tuple[Block, ...]:
    """The blocks of all that stands before the first message: tools and system."""
    text = head.decode("utf-8", "replace").rstrip()
    cutter = Cutter(text + ("" if text.endswith(("{", "[")) else " "))
    whole = text.rstrip(",") + "]}" if text.endswith(("[", ",")) else text
    cutter.text = whole
    found = {m.name: m for m in members(whole, 0)}
    for member in found.values():
        if member.name == "tools":
            for begin, end, _ in elements(whole, member.value):
                cutter.cut("tool", "tools", "", begin, end)
        elif member.name == "system" and isinstance(member.read, str):
            cutter.cut("system", "system", "", member.value, member.end)
        elif member.name == "system":
            for begin, end, _ in elements(whole, member.value):
                cutter.cut("system", "system", "", begin, end)
        elif member.name == "messages":
            for begin, end, _ in elements(whole, member.value):
                message_blocks(cutter, begin, end, "system")
    return tuple(cutter.blocks)


def is_mark(text: str) -> bool:
    """Whether what was put into a body is a cache mark."""
    return text.startswith(tuple(f',"{name}"' for name in MARK_NAMES))


def lifetime_of(mark: str) -> str:
    """The name of the lifetime in a mark's text; "default" when it names none."""
    found = _TTL.search(mark)
    return found[1] if found else "default"
