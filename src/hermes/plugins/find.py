"""Where plugins are: in the home, and in installed packages."""

from __future__ import annotations

import os
import re
from importlib.metadata import EntryPoint, entry_points

from hermes.errors import FileRefused
from hermes.files import list_directory
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.provenance import Notice

GROUP = "hermes.plugins"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


@frozen
class Candidate:
    """A plugin that could be enabled. `place` is its file, or the package and object of an entry point."""

    name: str
    place: str
    entry: EntryPoint | None = None


def candidates(home: Home) -> tuple[tuple[Candidate, ...], tuple[Notice, ...]]:
    """Every plugin there is, by name. Of two of one name, that of the home goes before an installed one."""
    installed: dict[str, Candidate] = {}
    notices: list[Notice] = []
    own = {c.name: c for c in _in_home(home, notices)}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        package = f"{entry.dist.name} {entry.dist.version}, " if entry.dist else ""
        found = Candidate(entry.name, f"{package}{entry.value}", entry)
        first = own.get(entry.name) or installed.setdefault(entry.name, found)
        if first != found and first.place != found.place:
            text = f"the plugin {entry.name} of {found.place} stands behind the one of {first.place}"
            notices.append(Notice("warning", text))
    return tuple(c for _, c in sorted({**installed, **own}.items())), tuple(notices)


def _in_home(home: Home, notices: list[Notice]) -> list[Candidate]:
    """Files `NAME.py` and folders `NAME/` with an `__init__.py`."""
    folder = home.path("plugins")
    try:
        names = list_directory(folder)
    except FileRefused as refused:
        notices.append(Notice("error", f"the plugins in {folder} are not known: {refused}"))
        return []
    found = []
    for name in names:
        path = os.path.join(folder, name)
        bare = name.removesuffix(".py")
        package = os.path.join(path, "__init__.py")
        if name.endswith(".py") and os.path.isfile(path) and NAME.fullmatch(bare):
            found.append(Candidate(bare, path))
        elif os.path.isfile(package) and NAME.fullmatch(name):
            found.append(Candidate(name, package))
    return found
