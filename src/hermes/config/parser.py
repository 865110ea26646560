"""YAML 1.2 to plain values, each with its line. Whatever the bytes are, the outcome is a `Document`."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import Any

from hermes.config.document import Document, Path, Problem
from hermes.errors import FileRefused, WrongSetting
from hermes.provenance import Level
from hermes.text import decode, paired

MAX_DEPTH = 64
MAX_VALUES = 20_000
"""Aliases can make a small file unfold without end; beyond this many values it is refused."""

# What the parser is known to raise on text that is no YAML, its own error (a YAMLError) apart: it checks
# less than it should before it converts numbers, looks into tables and compares.
PARSER_FAILURES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
)

_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F_]+|0o[0-7_]+|[0-9][0-9_]*)", re.ASCII)


def parse(data: bytes) -> Document:
    """Read a config file's bytes; what is wrong with them becomes problems."""
    try:
        decoded = decode(data)
    except FileRefused as refused:
        return _failed(0, f"{refused}. Save it as UTF-8 text")
    problems = [Problem("warning", 0, f"{decoded.problem}. Save it as UTF-8")] if decoded.problem else []
    read = _parse_text(decoded.text)
    return replace(read, problems=(*problems, *read.problems))


def _failed(line: int, text: str) -> Document:
    return Document(problems=(Problem("error", line, text),), readable=False)


def compose(text: str) -> Any:
    """The tree of nodes of a YAML text, None when it is empty. Raises YAMLError or a PARSER_FAILURES."""
    from ruamel.yaml import YAML

    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = MAX_DEPTH
    yaml.composer.warn_double_anchors = False
    root = yaml.compose(text)
    return None if root is None or is_null(root) else root


def parse_value(text: str) -> Any:
    """One value as it is typed on a command line; WrongSetting when it is no YAML."""
    from ruamel.yaml.error import YAMLError

    try:
        root = compose(text)
        return None if root is None else _Reading(_Lines(text)).value(root, ())
    except (YAMLError, _Unusable, *PARSER_FAILURES):
        raise WrongSetting(f"{text} is no YAML value; put it in quotes: '\"…\"'") from None


def _parse_text(text: str) -> Document:
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.nodes import MappingNode

    lines = _Lines(text)
    try:
        root = compose(text)
        if root is None:
            return Document()
        if not isinstance(root, MappingNode):
            return _failed(lines.at(root.start_mark), "the file must hold keys with values, one a line")
        reading = _Reading(lines)
        return Document(reading.mapping(root, ()), reading.lines, tuple(reading.problems), reading.texts)
    except _Unusable as error:
        return _failed(0, str(error))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return _failed(lines.at(mark) if mark else 0, _explained(error.problem or error.context or ""))
    except (YAMLError, *PARSER_FAILURES) as error:
        return _failed(_line_of(error, text), _explained(str(error).partition("\n")[0]))


def _line_of(error: BaseException, text: str) -> int:
    position = getattr(error, "position", None)
    return text.count("\n", 0, position) + 1 if isinstance(position, int) else 0


def _explained(problem: str) -> str:
    if "\\t" in problem or "\t" in problem:
        return "it is not YAML: a tab stands where only spaces may. Indent with spaces"
    if "another document" in problem:
        return "a second document begins with ---. Keep one"
    if "depth" in problem or "recursion" in problem:
        return f"it nests deeper than {MAX_DEPTH} levels. Flatten it"
    said = f" ({problem})" if problem else ""
    return f"it is not YAML{said}. Look at this line and the one before: indentation, quotes, colons"


class _Lines:
    """Line numbers as editors count them; the parser breaks lines at more characters than they do."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [found.start() for found in re.finditer(r"\n", text)]

    def at(self, mark: Any) -> int:
        return self._of(mark.index)

    def of_text(self, node: Any) -> tuple[int, int]:
        """The first and the last line of a text; one in block form begins below its sign."""
        first, end = self.at(node.start_mark), node.end_mark.index
        if node.style not in ("|", ">"):
            return first, self._of(end)
        written = self._text[node.start_mark.index : end].rstrip()
        return first + 1, max(first + 1, self._of(node.start_mark.index + len(written)))

    def _of(self, index: int) -> int:
        return bisect_left(self._ends, index) + 1


def is_null(node: Any) -> bool:
    return str(node.tag).endswith(":null")


class _Unusable(Exception):
    """The tree of nodes cannot be unfolded."""


class _Reading:
    """One walk over the nodes of a file."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self.lines: dict[Path, int] = {}
        self.texts: dict[Path, tuple[int, int]] = {}
        self.problems: list[Problem] = []
        self._count = 0
        self._open: set[int] = set()

    def value(self, node: Any, path: Path) -> Any:
        from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

        self._count += 1
        if self._count > MAX_VALUES:
            raise _Unusable(f"it holds more than {MAX_VALUES:,} values, its aliases unfolded. Use fewer")
        if isinstance(node, ScalarNode):
            self._place(node, path)
            return scalar(node)
        if id(node) in self._open:
            raise _Unusable("an alias stands inside the value it names. Write the value out")
        self._open.add(id(node))
        try:
            if isinstance(node, MappingNode):
                return self.mapping(node, path)
            assert isinstance(node, SequenceNode)
            return [self._item(item, (*path, str(n))) for n, item in enumerate(node.value)]
        finally:
            self._open.discard(id(node))

    def _place(self, node: Any, path: Path) -> None:
        place = self._lines.of_text(node)
        if place != (self.lines.get(path),) * 2:
            self.texts[path] = place

    def _item(self, node: Any, path: Path) -> Any:
        self.lines.setdefault(path, self._lines.at(node.start_mark))
        return self.value(node, path)

    def mapping(self, node: Any, path: Path) -> dict[str, Any]:
        """A mapping; a key that stands twice is left out, since nobody can say which was meant."""
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        twice: set[str] = set()
        for key, value in node.value:
            if str(key.tag).endswith(":merge"):
                self._merge(value, path, merged)
                continue
            name = self._name(key)
            if name is None:
                continue
            if name in found or name in twice:
                twice.add(name)
                first = self.lines[(*path, name)]
                text = f"{'.'.join((*path, name))} stands on line {first} too; both were passed over"
                self._tell("error", key, f"{text}. Keep one")
                found.pop(name, None)
                continue
            self.lines[(*path, name)] = self._lines.at(key.start_mark)
            found[name] = self.value(value, (*path, name))
        return {name: value for name, value in (merged | found).items() if name not in twice}

    def _merge(self, node: Any, path: Path, merged: dict[str, Any]) -> None:
        value = self.value(node, path)
        for part in reversed(value) if isinstance(value, list) else (value,):
            if isinstance(part, dict):
                merged |= part
            else:
                self._tell("warning", node, "<< brings in no mapping; it was passed over")

    def _name(self, key: Any) -> str | None:
        if isinstance(key.value, str):
            return paired(key.value)
        self._tell("warning", key, "a key is not a plain name; it was passed over with its value")
        return None

    def _tell(self, level: Level, node: Any, text: str) -> None:
        self.problems.append(Problem(level, self._lines.at(node.start_mark), text))


def scalar(node: Any) -> str | int | float | bool | None:
    """A scalar by YAML 1.2. Dates, infinities and unknown tags stay the text they are."""
    text: str = node.value
    kind = str(node.tag).rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind == "int" and len(text) <= 18 and _NUMBER.fullmatch(text):
        bare = text.replace("_", "")
        return int(bare, 0) if bare.lstrip("+-")[1:2] in ("x", "X", "o") else int(bare)
    if kind == "float" and len(text) <= 40:
        number = _number(text.replace("_", ""))
        return paired(text) if number is None else number
    return paired(text)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None
