"""The YAML at the head of a SKILL.md, read forgivingly and never guessed at in silence.

Every scalar stays the text its author wrote (`version: 1.10` is "1.10"); only YAML's null is `None`.
Plain front matter is read by a quick reader; whatever that does not know for certain goes to a real YAML
parser, and what the parser refuses is repaired value by value, each repair with a warning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"

MAX_CHARS = 65_536
"""Front matter beyond this is refused, with its reason."""
MAX_DEPTH = 16
MAX_VALUES = 10_000
_FIRST_LINE = 2  # the line of the file on which the YAML starts: after the fence


@dataclass(frozen=True, slots=True)
class Fields:
    """What front matter says, the lines of the file on which each top value stands, and what was repaired."""

    values: dict[str, Value]
    lines: dict[str, tuple[int, int]]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """Front matter that cannot be used: the line of the file and the reason."""

    line: int
    reason: str


def read_fields(yaml: str) -> Fields | Fault:
    """The fields of a text between fences; the quick way where it is certain, else the thorough one."""
    return quick_fields(yaml) or thorough_fields(yaml)


# --- the quick way: scalars without escapes, flow lists of words, block lists and nested maps of these ---

_CERTAIN = re.compile("[\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")
_KEY = re.compile(r"( *)([A-Za-z_][A-Za-z0-9_-]{0,63}):(?: +(.*))?$")
_ITEM = re.compile(r"( *)- +([^ ].*)$")
_PLAIN = re.compile("[A-Za-z0-9_(/.$+^;\u00a0-\U0010ffff]")
_QUOTED = re.compile(r'"([^"\\]*)"$|\'([^\']*)\'$')
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ ./+-]*")
_QUOTED_WORD = re.compile(r'"([A-Za-z0-9_ ./+-]*)"$|\'([A-Za-z0-9_ ./+-]*)\'$')
_NULLS = frozenset(("null", "Null", "NULL"))
_BLOCKS = {"|": ("\n", "\n"), "|-": ("\n", ""), ">": (" ", "\n"), ">-": (" ", "")}


def quick_fields(yaml: str) -> Fields | None:
    """The fields when every line is of the simple kinds; None when a real parser must look."""
    if len(yaml) > MAX_CHARS or not _CERTAIN.fullmatch(yaml):
        return None
    top: dict[str, Value] = {}
    places: dict[str, tuple[int, int]] = {}
    open_: list[tuple[int, dict[str, Value] | list[Value]]] = [(0, top)]
    waiting: tuple[dict[str, Value], str, int] | None = None  # a key whose value may follow below
    lines = yaml.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if found := _KEY.match(line):
            spaces, key, rest = found.groups()
            indent, raw = len(spaces), rest.rstrip(" ") if rest else None
            if waiting and indent > waiting[2]:
                child: dict[str, Value] = {}
                waiting[0][waiting[1]] = child
                open_.append((indent, child))
            target = top if not indent and len(open_) == 1 else _target(open_, indent, dict)
            first = at
            value, at = _scalar(raw, lines, at, indent)
            if target is None or key in target or value is _UNSURE:
                return None
            target[key] = value
            waiting = None if raw else (target, key, indent)
            if target is top:
                places[key] = (first + _FIRST_LINE - 1, at + _FIRST_LINE - 1)
        elif found := _ITEM.match(line):
            indent = len(found[1])
            if waiting and indent >= waiting[2]:
                items: list[Value] = []
                waiting[0][waiting[1]] = items
                open_.append((indent, items))
            waiting = None
            into = _target(open_, indent, list)
            if into is None or (value := _value(found[2].rstrip(" "))) is _UNSURE:
                return None
            into.append(value)
        elif (rest := line.lstrip(" ")) and not rest.startswith("#"):
            return None
    return Fields(top, places) if top else None


def _scalar(raw: str | None, lines: list[str], at: int, indent: int) -> tuple[Any, int]:
    """The value that begins with `raw` and may go on from line `at`, and the line after it."""
    if raw and at < len(lines):
        if raw in _BLOCKS:
            return _block(raw, lines, at, indent)
        if lines[at].startswith(" " * (indent + 1)) and _PLAIN.match(raw):
            return _wrapped(raw, lines, at, indent)
    return _value(raw), at


def _block(style: str, lines: list[str], at: int, indent: int) -> tuple[Any, int]:
    """A literal or folded text without blank or indented lines."""
    first = at
    inner = _indent(lines[at])
    while at < len(lines) and (depth := _indent(lines[at])) > indent:
        if depth != inner or depth == len(lines[at]):
            return _UNSURE, at
        at += 1
    if at == first or (at < len(lines) and not lines[at].strip(" ")):
        return _UNSURE, at
    glue, end = _BLOCKS[style]
    return glue.join([line[inner:] for line in lines[first:at]]) + (end if at < len(lines) else ""), at


def _wrapped(raw: str, lines: list[str], at: int, indent: int) -> tuple[Any, int]:
    """A plain text that goes on in deeper lines, without blank ones."""
    parts = [raw]
    while at < len(lines) and _indent(lines[at]) > indent:
        part = lines[at].strip(" ")
        if not _PLAIN.match(part):
            return _UNSURE, at
        parts.append(part)
        at += 1
    if (at < len(lines) and not lines[at].strip(" ")) or any(_value(p) is _UNSURE for p in parts):
        return _UNSURE, at
    return " ".join(parts), at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


_UNSURE: Any = object()


def _target(open_: list[tuple[int, Any]], indent: int, kind: type) -> Any:
    """The open collection a line of this indent belongs to; None when there is none of its kind."""
    while open_[-1][0] > indent or (kind is dict and open_[-1][0] == indent and type(open_[-1][1]) is list):
        open_.pop()
        if not open_:
            return None
    at, collection = open_[-1]
    return collection if at == indent and type(collection) is kind else None


def _value(raw: str | None) -> Any:
    if not raw or raw in _NULLS:
        return None
    if _PLAIN.match(raw):
        return _UNSURE if ": " in raw or " #" in raw or raw[-1] == ":" else raw
    if raw[0] in "\"'":
        found = _QUOTED.match(raw)
        return (found[1] or found[2] or "") if found else _UNSURE
    if raw[0] == "[" and raw[-1] == "]":
        return _flow_list(raw[1:-1])
    return _UNSURE


def _flow_list(inside: str) -> Any:
    if not inside.strip(" "):
        return []
    items: list[Value] = []
    for part in inside.split(","):
        word = part.strip(" ")
        if _WORD.fullmatch(word):
            items.append(None if word in _NULLS else word)
        elif found := _QUOTED_WORD.match(word):
            items.append(found[1] or found[2] or "")
        else:
            return _UNSURE
    return items


# --- the thorough way ---


def thorough_fields(yaml: str) -> Fields | Fault:
    """The fields by a real YAML parser, repairing top-level values that it refuses."""
    if len(yaml) > MAX_CHARS:
        return Fault(1, f"its front matter has {len(yaml):,} characters; at most {MAX_CHARS:,} are read")
    read = _composed(yaml)
    if isinstance(read, Fields):
        return read
    repaired, lines, warnings = _repaired(yaml)
    again = _composed(repaired) if warnings else read
    if isinstance(again, Fault):
        return read
    return Fields(again.values, again.lines | lines, (*warnings, *again.warnings))


def _composed(yaml: str) -> Fields | Fault:
    node = _node(yaml)
    if node is None:
        return Fields({}, {})
    if isinstance(node, Fault):
        return node
    if node.id != "mapping":
        return Fault(_FIRST_LINE, "expected lines of the form `key: value`")
    return _Reader().fields(node)


def _node(yaml: str) -> Any:
    """The root of the parser's tree; None for an empty document; a fault with the parser's reason."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    try:
        return YAML(typ="safe", pure=True).compose(yaml)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return Fault(mark.line + _FIRST_LINE if mark else 1, error.problem or error.context or "not YAML")
    except ReaderError as error:
        line = yaml.count("\n", 0, error.position) + _FIRST_LINE
        return Fault(line, f"it has a control character (U+{ord(yaml[error.position]):04X})")
    except YAMLError as error:
        return Fault(1, " ".join(str(error).split()))
    except RecursionError:
        return Fault(1, "it is nested too deeply")


@dataclass(slots=True)
class _Reader:
    """Turns the parser's nodes into values; bounded, so that aliases cannot make it run away."""

    count: int = 0
    warnings: list[str] = field(default_factory=list)

    def fields(self, node: Any) -> Fields | Fault:
        values: dict[str, Value] = {}
        lines: dict[str, tuple[int, int]] = {}
        for key, value in node.value:
            name = str(key.value)
            at = value.start_mark.line + _FIRST_LINE
            if name in values:
                self.warnings.append(f"line {at}: `{name}` is given twice; the last one counts")
            try:
                values[name] = self.value(value, 1)
            except _TooMuch as limit:
                return Fault(at, str(limit))
            end = value.end_mark
            lines[name] = (at, max(at, end.line + (_FIRST_LINE if end.column else _FIRST_LINE - 1)))
        return Fields(values, lines, tuple(self.warnings))

    def value(self, node: Any, depth: int) -> Value:
        self.count += 1
        if depth > MAX_DEPTH or self.count > MAX_VALUES:
            raise _TooMuch(f"more than {MAX_VALUES:,} values or {MAX_DEPTH} levels")
        if isinstance(node.value, str):
            null = node.tag == "tag:yaml.org,2002:null" and node.style is None
            return None if null else node.value
        if node.value and isinstance(node.value[0], tuple):
            return {str(k.value): self.value(v, depth + 1) for k, v in node.value}
        if node.id == "mapping":
            return {}
        return [self.value(item, depth + 1) for item in node.value]


class _TooMuch(ValueError):
    """Front matter beyond its bounds; caught where it is read."""


_ENTRY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")


def _repaired(yaml: str) -> tuple[str, dict[str, tuple[int, int]], tuple[str, ...]]:
    """The text with each unreadable top-level value in quotes, line for line; their lines; what was done."""
    entries: list[list[str]] = []
    for line in yaml.split("\n"):
        if _ENTRY.match(line) or not entries:
            entries.append([line])
        else:
            entries[-1].append(line)
    out: list[str] = []
    lines: dict[str, tuple[int, int]] = {}
    warnings: list[str] = []
    for entry in entries:
        fault = _composed("\n".join(entry))
        found = _ENTRY.match(entry[0])
        if isinstance(fault, Fault) and found and found[2] and found[2].strip():
            at = len(out) + _FIRST_LINE
            text = " ".join(" ".join((found[2], *entry[1:])).split())
            lines[found[1]] = (at, at + len(entry) - 1)
            out += [f"{found[1]}: {_quoted(text)}", *[""] * (len(entry) - 1)]
            warnings.append(
                f"line {at}: the value of `{found[1]}` is not valid YAML ({fault.reason}); "
                "it was read as plain text. Put it in double quotes"
            )
        else:
            out += entry
    return "\n".join(out), lines, tuple(warnings)


def _quoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    return "'" + text.replace("'", "''") + "'"
