"""One other agent, looking around as its rules tell it to. Files are read, nothing is executed."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from hermes.agent.imports import importer
from hermes.agent.rules import parse_rule
from hermes.agent.workdir import Project
from hermes.errors import FileRefused
from hermes.files import list_directory, read_file
from hermes.inspect.rival_rules import Agent, Rule, State
from hermes.provenance import Origin, Passage
from hermes.skills.fields import Fault
from hermes.skills.frontmatter import read_fields
from hermes.text import decode, front_matter

_NOT_ENTERED = frozenset(("node_modules", "vendor", "venv", "target", "build", "dist", "__pycache__"))
_DEPTH = 8
_FOLDERS_AT_MOST = 5000

Verdicts = dict[str, tuple[tuple[State, str], str]]
"""By path: the state and its reason, and the text that is taken in."""


@dataclass(slots=True)
class Disk:
    """The files of a project and a person, each read once."""

    project: Project
    user_home: str
    _texts: dict[str, str | FileRefused] = field(default_factory=dict)
    _folders: list[str] | None = None

    def text(self, path: str) -> str | FileRefused:
        """The text of a file, or why there is none."""
        if path not in self._texts:
            try:
                self._texts[path] = decode(read_file(path).data).text
            except FileRefused as error:
                self._texts[path] = error
        return self._texts[path]

    def shown(self, path: str) -> str:
        """A path for people: relative to the working directory, or to the person's home."""
        if path.startswith(self.project.root + os.sep):
            return self.project.shown(path)
        if path.startswith(self.user_home.rstrip(os.sep) + os.sep):
            return "~/" + os.path.relpath(path, self.user_home).replace(os.sep, "/")
        return path

    def folders(self, where: str) -> Sequence[str]:
        """The directories of a scope, outermost first."""
        project = self.project
        if where == "below":
            if self._folders is None:
                self._folders = list(islice(_below(project.cwd, _DEPTH), _FOLDERS_AT_MOST))
            return self._folders
        fixed = {"user": self.user_home, "system": "", "root": project.root, "cwd": project.cwd}
        if where in fixed:
            return (fixed[where],)
        return project.chain if where == "chain" else _upward(project.cwd)

    def matches(self, folder: str, pattern: str) -> list[str]:
        """The files in a folder that a name or pattern means."""
        head, star, name = pattern.partition("*")
        if not star:
            path = os.path.join(folder, pattern) if folder else pattern
            return [path] if os.path.lexists(path) and not os.path.isdir(path) else []
        base = os.path.join(folder, head.rstrip("/"))
        inner = [base, *_below(base, _DEPTH, hidden=True)] if name.startswith("*/") else [base]
        ending = name.rpartition("*")[2]
        return [os.path.join(f, n) for f in inner for n in _listed(f) if n.endswith(ending)]


def _upward(folder: str) -> list[str]:
    """A folder and all above it, the disk's root first."""
    above = [folder]
    while (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    return above[::-1]


def _below(folder: str, depth: int, hidden: bool = False) -> Iterator[str]:
    """The folders below one, without links and what others have made."""
    for name in _folders_in(folder):
        if name in _NOT_ENTERED or (name.startswith(".") and not hidden):
            continue
        path = os.path.join(folder, name)
        yield path
        if depth > 1:
            yield from _below(path, depth - 1, hidden)


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _listed(folder: str) -> tuple[str, ...]:
    try:
        return list_directory(folder)
    except FileRefused:
        return ()


class Look:
    """One agent looking around."""

    def __init__(self, agent: Agent, disk: Disk) -> None:
        self.agent = agent
        self.disk = disk
        self.found: Verdicts = {}
        settings = [self._settings(path) for path in agent.settings]
        given = [value for s in settings if (value := _at(s, agent.names_key))]
        self.names = _plain_names(given[-1]) if given else agent.names
        limits = [value for s in settings if isinstance(value := _at(s, agent.bytes_key), int)]
        self.left = limits[-1] if limits else agent.project_bytes
        self.limited = bool(self.left) or bool(limits)

    def loads(self) -> Verdicts:
        """The files of all rules, in their order; the first rule that names a file decides."""
        for rule in self.agent.rules:
            for folder in self.disk.folders(rule.where):
                self._folder(rule, folder)
        return self.found

    def _folder(self, rule: Rule, folder: str) -> None:
        resting = next((n for n in rule.unless if os.path.lexists(os.path.join(folder, n))), "")
        taken = ""
        for pattern in self._patterns(rule.files):
            for path in self.disk.matches(folder, pattern):
                if path in self.found:
                    continue
                if resting or taken:
                    self.found[path] = (("ignored", f"{resting or taken} stands before it"), "")
                    continue
                self._file(rule, path)
                if rule.take == "first" and self.found[path][1]:
                    taken = self.disk.shown(path)

    def _patterns(self, files: Iterable[str]) -> Iterator[str]:
        for file in files:
            if "{names}" in file:
                yield from (file.replace("{names}", name) for name in self.names)
            else:
                yield file

    def _file(self, rule: Rule, path: str) -> None:
        text = self.disk.text(path)
        if isinstance(text, FileRefused):
            self.found[path] = (("ignored", f"{text.verdict}: {text}"), "")
            return
        if not text.strip():
            self.found[path] = (("ignored", "empty"), "")
            return
        state, reason = (rule.state, rule.note) if rule.state else _READERS[rule.reads](text)
        reason = reason or rule.note
        if state != "loaded":
            self.found[path] = ((state, reason), "")
            return
        sent = text
        if rule.chars and len(text) > rule.chars:
            sent, reason = text[: rule.chars], f"only its first {rule.chars:,} of {len(text):,} characters"
        if self.limited and rule.where not in ("user", "system"):
            sent, reason = self._within(sent, reason)
        self.found[path] = (("loaded" if sent else "ignored", reason), sent)
        if self.agent.imports and sent:
            self._imported(sent, path)

    def _within(self, text: str, reason: str) -> tuple[str, str]:
        """What is left of the room for the project's files."""
        data = text.encode("utf-8", "surrogatepass")
        kept = data[: self.left]
        self.left -= len(kept)
        if len(kept) == len(data):
            return text, reason
        if not kept:
            return "", "the room for project files is used up"
        note = f"only its first {len(kept):,} of {len(data):,} bytes: no more room for project files"
        return kept.decode("utf-8", "ignore"), note

    def _imported(self, text: str, path: str) -> None:
        """The files that `@path` lines bring in; those outside the project wait for consent."""
        passage = Passage.quote(text, Origin("file", path))
        for d in importer(self.disk.project, ())(passage, path).decisions:
            if d.path in self.found:
                continue
            content = self.disk.text(d.path)
            if d.verdict == "loaded" and isinstance(content, str):
                self.found[d.path] = (("loaded", f"imported {d.detail}"), content)
            elif d.verdict == "outside project":
                self.found[d.path] = (("on demand", "imported from outside the project: asks first"), "")

    def _settings(self, path: str) -> object:
        base = self.disk.user_home if path.startswith("~/") else self.disk.project.root
        text = self.disk.text(os.path.join(base, path.removeprefix("~/")))
        if isinstance(text, FileRefused):
            return {}
        try:
            return tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
        except (ValueError, RecursionError):
            return {}


def _at(settings: object, key: str) -> object:
    for part in key.split("."):
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings


def _plain_names(value: object) -> tuple[str, ...]:
    """File names only: a setting of the project must not lead elsewhere."""
    given = value if isinstance(value, list) else [value]
    return tuple(n for n in given if isinstance(n, str) and n and os.path.basename(n) == n and "*" not in n)


# --- how a front matter decides ---


def _read_plain(_: str) -> tuple[State, str]:
    return "loaded", ""


def _read_mdc(text: str) -> tuple[State, str]:
    rule = parse_rule(text)
    if rule.problem:
        return "ignored", rule.problem
    match rule.mode:
        case "always":
            return "loaded", ""
        case "glob":
            return "on demand", f"for files matching {', '.join(rule.globs)}"
        case "described":
            return "on demand", "when its description fits"
    return "on demand", "only when named"


def _read_paths(text: str) -> tuple[State, str]:
    paths = _field(text, "paths", repaired=False)  # what is no YAML counts as no condition
    return ("on demand", f"for files matching {', '.join(paths)}") if paths else ("loaded", "")


def _read_apply_to(text: str) -> tuple[State, str]:
    globs = [g for g in _field(text, "applyTo") if g not in ("**", "**/*")]
    return ("on demand", f"for files matching {', '.join(globs)}") if globs else ("loaded", "")


def _read_trigger(text: str) -> tuple[State, str]:
    match " ".join(_field(text, "trigger")):
        case "always_on":
            return "loaded", ""
        case "glob":
            return "on demand", f"for files matching {', '.join(_field(text, 'globs'))}"
        case "model_decision":
            return "on demand", "when its description fits"
        case "manual":
            return "on demand", "only when named"
    return "on demand", "it names no trigger; taken for manual"


def _field(text: str, name: str, *, repaired: bool = True) -> list[str]:
    """The words of a front matter's field; none when it is not there or cannot be read."""
    yaml = front_matter(text).yaml
    fields = read_fields(yaml) if yaml else None
    if fields is None or isinstance(fields, Fault) or (fields.warnings and not repaired):
        return []
    value = fields.values.get(name)
    given = value if isinstance(value, list) else [value]
    return [
        part.strip() for item in given if isinstance(item, str) for part in item.split(",") if part.strip()
    ]


_READERS = {
    "plain": _read_plain,
    "mdc": _read_mdc,
    "paths": _read_paths,
    "applyTo": _read_apply_to,
    "trigger": _read_trigger,
}
