"""Path patterns as rules and ignore files write them, as regular expressions."""

from __future__ import annotations

import re
from functools import lru_cache

_MOST_ALTERNATIVES = 64


@lru_cache(maxsize=1024)
def glob_pattern(glob: str) -> re.Pattern[str] | None:
    """A glob of a rule: `**` any folders, `*` within a name, `?`, `[..]`, `{a,b}`; None when it is malformed.

    Without a `/` it matches a name at any depth; with a trailing one all below the folder.
    """
    glob = glob.strip().removeprefix("./").lstrip("/")
    if not glob:
        return None
    if glob.endswith("/"):
        glob += "**"
    if "/" not in glob:
        glob = "**/" + glob
    body = _translate(glob)
    try:
        return re.compile(body + r"\Z") if body is not None else None
    except re.error:
        return None


def ignore_pattern(line: str) -> tuple[re.Pattern[str], bool] | None:
    """One line of a `.gitignore` and whether it takes paths back in; None for a comment or a bad line.

    The pattern matches the ignored path itself and all below it.
    """
    line = line.rstrip()
    if not line or line.startswith("#"):
        return None
    back = line.startswith("!")
    line = line[back:].rstrip("/")
    anchored = "/" in line
    body = _translate(line.lstrip("/"), braces=False)
    if not body:
        return None
    try:
        return re.compile(("" if anchored else "(?:.*/)?") + body + r"(?:/.*)?\Z"), back
    except re.error:
        return None


def _translate(glob: str, *, braces: bool = True) -> str | None:
    out: list[str] = []
    at, depth, alternatives = 0, 0, 0
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "*":
            at, piece = _star(glob, at)
            out.append(piece)
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := glob.find("]", at + 1)) > 0:
            inner = glob[at:end].replace("\\", r"\\")
            out.append("[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]")
            at = end + 1
        elif braces and char in "{,}" and (depth or char == "{"):
            depth += (char == "{") - (char == "}")
            alternatives += 1
            out.append({"{": "(?:", ",": "|", "}": ")"}[char])
        else:
            out.append(re.escape(char))
    return None if depth or alternatives > _MOST_ALTERNATIVES else "".join(out)


def _star(glob: str, at: int) -> tuple[int, str]:
    if not glob.startswith("*", at):
        return at, "[^/]*"
    while glob.startswith("*", at):
        at += 1
    if glob.startswith("/", at):
        return at + 1, "(?:[^/]+/)*"
    return at, ".*"
