"""The kinds of project context, one row each, and the search for their files."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from hermes.agent.workdir import Project
from hermes.errors import FileRefused
from hermes.files import list_directory
from hermes.provenance import Notice
from hermes.text import many

Scope = Literal["home", "nearest", "chain", "cwd", "root"]
Shape = Literal["plain", "front matter", "rule"]

_RULE_DEPTH = 4
_RULES_AT_MOST = 1000


class ContextKind(NamedTuple):
    """One kind of context file.

    `files` are names in order of preference, or patterns below a folder (`folder/*.ext`, any depth). `scope`
    says in which directories to look; `take` whether one file a directory counts or all. An `exclusive` kind
    shuts out those after it.
    """

    name: str
    files: tuple[str, ...]
    scope: Scope
    shape: Shape = "plain"
    take: Literal["first", "all"] = "first"
    exclusive: bool = True
    product: str = ""


KINDS: tuple[ContextKind, ...] = (
    ContextKind("user", ("AGENTS.md",), "home", exclusive=False, product="Hermes, for all projects"),
    ContextKind("hermes", (".hermes.md", "HERMES.md"), "nearest", "front matter", product="Hermes"),
    ContextKind("agents", ("AGENTS.override.md", "AGENTS.md"), "chain", product="the AGENTS.md convention"),
    ContextKind("claude", ("CLAUDE.md",), "cwd", product="Claude Code"),
    ContextKind("cursor", (".cursorrules", ".cursor/rules/*.mdc"), "cwd", "rule", "all", product="Cursor"),
    ContextKind("gemini", ("GEMINI.md",), "chain", product="Gemini CLI"),
    ContextKind("copilot", (".github/copilot-instructions.md",), "root", product="GitHub Copilot"),
    ContextKind("cline", (".clinerules", ".clinerules/*.md"), "cwd", take="all", product="Cline"),
    ContextKind("windsurf", (".windsurfrules",), "cwd", product="Windsurf"),
)
_NAMES = frozenset(part.lower() for kind in KINDS for file in kind.files for part in file.split("/"))
DEFAULT_KINDS = ("hermes", "agents", "claude", "cursor")


class Candidate(NamedTuple):
    """A file that may be loaded. `shown` is its path for the model and the reading tool."""

    kind: ContextKind
    path: str
    shown: str


def kinds_in_order(names: tuple[str, ...]) -> tuple[ContextKind, ...]:
    """The rows for the configured names, in that order; unknown names are left to the configuration."""
    rows = {kind.name: kind for kind in KINDS}
    wanted = [rows[name] for name in dict.fromkeys(names) if name in rows]
    return tuple(sorted(wanted, key=lambda kind: kind.exclusive))


class Finder:
    """Looks for context files; each directory is listed once. What cannot be listed is a notice."""

    def __init__(self, project: Project, home: str) -> None:
        self.project = project
        self.home = home
        self.notices: list[Notice] = []
        self._listings: dict[str, dict[str, list[str]]] = {}
        self._real: dict[str, str] = {}

    def groups(self, kind: ContextKind) -> list[tuple[Candidate, ...]]:
        """The files of a kind, as groups of which the first usable file counts."""
        found: list[tuple[Candidate, ...]] = []
        for folder in self._folders(kind):
            here = [group for pattern in kind.files for group in self._matches(kind, folder, pattern)]
            if not here:
                continue
            found += [tuple(c for group in here for c in group)] if kind.take == "first" else here
            if kind.scope == "nearest":
                break
        return found

    def _folders(self, kind: ContextKind) -> tuple[str, ...]:
        project = self.project
        match kind.scope:
            case "home":
                return (self.home,)
            case "nearest":
                return tuple(reversed(project.chain))
            case "chain":
                return project.chain
            case "cwd":
                return (project.cwd,)
            case "root":
                return (project.root,)

    def _matches(self, kind: ContextKind, folder: str, pattern: str) -> list[tuple[Candidate, ...]]:
        head, _, name = pattern.rpartition("/")
        inner = self._resolve(folder, head) if head else folder
        if inner is None:
            return []
        if "*" in name:
            return [(self._candidate(kind, path),) for path in self.below(inner, name)]
        names = self._listing(inner).get(name.lower(), ())
        if f"{pattern}/*.md" in kind.files and any(os.path.isdir(os.path.join(inner, n)) for n in names):
            return []  # `.clinerules` may be a folder, which the next pattern looks into
        chosen = sorted(names, key=lambda n: (n != name, n))
        return [tuple(self._candidate(kind, os.path.join(inner, n)) for n in chosen)] if chosen else []

    def _candidate(self, kind: ContextKind, path: str) -> Candidate:
        return Candidate(kind, path, path if kind.scope == "home" else self.project.shown(path))

    def real_folder(self, path: str) -> str:
        """The real path of the directory that a file is in; each is resolved once."""
        folder = os.path.dirname(path)
        if (real := self._real.get(folder)) is None:
            real = self._real[folder] = os.path.realpath(folder)
        return real

    def _resolve(self, folder: str, inner: str) -> str | None:
        """A folder below another, by names that match in any case."""
        for name in inner.split("/"):
            names = self._listing(folder).get(name.lower(), ())
            if not names:
                return None
            folder = os.path.join(folder, name if name in names else names[0])
        return folder

    def below(self, folder: str, pattern: str, depth: int = 0) -> list[str]:
        """Files below a folder whose names match; folders that are links are not entered."""
        found: list[str] = []
        folders: list[str] = []
        for name in self._names_in(folder):
            path = os.path.join(folder, name)
            if fnmatchcase(name.lower(), pattern):
                found.append(path)
            elif "." not in name and depth < _RULE_DEPTH and os.path.isdir(path) and not os.path.islink(path):
                folders.append(path)
        for inner in folders:
            found += self.below(inner, pattern, depth + 1)
        if depth == 0 and len(found) > _RULES_AT_MOST:
            text = f"{folder} holds {many(len(found), 'rule')}; the first {_RULES_AT_MOST} are looked at"
            self.notices.append(Notice("warning", text))
        return found[:_RULES_AT_MOST]

    def _listing(self, folder: str) -> dict[str, list[str]]:
        """The names in a folder that some kind looks for, by their lower-case form."""
        known = self._listings.get(folder)
        if known is None:
            known = self._listings[folder] = {}
            for name in self._names_in(folder):
                if (lower := name.lower()) in _NAMES:
                    known.setdefault(lower, []).append(name)
        return known

    def _names_in(self, folder: str) -> tuple[str, ...]:
        """All names in a folder. One that cannot be listed is tried for the names that are looked for."""
        try:
            return list_directory(folder)
        except FileRefused as error:
            self.notices.append(Notice("warning", f"{folder} cannot be listed ({error})"))
        wanted = {
            part for kind in KINDS for file in kind.files for part in file.split("/") if "*" not in part
        }
        return tuple(name for name in sorted(wanted) if os.path.lexists(os.path.join(folder, name)))
