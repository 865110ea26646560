"""The arguments of a call: the JSON text that a model wrote, as the values that a tool takes."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hermes.errors import ToolError

_ENDLESS = float("inf")
_HALF = re.compile("[\ud800-\udfff]")

ALIASES: Mapping[str, frozenset[str]] = {
    name: frozenset(guesses.split())
    for name, guesses in {
        "background": "runinbackground isbackground async",
        "choices": "options answers",
        "context_lines": "context contextlines c beforeafter",
        "entry": "oldtext oldentry oldcontent old id entryid memoryid match",
        "command": "cmd shellcommand commandline bash script code",
        "content": "contents text filetext body data filecontent",
        "glob": "globs include includes fileglob globpattern filepattern",
        "ignore_case": "caseinsensitive i",
        "items": "todos tasks list todolist",
        "mode": "outputmode searchtype target type",
        "limit": "maxresults maxlines headlimit maxcount numlines lines count",
        "new_string": "newstr new newtext replacement replace newcontent",
        "operations": "ops batch changes edits",
        "offset": "startline linestart start fromline line",
        "old_string": "oldstr old oldtext search find original oldcontent",
        "path": "filepath filename file targetfile absolutepath dir directory folder pathname",
        "pattern": "query regex regexp search searchpattern",
        "query": "q pattern search searchquery keywords",
        "question": "prompt message text ask",
        "replace_all": "all global",
        "status": "state",
        "text": "content task title name step description todo",
        "timeout": "timeoutseconds timeoutsec timeouts",
    }.items()
}
"""What models call a parameter when they guess, as `_bare` names. None has another unit."""

CHOICES = {
    "cancelled": "dropped",
    "complete": "done",
    "completed": "done",
    "finished": "done",
    "todo": "pending",
}
"""What models call a choice when they guess."""

REMARKS = frozenset({"description", "explanation", "reason", "thought", "intent"})
"""Arguments in which models say why they call; a tool that does not take them passes them over."""

WRAPPERS = frozenset({"arguments", "input", "parameters", "params", "args", "kwargs"})
"""Names under which models wrap the whole of the arguments once more."""


def read_arguments(tool_name: str, parameters: str, arguments: str) -> dict[str, Any]:
    """The values, checked against a JSON schema; each mistake is named with what was expected."""
    schema = _parsed(parameters)
    known: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    values = {}
    for name, value in _named(tool_name, _given(tool_name, arguments, schema), schema).items():
        if name not in known:
            values[name] = value
        elif value is not None or name in required:
            values[name] = _checked(tool_name, name, value, known[name])
    for name in required:
        if name not in values:
            meaning = known.get(name, {}).get("description", "it is required")
            raise ToolError(f"{tool_name} needs the argument {name!r}: {meaning}")
    return values


@lru_cache(maxsize=256)
def _parsed(schema: str) -> Any:
    """A schema to be looked at, not changed."""
    return json.loads(schema)


def _given(tool_name: str, arguments: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object of the arguments, out of what models wrap it in."""
    given: Any = arguments.strip() or "{}"
    required = schema.get("required", ())
    for times in range(3):
        try:
            given = json.loads(given, strict=False) if isinstance(given, str) else given
        except (ValueError, RecursionError) as error:
            if times and len(required) == 1:
                return {required[0]: given}  # a bare text, for a tool that needs just one
            raise ToolError(f"the arguments of {tool_name} are not valid JSON: {error}") from None
        if isinstance(given, dict):
            ((name, inner),) = given.items() if len(given) == 1 else (("", None),)
            if (
                name not in WRAPPERS
                or name in schema.get("properties", {})
                or not isinstance(inner, str | dict)
            ):
                return given
            given = inner
    raise ToolError(f"the arguments of {tool_name} must be one JSON object")


def _named(tool_name: str, given: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the names that the tool has for them."""
    known = schema.get("properties", {})
    named = {name: value for name, value in given.items() if name in known}
    for name, value in given.items():
        if name in known:
            continue
        bare = _bare(name)
        meant = [k for k in known if bare == _bare(k)] or [k for k in known if bare in ALIASES.get(k, ())]
        if len(meant) == 1 and named.get(meant[0]) in (None, value):
            named[meant[0]] = value
        elif schema.get("additionalProperties", True) is not False:
            named[name] = value
        elif bare not in REMARKS:
            raise ToolError(f"{tool_name} has no argument {name!r}{_hint(name, known)}")
    return named


def _bare(name: str) -> str:
    """A name without its spelling: `filePath`, `file_path` and `file-path` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _hint(name: str, known: Mapping[str, Any]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; it takes {', '.join(known) or 'none'}"


def _checked(tool_name: str, name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """The value as its type; what came as text and can only mean one thing is understood."""
    kind = schema.get("type")
    if isinstance(value, str):
        value = _meant(value, kind)
    if kind == "array":
        items = value if isinstance(value, list) else [value]
        return [_checked(tool_name, f"{name}[{i}]", v, schema.get("items", {})) for i, v in enumerate(items)]
    if kind == "object" and "properties" in schema:
        return _checked_object(tool_name, name, value, schema)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = {
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _ENDLESS,
    }
    if not fits.get(str(kind), True):
        raise ToolError(f"{tool_name}: {name!r} must be a{'n' if str(kind)[0] in 'aio' else ''} {kind}")
    if isinstance(value, str) and _HALF.search(value):
        raise ToolError(f"{tool_name}: {name!r} holds half a character (a lone surrogate); write it whole")
    if "enum" in schema and value not in schema["enum"]:
        bare = _bare(CHOICES.get(_bare(str(value)), str(value)))
        meant = [choice for choice in schema["enum"] if _bare(str(choice)) == bare]
        if len(meant) != 1:
            choices = ", ".join(map(str, schema["enum"]))
            raise ToolError(f"{tool_name}: {name!r} must be one of {choices}")
        return meant[0]
    return value


def _meant(text: str, kind: object) -> Any:
    """What a text stands for where another type is wanted; the text itself where it can mean nothing else."""
    meant: Any = text
    with contextlib.suppress(ValueError, RecursionError):
        if kind in ("integer", "number", "boolean"):
            return json.loads(text.strip().lower())
        if kind in ("array", "object"):
            meant = json.loads(text, strict=False)
    return meant if isinstance(meant, list if kind == "array" else dict) else text


def _checked_object(tool_name: str, name: str, value: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    known, required = schema["properties"], schema.get("required", ())
    if isinstance(value, str) and len(required) == 1:
        value = {required[0]: value}
    if not isinstance(value, dict):
        raise ToolError(f"{tool_name}: {name!r} must be an object with {', '.join(known)}")
    named = _named(f"{name!r} of {tool_name}", value, schema)
    for key in required:
        if named.get(key) is None:
            raise ToolError(f"{tool_name}: {name!r} needs {key!r}: {known[key].get('description', '')}")
    return {
        key: _checked(tool_name, f"{name}.{key}", inner, known.get(key, {}))
        for key, inner in named.items()
        if inner is not None
    }
