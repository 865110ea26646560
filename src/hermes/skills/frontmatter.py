"""The YAML at the head of a SKILL.md, read forgivingly and never guessed at in silence.

Every scalar stays the text its author wrote (`version: 1.10` is "1.10"); only YAML's null is `None`.
Plain front matter is read by a quick reader; whatever that does not know for certain goes to a real YAML
parser, and what the parser refuses is repaired value by value, each repair with a warning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hermes.skills.fields import FIRST_LINE, MAX_CHARS, Fault, Fields, Value
from hermes.skills.quick import quick_fields

MAX_DEPTH = 16
MAX_VALUES = 10_000


def read_fields(yaml: str) -> Fields | Fault:
    """The fields of a text between fences; the quick way where it is certain, else the thorough one."""
    return quick_fields(yaml) or thorough_fields(yaml)


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
        return Fault(FIRST_LINE, "expected lines of the form `key: value`")
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
        return Fault(mark.line + FIRST_LINE if mark else 1, error.problem or error.context or "not YAML")
    except ReaderError as error:
        line = yaml.count("\n", 0, error.position) + FIRST_LINE
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
            at = value.start_mark.line + FIRST_LINE
            if name in values:
                self.warnings.append(f"line {at}: `{name}` is given twice; the last one counts")
            try:
                values[name] = self.value(value, 1)
            except _TooMuch as limit:
                return Fault(at, str(limit))
            end = value.end_mark
            lines[name] = (at, max(at, end.line + (FIRST_LINE if end.column else FIRST_LINE - 1)))
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
            at = len(out) + FIRST_LINE
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
