"""Rules that hold for files whose paths match: told when such a file is touched."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from hermes.agent.context_kinds import Candidate, ContextKind, Finder
from hermes.agent.rules import parse_rule
from hermes.agent.shell_paths import alternatives
from hermes.agent.workdir import Project
from hermes.errors import FileRefused
from hermes.files import is_inside, read_file
from hermes.provenance import Decision, Notice, Origin
from hermes.text import decode

_PLACES = (
    ("cursor", ".cursor/rules", "*.mdc", "globs"),
    ("claude", ".claude/rules", "*.md", "paths"),
    ("copilot", ".github/instructions", "*.instructions.md", "applyTo"),
)
"""The kind of context that a rule belongs to, its folder, its name, the key of its patterns."""

_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]/]+\]|.", re.S)


class PathRule(NamedTuple):
    """One rule, with the patterns of the paths it is for, which count from `base`."""

    candidate: Candidate
    globs: tuple[str, ...]
    base: str

    def fits(self, path: str) -> bool:
        """Whether it is for a file."""
        if not is_inside(path, self.base):
            return False
        relative = path[len(self.base) :].lstrip(os.sep).replace(os.sep, "/")
        return any(_pattern(glob).fullmatch(relative) for glob in self.globs)


def path_rules(
    project: Project, kinds: Iterable[str], decisions: Iterable[Decision]
) -> tuple[tuple[PathRule, ...], tuple[Notice, ...]]:
    """The rules of a project, of the kinds that are on and that no other kind shut out of the prompt."""
    wanted, finder = frozenset(kinds), Finder(project, "")
    won = {d.kind for d in decisions if d.verdict in ("loaded", "cut", "blocked")} - {"user", "identity"}
    found: list[PathRule] = []
    notices: list[Notice] = []
    for kind, folder, pattern, key in _PLACES:
        if kind not in wanted or (won & wanted) - {kind}:
            continue
        base = project.root if kind == "copilot" else project.cwd
        inside = os.path.join(base, *folder.split("/"))
        row = ContextKind(kind, (), "cwd", "front matter")
        for path in finder.below(inside, pattern) if os.path.isdir(inside) else ():
            candidate = Candidate(row, path, project.shown(path))
            found += _read(candidate, key, base, project, notices)
    return tuple(found), (*finder.notices, *notices)


def _read(
    candidate: Candidate, key: str, base: str, project: Project, notices: list[Notice]
) -> Iterator[PathRule]:
    """The rule in a file, when it is one for paths; one that cannot be read was told with the prompt."""
    try:
        rule = parse_rule(decode(read_file(candidate.path, inside=project.root).data).text, key)
    except FileRefused as error:
        text = f"{candidate.shown} was not read: {error}"
        notices.append(Notice("warning", text, Origin("hint", candidate.path)))
        return
    if rule.mode == "glob" and not rule.problem:
        yield PathRule(candidate, rule.globs, base)


@lru_cache(maxsize=1024)
def _pattern(glob: str) -> re.Pattern[str]:
    """A pattern of paths; one without `/` is for a name in any folder."""
    glob = glob.removeprefix("./").lstrip("/")
    if glob.endswith("/"):
        glob += "**"
    if "/" not in glob:
        glob = f"**/{glob}"
    return re.compile("|".join("".join(map(_piece, _TOKEN.findall(one))) for one in alternatives(glob)), re.S)


def _piece(token: str) -> str:
    if token.startswith("[") and len(token) > 2:
        return _of_these(token[1:-1]) or re.escape(token)
    return {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token) or re.escape(token)


def _of_these(characters: str) -> str:
    """A set of characters with ranges; "" when it is none."""
    negated = characters.startswith("!") and len(characters) > 1
    inside = "".join(c if c == "-" else re.escape(c) for c in characters[negated:])
    if "--" in inside:
        return ""
    try:
        return re.compile(f"[{'^' * negated}{inside}]").pattern
    except re.error:  # a range that runs backwards
        return ""
