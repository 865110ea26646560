"""The places that a tool call went to, out of its arguments."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hermes.agent.shell_paths import MOST_PATHS, paths_of_command

_PATHS = frozenset(
    [
        "cwd",
        "destination",
        "dest",
        "dir",
        "directories",
        "directory",
        "file",
        "file_path",
        "filename",
        "filepath",
        "files",
        "folder",
        "folders",
        "location",
        "new_path",
        "notebook_path",
        "old_path",
        "path",
        "paths",
        "root",
        "source",
        "src",
        "target",
        "target_file",
        "uri",
        "workdir",
        "working_directory",
    ]
)
_COMMANDS = frozenset({"cmd", "command", "commands"})
_PATCHES = frozenset({"diff", "input", "patch"})
_MOST_VALUES = 2_000
_DEEPEST = 6
_LONGEST = 4096  # characters of one path

_UNUSUAL = re.compile(r"[\0\n\\]|/\.|//|:/|/$|^.{4096}", re.S)
"""What a path may hold that has to be looked at: any other absolute path is as it should be."""
_IN_PATCH = re.compile(
    r"^(?:\*\*\* (?:Add|Delete|Update) File: |\*\*\* Move to: |\+\+\+ |--- |(?:rename|copy) (?:from|to) )"
    r"([^\t\r\n]{1,4096})",
    re.M,
)


class Places(NamedTuple):
    """Absolute paths in the order of the arguments; `cwd` is where the shell is after a call that `ran` one.

    `whole` is false when there was more than is looked at.
    """

    paths: tuple[str, ...] = ()
    cwd: str = ""
    whole: bool = True
    ran: bool = False


def places_of(arguments: str | Mapping[str, object], cwd: str, shell: str) -> Places:
    """Where a call went. `cwd` is where paths start from, `shell` the directory that the shell was in.

    `arguments` as the model wrote them, JSON; text that is none names no place.
    """
    if isinstance(arguments, str):
        try:
            given = json.loads(arguments) if arguments else None
        except (ValueError, RecursionError):
            given = None
    else:
        given = arguments
    if not isinstance(given, Mapping):
        return Places((), shell)
    found: dict[str, None] = {}
    base, whole, ran = cwd, True, False
    values = list(_values(given))
    for name, value in values[:_MOST_VALUES]:
        if name in _COMMANDS:
            start = _directory(given, shell)
            read = paths_of_command(value, start)
            found.update(dict.fromkeys(read.paths))
            whole = whole and read.whole
            shell, ran = read.cwd, True
        elif name in _PATCHES:
            for match in _IN_PATCH.finditer(value):
                found.update(dict.fromkeys(_patched(match[1], base)))
                if len(found) > MOST_PATHS:
                    break
        elif path := _path(value, base):
            found[path] = None
    whole = whole and len(values) <= _MOST_VALUES and len(found) <= MOST_PATHS
    return Places(tuple(found)[:MOST_PATHS], shell, whole, ran)


def _values(given: object, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The texts that stand under a telling name, at any place."""
    if isinstance(given, str):
        if name in _PATHS or name in _COMMANDS or name in _PATCHES:
            yield name, given
    elif depth < _DEEPEST and isinstance(given, Mapping):
        for key, value in given.items():
            if isinstance(value, str | list | Mapping):
                yield from _values(value, key.lower() if isinstance(key, str) else "", depth + 1)
    elif depth < _DEEPEST and isinstance(given, list):
        for value in given[:_MOST_VALUES]:
            yield from _values(value, name, depth + 1)


def _directory(given: Mapping[str, object], shell: str) -> str:
    """Where a command runs: in the directory that comes with it, else where the shell is."""
    for name in ("workdir", "cwd", "working_directory"):
        if isinstance(value := given.get(name), str) and (path := _path(value, shell)):
            return path
    return shell


def _path(value: str, base: str) -> str:
    """A path as this system has it; "" for what is none."""
    value = value.strip().removeprefix("file://")
    if os.sep == "/" == value[:1] and not _UNUSUAL.search(value):
        return value
    if not value or len(value) > _LONGEST or "\0" in value or "\n" in value or "://" in value:
        return ""
    if value.startswith("~"):
        value = os.path.expanduser(value)
    path = os.path.normpath(os.path.join(base, value))
    if "\\" in value and os.sep == "/" and not os.path.lexists(path):
        path = os.path.normpath(os.path.join(base, value.replace("\\", "/")))
    return path


def _patched(name: str, base: str) -> Iterator[str]:
    """A file that a patch names; without the `a/` or `b/` before it where it has one."""
    name = name.strip().strip('"')
    if name == "/dev/null":
        return
    if name[:2] in ("a/", "b/"):
        yield from filter(None, (_path(name[2:], base),))
    yield from filter(None, (_path(name, base),))
