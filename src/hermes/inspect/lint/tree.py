"""The files of a project, listed once, and the question whether a name in a text is one of them."""

from __future__ import annotations

import os
import re
from typing import Self

from hermes.errors import FileRefused
from hermes.files import read_file
from hermes.frozen import frozen
from hermes.inspect.lint.globs import ignore_pattern
from hermes.text import decode

_SKIPPED = frozenset({
    ".git", ".hg", ".svn", ".jj", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".nox",
    ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".gradle", ".terraform", ".next",
    ".nuxt", ".cache",
})  # fmt: skip
_AT_MOST = 200_000


@frozen
class Tree:
    """Paths are relative to `root`, with `/`. `stems` are those of files without their ending.

    Without `complete` the list was broken off and proves no absence.
    """

    root: str
    files: tuple[str, ...]
    folders: frozenset[str]
    complete: bool
    by_name: dict[str, tuple[str, ...]]
    stems: frozenset[str]
    ignored_by: tuple[tuple[re.Pattern[str], bool], ...]

    @classmethod
    def of(cls, root: str) -> Self:
        """List a project; folders of tools and links to folders are not entered. Never raises."""
        files, folders, complete = _walk(root)
        by_name: dict[str, list[str]] = {}
        for path in (*files, *folders):
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        names = {name: tuple(paths) for name, paths in by_name.items()}
        stems = frozenset(path[: path.rindex(".")] for path in files if "." in path.rpartition("/")[2])
        return cls(root, tuple(files), frozenset(folders), complete, names, stems, _ignores(root))

    def has(self, path: str, base: str = "") -> bool:
        """Whether a path exists from the root, from `base`, or as the end of some path in the project."""
        if path.strip("/.") == "":
            return True
        if any(os.path.lexists(os.path.join(self.root, start, path)) for start in {"", base}):
            return True
        clean = os.path.normpath(path).replace(os.sep, "/")
        while clean.startswith("../"):
            clean = clean[3:]
        found = self.by_name.get(clean.rpartition("/")[2], ())
        return any(at == clean or at.endswith("/" + clean) for at in found)

    def ignored(self, path: str) -> bool:
        """Whether the project's `.gitignore` covers a path: it may be made at any time."""
        path = path.removeprefix("./").rstrip("/")
        found = False
        for pattern, back in self.ignored_by:
            if pattern.match(path):
                found = not back
        return found

    def named(self, *names: str) -> tuple[str, ...]:
        """The files with one of these names, anywhere; nearest to the root first."""
        wanted = [p for name in names for p in self.by_name.get(name, ()) if p not in self.folders]
        return tuple(sorted(wanted, key=lambda path: (path.count("/"), path)))

    def read(self, path: str) -> str | None:
        """The text of a file of the project, None when it cannot be had."""
        try:
            return decode(read_file(os.path.join(self.root, path), inside=self.root).data).text
        except FileRefused:
            return None


def _walk(root: str) -> tuple[list[str], list[str], bool]:
    files: list[str] = []
    folders: list[str] = []
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in listed:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not entry.is_dir():
                files.append(path)
                continue
            folders.append(path)
            if entry.name not in _SKIPPED and not entry.is_symlink():
                waiting.append(path)
        if len(files) + len(folders) > _AT_MOST:
            return files, folders, False
    return files, folders, True


def _ignores(root: str) -> tuple[tuple[re.Pattern[str], bool], ...]:
    try:
        text = decode(read_file(os.path.join(root, ".gitignore"), inside=root).data).text
    except FileRefused:
        return ()
    return tuple(found for line in text.split("\n") if (found := ignore_pattern(line)) is not None)
