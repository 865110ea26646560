"""Changing one value in a YAML text. Every line that is not the value's own stays as it is, byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hermes.config.document import Path
from hermes.config.parser import compose, is_null, scalar
from hermes.errors import ConfigError
from hermes.frozen import frozen

STEP = "  "

_ALIAS = re.compile(r"\s*:\s*(\*[^\s,\[\]{}]+)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_SWITCHES = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false"])
"""Texts that older readers of YAML take for switches; they are written in quotes."""

_PLAIN = re.compile(r"[A-Za-z_./~][\w./+@~-]*(?: [\w./+@~(][\w./+@~()-]*)*", re.ASCII)
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\U000e0000-\U000e007f]")


@frozen
class _Entry:
    """A key with its value in a mapping; all three are nodes of the parser."""

    mapping: Any
    key: Any
    value: Any

    @property
    def is_alias(self) -> bool:
        return bool(self.value.start_mark.index < self.key.end_mark.index)

    def colon(self, text: str) -> int:
        """Where the sign between key and value ends."""
        return text.index(":", self.key.end_mark.index) + 1

    def place(self, text: str) -> tuple[int, int]:
        """Where a value on one line starts and ends; the parser places an empty one further down."""
        start, end = self.value.start_mark.index, self.value.end_mark.index
        return (self.colon(text), self.colon(text)) if start == end else (start, end)


def set_in(text: str, path: Path, value: Any) -> str:
    """The text with `value` at `path`; new keys go to the end of their section."""
    root = compose(text)
    if root is None:
        return _with_lines(text, len(text), _block(path, value, "", _line_end(text)))
    found = _descend(root, path)
    if len(found) == len(path):
        return _replaced(text, found[-1], value)
    return _added(text, root, found, path[len(found) :], value)


def unset_in(text: str, path: Path) -> str | None:
    """The text without the key at `path` and sections that it leaves empty; None when it is not there."""
    root = compose(text)
    found = _descend(root, path) if root is not None else []
    if len(found) < len(path):
        return None
    while len(found) > 1 and len(found[-1].mapping.value) == 1:
        found.pop()
    entry = found[-1]
    if entry.mapping.flow_style:
        return _without_in_flow(text, entry)
    start = _line_start(text, entry.key.start_mark.index)
    if text[start : entry.key.start_mark.index].strip():
        raise ConfigError(f"{'.'.join(path)} shares its line with something else; remove it by hand")
    return text[:start] + text[_next_line(text, _end(text, entry)) :]


def _descend(root: Any, path: Path) -> list[_Entry]:
    from ruamel.yaml.nodes import MappingNode

    found: list[_Entry] = []
    node = root
    for name in path:
        pairs = node.value if isinstance(node, MappingNode) else ()
        entry = next((_Entry(node, key, value) for key, value in pairs if key.value == name), None)
        if entry is None:
            break
        found.append(entry)
        node = entry.value
    return found


def _replaced(text: str, entry: _Entry, value: Any) -> str:
    colon = entry.colon(text)
    if entry.is_alias:
        start, end = _alias(text, entry)
        return f"{text[:start]}{flow(value)}{text[end:]}"
    if not _is_block(entry.value):
        start, end = entry.place(text)
        gap = " " if start == colon else ""
        return f"{text[:start]}{gap}{flow(value, getattr(entry.value, 'style', None))}{text[end:]}"
    header = text[colon : _line_stop(text, colon)]
    if not header.lstrip().startswith("#"):  # the sign of a block scalar, an anchor
        header = ""
    return f"{text[:colon]} {flow(value)}{header}{text[_line_stop(text, _end(text, entry)) :]}"


def _added(text: str, root: Any, found: list[_Entry], rest: Path, value: Any) -> str:
    from ruamel.yaml.nodes import MappingNode

    parent = found[-1].value if found else root
    if isinstance(parent, MappingNode) and not (found and found[-1].is_alias):
        if parent.flow_style:
            return _added_in_flow(text, parent, _pair(rest, value))
        indent = " " * parent.value[0][0].start_mark.column
        last = _Entry(parent, *parent.value[-1])
        at = _next_line(text, _end(text, last))
        return _with_lines(text, at, _block(rest, value, indent, _line_end(text)))
    if found and is_null(parent) and not found[-1].is_alias:
        return _filled(text, found[-1], rest, value)
    raise ConfigError(f"there is already a value above {rest[0]}, which is no mapping; change it by hand")


def _filled(text: str, entry: _Entry, rest: Path, value: Any) -> str:
    """A section that stands empty gets its first key."""
    start, end = entry.place(text)
    if start != end or entry.mapping.flow_style:
        gap = " " if start == end else ""
        return f"{text[:start]}{gap}{{{_pair(rest, value)}}}{text[end:]}"
    indent = " " * entry.key.start_mark.column + STEP
    return _with_lines(text, _next_line(text, start), _block(rest, value, indent, _line_end(text)))


def _added_in_flow(text: str, node: Any, pair: str) -> str:
    close = node.end_mark.index - 1
    if not node.value:
        at = text.index("{", node.start_mark.index) + 1
        return f"{text[:at]}{pair}{text[at:]}"
    end = _end(text, _Entry(node, *node.value[-1]))
    comma = text.find(",", end, close)
    if comma >= 0:
        return f"{text[: comma + 1]} {pair}{text[comma + 1 :]}"
    return f"{text[:end]}, {pair}{text[end:]}"


def _without_in_flow(text: str, entry: _Entry) -> str:
    start, end = entry.key.start_mark.index, _end(text, entry)
    after = re.compile(r"\s*,[ \t]*").match(text, end)
    if after:
        return text[:start] + text[after.end() :]
    before = re.compile(r",\s*\Z").search(text[:start])
    return text[: before.start() if before else start] + text[end:]


def _is_block(node: Any) -> bool:
    if isinstance(node.value, str):
        return node.style in ("|", ">")
    return not node.flow_style


def _end(text: str, entry: _Entry) -> int:
    """Where the value of an entry ends, comments after it apart."""
    if entry.is_alias:
        return _alias(text, entry)[1]
    if not _is_block(entry.value):
        return entry.place(text)[1]
    return _node_end(text, entry.value, entry.key.start_mark.column)


def _node_end(text: str, node: Any, column: int) -> int:
    if not _is_block(node):
        return int(node.end_mark.index)
    if isinstance(node.value, str):
        return _block_scalar_end(text, node, column)
    last = node.value[-1]
    if isinstance(last, tuple):
        return _end(text, _Entry(node, *last))
    if last.start_mark.index < node.start_mark.index:  # an alias: its marks are those of what it names
        return _trimmed_end(text, node)
    return _node_end(text, last, node.start_mark.column)


def _trimmed_end(text: str, node: Any) -> int:
    end = int(node.end_mark.index)
    while end > node.start_mark.index:
        start = _line_start(text, end)
        line = text[start:end].strip()
        if line and not line.startswith("#"):
            return end
        end = start - 1
    return int(node.start_mark.index)


def _block_scalar_end(text: str, node: Any, column: int) -> int:
    end = _line_stop(text, node.start_mark.index)
    start = _next_line(text, end)
    while start < len(text):
        stop = _line_stop(text, start)
        line = text[start:stop]
        if line.strip():
            if len(line) - len(line.lstrip(" ")) <= column:
                break
            end = stop
        start = _next_line(text, stop)
    return end


def _alias(text: str, entry: _Entry) -> tuple[int, int]:
    found = _ALIAS.match(text, entry.key.end_mark.index)
    if not found:
        raise ConfigError("its value is an alias that stands elsewhere; change it by hand")
    return found.span(1)


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _line_stop(text: str, at: int) -> int:
    found = _LINE_END.search(text, at)
    return found.start() if found else len(text)


def _next_line(text: str, at: int) -> int:
    found = _LINE_END.search(text, at)
    return found.end() if found else len(text)


def _line_end(text: str) -> str:
    found = _LINE_END.search(text)
    return found[0] if found else "\n"


def _with_lines(text: str, at: int, lines: str) -> str:
    """Put whole lines in, ending the line before them if nothing did."""
    before = text[:at]
    if before and not before.endswith(("\n", "\r")):
        before += _line_end(text)
    return before + lines + text[at:]


def _block(path: Path, value: Any, indent: str, line_end: str) -> str:
    """The lines for a new key, its missing sections above it."""
    head, rest = path[0], path[1:]
    if rest:
        return f"{indent}{name_in_yaml(head)}:{line_end}" + _block(rest, value, indent + STEP, line_end)
    return f"{indent}{name_in_yaml(head)}: {flow(value)}{line_end}"


def _pair(path: Path, value: Any) -> str:
    if len(path) == 1:
        return f"{name_in_yaml(path[0])}: {flow(value)}"
    return f"{name_in_yaml(path[0])}: {{{_pair(path[1:], value)}}}"


def name_in_yaml(name: str) -> str:
    return flow(name)


def flow(value: Any, style: str | None = None) -> str:
    """A value on one line. A text keeps the quotes of the one before it where they can hold it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name_in_yaml(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and value.lower() not in _SWITCHES and _PLAIN.fullmatch(value) and _reads_back(value):
        return value
    return _ESCAPED.sub(_escape, json.dumps(value, ensure_ascii=False))


def _reads_back(text: str) -> bool:
    node = compose(text)
    return node is not None and isinstance(node.value, str) and scalar(node) == text


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
