"""Reading files."""

from __future__ import annotations

import os

from hermes.errors import FileRefused
from hermes.files import list_directory
from hermes.files import read_file as read_bytes
from hermes.provenance import digest_of
from hermes.text import decode, many
from hermes.tooling import Plan, ToolContext, ToolError, tool
from hermes.tools.images import image
from hermes.tools.places import absolute

MAX_LINES = 2_000
MAX_CHARS = 100_000
MAX_LINE = 2_000
_MAX_BYTES = 64 * 1024 * 1024
_NAMED = 50


def _plan(context: ToolContext, path: str, **arguments: object) -> Plan:
    return Plan(reads=(absolute(context.cwd, path),))


@tool(parallel=True, effects=False, plan=_plan)
async def read_file(context: ToolContext, path: str, offset: int = 1, limit: int = MAX_LINES) -> str:
    """A file's lines with their numbers; see read_file.md."""
    full = absolute(context.cwd, path)
    data = b""
    try:
        data = read_bytes(full, max_bytes=_MAX_BYTES).data
        decoded = decode(data)
        context.seen[os.path.realpath(full)] = digest_of(data)
    except FileRefused as error:
        if what := image(data):
            return f"[{path} is {what}; images cannot be shown as text]"
        raise ToolError(_advice(full, path, error)) from None
    lines = decoded.text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        return f"{path} is empty"
    first = max(1, len(lines) + 1 + offset) if offset < 0 else max(1, offset)
    if first > len(lines):
        raise ToolError(f"{path} has {many(len(lines), 'line')}; line {first} is past its end")
    shown, next_line = _numbered(lines, first, max(1, min(limit, MAX_LINES)))
    notes = [f"[{decoded.problem}]"] if decoded.problem else []
    if next_line <= len(lines):
        notes.append(f"[lines {first} to {next_line - 1} of {len(lines)}; go on with offset={next_line}]")
    return "\n".join([*shown, *notes])


def _numbered(lines: list[str], first: int, limit: int) -> tuple[list[str], int]:
    shown, size, number = [], 0, first
    for line in lines[first - 1 : first - 1 + limit]:
        cut = f" [… {many(len(line) - MAX_LINE, 'more character')}]" if len(line) > MAX_LINE else ""
        shown.append(f"{number}\t{line[:MAX_LINE]}{cut}")
        size += len(shown[-1]) + 1
        number += 1
        if size > MAX_CHARS:
            break
    return shown, number


def _advice(full: str, path: str, error: FileRefused) -> str:
    """What is wrong with the path, and what may have been meant."""
    if os.path.isdir(full):
        names = list_directory(full)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f"{path} is a folder; it holds {', '.join(names[:_NAMED]) or 'nothing'}{more}"
    if error.verdict == "too large":
        return f"{path} cannot be read whole: {error}; use search_files, or sed in the terminal"
    if error.verdict != "missing":
        return f"{path} cannot be read: {error}"
    from difflib import get_close_matches

    folder = os.path.dirname(full)
    try:
        names = list_directory(folder)
    except FileRefused:
        names = ()
    near = get_close_matches(os.path.basename(full), names, 3)
    if near:
        return f"there is no file {path}; near it: {', '.join(near)}"
    return f"there is no file {path}" + ("" if os.path.isdir(folder) else f"; nor a directory {folder}")
