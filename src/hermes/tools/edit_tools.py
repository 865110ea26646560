"""Changing files: written whole, or a passage replaced. Encoding, line ends and mode stay as they are.

Between reading and writing its folder is locked against other processes of Hermes and nothing is waited for.
A file that changed since the conversation saw it is not written over: whoever asked is told, and can look.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hermes.provenance import digest_of
from hermes.security.secrets import MARK
from hermes.text import many
from hermes.tooling import Plan, ToolContext, ToolError, tool
from hermes.tools.places import absolute

if TYPE_CHECKING:  # loaded when the first file is changed
    from hermes.tools.file_match import Place
    from hermes.tools.file_text import FileText

_NAMED = 12


def _plan_write(context: ToolContext, path: str, content: str) -> Plan:
    file, raw = _written(context, path, content)
    context.seen.setdefault(os.path.realpath(file.path), file.digest)  # what a person is asked about
    return Plan(writes=(file.path,), detail=_diff(file, raw, path))


@tool(plan=_plan_write)
async def write_file(context: ToolContext, path: str, content: str) -> str:
    """Write a file; see write_file.md."""
    from hermes.tools.file_text import changed_meanwhile, only_writer_of

    full = absolute(context.cwd, path)
    _refuse_unfit(path, content)
    with only_writer_of(full):
        file, raw = _written(context, path, content)
        if file.exists and raw == file.raw:
            context.seen[os.path.realpath(full)] = file.digest
            return f"{path} has this text already; nothing was written"
        if context.seen.get(os.path.realpath(full), file.digest) != file.digest:
            raise ToolError(changed_meanwhile(path))
        size = _save(context, file, raw)
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    told = f"{'replaced' if file.exists else 'wrote'} {path}: {many(lines, 'line')}, {many(size, 'byte')}"
    return f"{told}\n{_diff(file, raw, path)}" if file.exists else told


def _written(context: ToolContext, path: str, content: str) -> tuple[FileText, str]:
    from hermes.tools.file_text import load

    _refuse_unfit(path, content)
    file = load(absolute(context.cwd, path))
    _keep_bytes(file, content, path)
    raw = content.replace("\n", file.newline) if file.exists and "\r" not in content else content
    return file, raw


def _plan_patch(
    context: ToolContext, path: str, old_string: str, new_string: str, replace_all: bool = False
) -> Plan:
    file, raw, _ = _patched(context, path, old_string, new_string, replace_all)
    return Plan(writes=(file.path,), detail=_diff(file, raw, path))


@tool(plan=_plan_patch)
async def patch(
    context: ToolContext, path: str, old_string: str, new_string: str, replace_all: bool = False
) -> str:
    """Replace a passage; see patch.md."""
    from hermes.tools.file_text import only_writer_of

    full = absolute(context.cwd, path)
    if not os.path.exists(full):
        _patched(context, path, old_string, new_string, replace_all)  # which tells what is wrong
    with only_writer_of(full):
        file, raw, how = _patched(context, path, old_string, new_string, replace_all)
        seen = context.seen.get(os.path.realpath(full), file.digest)
        _save(context, file, raw)
        if seen != file.digest:  # what somebody else wrote there was not seen yet
            context.seen[os.path.realpath(full)] = seen
    matched = f" (matched {how})" if how else ""
    return f"patched {path}{matched}\n{_diff(file, raw, path)}"


def _patched(
    context: ToolContext, path: str, old: str, new: str, everywhere: bool
) -> tuple[FileText, str, str]:
    """The file, its text after the patch, and how the place was found."""
    from hermes.tools.file_match import find
    from hermes.tools.file_text import load

    _refuse_unfit(path, old, new)
    old, new = (text.replace("\r\n", "\n") for text in (old, new))
    if not old:
        raise ToolError("old_string is empty; quote the passage to replace, or use write_file for a new file")
    if old == new:
        raise ToolError("old_string and new_string are the same; there is nothing to change")
    file = load(absolute(context.cwd, path))
    if not file.exists:
        raise ToolError(f"there is no file {path} to patch; write_file makes one")
    _keep_bytes(file, new, path)
    text = file.text
    match = find(text, old, new)
    if not match.places:
        raise ToolError(_not_found(text, old, new, path))
    if len(match.places) > 1 and not everywhere:
        raise ToolError(_ambiguous(text, match.places, path))
    return file, file.replaced(match.places), match.how


def _save(context: ToolContext, file: FileText, raw: str) -> int:
    """Write a file, and remember what stands there now; its size in bytes."""
    data = file.save(raw)
    context.seen[os.path.realpath(file.path)] = digest_of(data)
    return len(data)


def _refuse_unfit(path: str, *texts: str) -> None:
    for text in texts:
        if "\0" in text:
            raise ToolError(f"{path}: the text has a NUL character; leave it out, or use the terminal")
        if MARK in text:
            raise ToolError(
                f"{path}: the text holds {MARK}…], which stands for a secret that was hidden from you; "
                "quote only what is around it, so that the secret stays as it is"
            )


def _keep_bytes(file: FileText, new: str, path: str) -> None:
    if "\ufffd" in new and file.has_foreign_bytes:
        raise ToolError(
            f"{path} has bytes that are not valid UTF-8, and the new text has \ufffd where they were shown; "
            "quote only what is around them, so that they stay as they are"
        )


def _not_found(text: str, old: str, new: str, path: str) -> str:
    from hermes.tools.file_match import nearest

    if new and new in text:
        return f"{path} does not have this passage, but it has the new one already; nothing was changed"
    near = nearest(text, old)
    hint = f"; line {near} is most like it: {text.split(chr(10))[near - 1].strip()[:200]!r}" if near else ""
    return f"{path} does not have this passage{hint}. Read the file again and quote it as it stands"


def _ambiguous(text: str, places: list[Place], path: str) -> str:
    numbers = [text.count("\n", 0, place.start) + 1 for place in places]
    listed = ", ".join(map(str, numbers[:_NAMED])) + (", …" if len(numbers) > _NAMED else "")
    return (
        f"the passage stands {len(places)} times in {path}, at lines {listed}; "
        "quote more lines around the one you mean, or set replace_all"
    )


def _diff(file: FileText, raw: str, path: str) -> str:
    """What changes, line ends aside."""
    from hermes.tools.file_diff import diff
    from hermes.tools.file_text import FileText

    return diff(file.text, FileText(path, raw).text, path) or "(only line ends change)"
