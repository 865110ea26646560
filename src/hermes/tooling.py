"""What a tool is: one typed function, its text in a `.md` beside it, and what it may do."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import types
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hermes.errors import HermesError
from hermes.messages import ToolSpec
from hermes.tool_names import TOOL_NAMES
from hermes.turns import Ask, nobody

__all__ = ["TOOL_NAMES", "Tool", "ToolContext", "ToolError", "absent_tool", "tool"]

_PARAMETER = re.compile(r"^- `?(\w+)`?: (.+(?:\n  .+)*)$", re.M)
_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


class ToolError(HermesError):
    """A call that failed in a way the model can mend; the message is what the model gets to read."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running call may know. `progress` shows a line to the person who waits, `ask` asks them."""

    session_id: str = ""
    call_id: str = ""
    cwd: str = "."
    progress: Callable[[str], object] = field(default=str)
    ask: Ask = nobody


Run = Callable[..., Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `parallel`: may run beside others of the same step. `effects`: changes something outside."""

    spec: ToolSpec
    run: Run
    parallel: bool = False
    effects: bool = True

    async def call(self, arguments: str, context: ToolContext) -> str:
        """Run with the JSON text the model wrote. ToolError when the arguments or the work are wrong."""
        return await self.run(context, **self.read(arguments))

    def read(self, arguments: str) -> dict[str, Any]:
        """The arguments, checked against the schema; each mistake is named with what was expected."""
        schema = _parsed(self.spec.parameters)
        try:
            given = json.loads(arguments) if arguments.strip() else {}
        except ValueError as error:
            raise ToolError(f"the arguments of {self.spec.name} are not valid JSON: {error}") from None
        if not isinstance(given, dict):
            raise ToolError(f"the arguments of {self.spec.name} must be one JSON object")
        known: Mapping[str, Any] = schema["properties"]
        values = {}
        for name, value in given.items():
            if name not in known:
                from difflib import get_close_matches

                near = get_close_matches(name, known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; it takes {', '.join(known) or 'none'}"
                raise ToolError(f"{self.spec.name} has no argument {name!r}{hint}")
            if value is not None or name in schema["required"]:
                values[name] = _checked(self.spec.name, name, value, known[name])
        for name in schema["required"]:
            if name not in values:
                raise ToolError(f"{self.spec.name} needs the argument {name!r}: {known[name]['description']}")
        return values


@lru_cache(maxsize=256)
def _parsed(schema: str) -> Any:
    """A schema to be looked at, not changed."""
    return json.loads(schema)


def absent_tool(spec: ToolSpec, reason: str) -> Tool:
    """A tool that is still listed, since lists are frozen with their session, but answers that it is gone."""

    async def run(context: ToolContext, **arguments: Any) -> str:  # noqa: ARG001
        raise ToolError(reason)

    return Tool(spec, run, parallel=True, effects=False)


def tool(*, parallel: bool = False, effects: bool = True) -> Callable[[Run], Tool]:
    """Make a tool of a function `name(context, …)`; its text is `name.md` beside its module.

    The text is a description, then a list `- parameter: meaning`. Parameters are `str`, `int`, `float`,
    `bool`, `list[str]`, a `Literal` of strings, or one of these `| None`.
    """

    def make(run: Run) -> Tool:
        name = run.__name__
        path = os.path.join(os.path.dirname(inspect.getfile(run)), f"{name}.md")
        with open(path, encoding="utf-8", newline="\n") as file:
            text = file.read()
        meanings = {m[1]: " ".join(m[2].split()) for m in _PARAMETER.finditer(text)}
        description = _PARAMETER.sub("", text).strip()
        return Tool(ToolSpec(name, description, _schema(run, meanings)), run, parallel, effects)

    return make


def _schema(run: Run, meanings: Mapping[str, str]) -> str:
    hints = get_type_hints(run)
    parameters = list(inspect.signature(run).parameters.values())[1:]
    properties = {p.name: {**_type(hints[p.name]), "description": meanings[p.name]} for p in parameters}
    required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def _type(hint: Any) -> dict[str, Any]:
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (a for a in get_args(hint) if a is not type(None))
    if get_origin(hint) is list:
        return {"type": "array", "items": _type(get_args(hint)[0])}
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    return {"type": _NAMES[hint]}


def _checked(tool_name: str, name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """The value as its type; a number or truth value that came as text is understood."""
    kind = schema["type"]
    if kind == "array":
        items = value if isinstance(value, list) else [value]
        return [_checked(tool_name, name, item, schema["items"]) for item in items]
    if isinstance(value, str) and kind in ("integer", "number", "boolean"):
        with contextlib.suppress(ValueError):
            value = json.loads(value.strip().lower())
    fits = {
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
    }[kind]
    if not fits:
        raise ToolError(f"{tool_name}: {name!r} must be a{'n' if kind[0] in 'aio' else ''} {kind}")
    if "enum" in schema and value not in schema["enum"]:
        raise ToolError(f"{tool_name}: {name!r} must be one of {', '.join(schema['enum'])}")
    return value
