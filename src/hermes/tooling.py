"""What a tool is: one typed function, its text in a `.md` beside it, and what it may do."""

from __future__ import annotations

import inspect
import json
import os
import re
import types
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from hermes.arguments import read_arguments
from hermes.errors import ToolError
from hermes.frozen import frozen
from hermes.messages import Message, ToolSpec, Usage
from hermes.provenance import Notice
from hermes.tool_names import TOOL_NAMES
from hermes.turns import Ask, nobody

__all__ = ["TOOL_NAMES", "Plan", "Tool", "ToolContext", "ToolError", "absent_tool", "tool"]

_PARAMETER = re.compile(r"^- `?([\w.]+)`?: (.+(?:\n  .+)*)$", re.M)
_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


@frozen
class ToolContext:
    """What a running call may know. `progress` shows a line to the person who waits, `ask` asks them.

    `tell` gives them a notice. `spent` adds what a model was used for this call to what the turn reports.
    `visible` gives the messages that the model sees now, oldest first. `seen` has the digest of each file, by
    its real path, as this conversation read or wrote it last.
    """

    session_id: str = ""
    call_id: str = ""
    cwd: str = "."
    visible: Callable[[], Sequence[Message]] = tuple
    progress: Callable[[str], object] = field(default=str)
    ask: Ask = nobody
    tell: Callable[[Notice], object] = field(default=str)
    spent: Callable[[Usage], object] = field(default=str)
    seen: dict[str, str] = field(default_factory=dict, compare=False)


@frozen
class Plan:
    """What a call is about to do, so that it can be judged before it happens. Paths are absolute.

    `command` is for bash, run in `cwd`. `outside` is for what leaves this machine or what nobody here can
    judge. `detail` is what a person looks at: the command, or a diff.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    command: str = ""
    cwd: str = ""
    outside: bool = False
    detail: str = ""


Run = Callable[..., Awaitable[str]]
Planner = Callable[..., Plan]
"""Called like the tool itself, with its context and its arguments; changes nothing. May raise ToolError."""
Close = Callable[[], Awaitable[None]]


@frozen
class Tool:
    """A tool. `parallel`: may run beside others of the same step. `effects`: changes something outside.

    `plan` tells what a call would do, for the approval policy; a tool without one acts on nothing but what
    Hermes keeps for itself, or is vouched for by whoever handed it over. `close` ends what it left running.
    """

    spec: ToolSpec
    run: Run
    parallel: bool = False
    effects: bool = True
    plan: Planner | None = None
    close: Close | None = None

    async def call(self, arguments: str, context: ToolContext) -> str:
        """Run with the JSON text the model wrote. ToolError when the arguments or the work are wrong."""
        return await self.run(context, **self.read(arguments))

    def read(self, arguments: str) -> dict[str, Any]:
        """The arguments as values. ToolError names each mistake with what was expected."""
        return read_arguments(self.spec.name, self.spec.parameters, arguments)


def absent_tool(spec: ToolSpec, reason: str) -> Tool:
    """A tool that is still listed, since lists are frozen with their session, but answers that it is gone."""

    async def run(context: ToolContext, **arguments: Any) -> str:  # noqa: ARG001
        raise ToolError(reason)

    return Tool(spec, run, parallel=True, effects=False)


def tool(
    *, parallel: bool = False, effects: bool = True, plan: Planner | None = None, close: Close | None = None
) -> Callable[[Run], Tool]:
    """Make a tool of a function `name(context, …)`; its text is `name.md` beside its module.

    The text is a description, then a list `- parameter: meaning`. Parameters are `str`, `int`, `float`,
    `bool`, a `list` of one of them, a `Literal` of strings, a `TypedDict` of these, or one of these `| None`;
    the key of a `TypedDict` is told of as `- parameter.key: meaning`.
    """

    def make(run: Run) -> Tool:
        path = os.path.join(os.path.dirname(inspect.getfile(run)), f"{run.__name__}.md")
        with open(path, encoding="utf-8", newline="\n") as file:
            text = file.read()
        return Tool(_spec(run, path, text), run, parallel, effects, plan, close)

    return make


_specs: dict[tuple[object, ...], ToolSpec] = {}


def _spec(run: Run, path: str, text: str) -> ToolSpec:
    """What the model is told of a tool: once for all that are made of the same lines of code."""
    key = run.__code__, path, text
    if key not in _specs:
        meanings = {m[1]: " ".join(m[2].split()) for m in _PARAMETER.finditer(text)}
        description = _PARAMETER.sub("", text).strip()
        _specs[key] = ToolSpec(run.__name__, description, _schema(run, meanings))
    return _specs[key]


def _schema(run: Run, meanings: Mapping[str, str]) -> str:
    hints = get_type_hints(run)
    parameters = list(inspect.signature(run).parameters.values())[1:]
    properties = {p.name: _property(p.name, hints[p.name], meanings) for p in parameters}
    required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
    return json.dumps(_object(properties, required), ensure_ascii=False, separators=(",", ":"))


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _property(name: str, hint: Any, meanings: Mapping[str, str]) -> dict[str, Any]:
    return {**_type(name, hint, meanings), "description": meanings[name]}


def _type(name: str, hint: Any, meanings: Mapping[str, str]) -> dict[str, Any]:
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (a for a in get_args(hint) if a is not type(None))
    if get_origin(hint) is list:
        return {"type": "array", "items": _type(name, get_args(hint)[0], meanings)}
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if is_typeddict(hint):
        keys = get_type_hints(hint)
        properties = {key: _property(f"{name}.{key}", keys[key], meanings) for key in keys}
        return _object(properties, [key for key in keys if key in hint.__required_keys__])
    return {"type": _NAMES[hint]}
