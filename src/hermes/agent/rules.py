"""Cursor's `.mdc` rules: a small front matter, and four ways to apply."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from hermes.text import front_matter

Mode = Literal["always", "glob", "described", "manual"]

_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_BLOCK = re.compile(r"\s*(?:[|>][-+1-9]{0,2})?\s*")
"""Nothing, or the sign of a text that begins on the next line."""
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*$")


class Rule(NamedTuple):
    """The front matter of one rule; `body` is where its text starts, `line` the line of its description.

    `problem` tells why it is unusable.
    """

    mode: Mode
    body: int = 0
    description: str = ""
    globs: tuple[str, ...] = ()
    problem: str = ""
    warning: str = ""
    line: int = 1


def parse_rule(text: str, key: str = "globs") -> Rule:
    """Read a rule's front matter, where `key` has the patterns of the paths that it is for.

    The three keys are read line by line, not as YAML: unquoted globs such as `*.ts` are the rule in the
    field and are no YAML. A file without front matter is a manual rule.
    """
    matter = front_matter(text)
    if matter.open:
        return Rule("manual", problem="its front matter is never closed")
    if matter.yaml is None:
        return Rule("manual")
    values: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    last = ""
    for number, line in enumerate(matter.yaml.split("\n"), 2):
        if found := _KEY.match(line):
            last = found[1]
            lines[last] = number
            values[last] = [found[2]] if found[2] and found[2].strip() else []
        elif not line.strip() or line.lstrip().startswith("#"):
            continue
        elif last and line.lstrip().startswith("- "):
            values[last].append(line.lstrip()[2:])
        elif last and line[0] in " \t":
            values[last].append(line.strip())  # a wrapped description
        else:
            return Rule("manual", problem=f"line {number} of its front matter is not `key: value`")
    return _rule(values, matter.body, key, lines.get("description", 1))


def _rule(values: dict[str, list[str]], body: int, key: str, line: int) -> Rule:
    description = " ".join(_scalar(v) for v in values.get("description", []) if not _BLOCK.fullmatch(v))
    globs = tuple(g for value in values.get(key, []) for g in _list(value))
    always = (values.get("alwaysApply") or [""])[0]
    always = (_COMMENT.sub("", always) if "#" in always else always).strip()
    warning = ""
    if always.lower() not in ("", "true", "false"):
        warning = f"alwaysApply is {always}; it must be true or false without quotes, so it counts as false"
    if always.lower() == "true":
        mode: Mode = "always"
    elif globs:
        mode = "glob"
    else:
        mode = "described" if description else "manual"
    return Rule(mode, body, description, globs, warning=warning, line=line)


def _scalar(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return _COMMENT.sub("", value).strip() if "#" in value else value


def _list(value: str) -> list[str]:
    """A list in brackets or a comma string; commas inside braces belong to the pattern."""
    value = _scalar(value)
    if value.startswith("[") and value.endswith("]") and "," in value + ",":
        inner = value[1:-1]
        if inner.strip()[:1] in "\"'" or "/" in inner or "*" in inner:
            value = inner
    if "," not in value:
        return [cleaned] if (cleaned := _scalar(value)) else []
    parts, depth, at = [], 0, 0
    for i, char in enumerate(value):
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            parts.append(value[at:i])
            at = i + 1
    parts.append(value[at:])
    return [cleaned for part in parts if (cleaned := _scalar(part))]
