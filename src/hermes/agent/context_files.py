"""Project context: one kind wins, each file goes through one reader, every candidate gets a decision."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from hermes.agent.context_kinds import Candidate, ContextKind, Finder
from hermes.agent.workdir import Project
from hermes.errors import FileRefused
from hermes.files import Contents, is_inside, read_file
from hermes.provenance import Decision, Notice, Origin, Passage, Trust, Verdict, digest_of
from hermes.security.gate import Admitted, admit, safe_name
from hermes.security.policy import Policies, Policy
from hermes.text import Decoded, decode, front_matter

Expand = Callable[[Passage, str], Passage]
"""Expands the `@path` imports of a passage read from a path."""


class Reading(NamedTuple):
    """How files are read: `limit` in characters a file, the policies of the gate, imports when wanted."""

    limit: int
    policies: Policies = Policies()
    expand: Expand | None = None


class Loaded(NamedTuple):
    """One candidate after reading: its text, or why there is none."""

    verdict: Verdict
    passage: Passage = Passage()
    detail: str = ""
    digest: str = ""
    real_path: str = ""
    description: str = ""
    line: int = 1
    """Where its description stands."""
    notices: tuple[Notice, ...] = ()
    decisions: tuple[Decision, ...] = ()
    """Those of the files it imports."""

    @property
    def usable(self) -> bool:
        """Whether it takes its place: a blocked file does, with the block line."""
        return bool(self.passage) or self.verdict in ("glob waits", "described", "manual")


class Loader:
    """Loads the context files of one project for one prompt."""

    def __init__(self, project: Project, home: str, reading: Reading) -> None:
        self.project = project
        self.reading = reading
        self.finder = Finder(project, home)
        self.notices: list[Notice] = []
        self.decisions: list[Decision] = []
        self._seen: dict[str, str] = {}  # content digest or real path -> where it was loaded first
        self._winner = ""

    def load(self, kinds: Iterable[ContextKind]) -> Passage:
        """The sections of the winning kind (and of those that shut nobody out), with all decisions."""
        parts: list[Passage] = []
        for kind in kinds:
            groups = self.finder.groups(kind)
            if kind.exclusive and self._winner:
                self._shadow([c for group in groups for c in group], self._winner)
                continue
            loaded = [section for group in groups if (section := self._load_group(group)) is not None]
            if any(found.usable for _, found in loaded):
                for candidate, found in loaded:
                    if found.passage:
                        parts += [_heading(candidate), found.passage]
                parts.append(self._described(loaded))
                if kind.exclusive:
                    self._winner = next(c.shown for c, found in loaded if found.usable)
        notes = Passage("", (), (*self.finder.notices, *self.notices), tuple(self.decisions))
        return Passage.joined("\n\n", [*parts, notes])

    def _load_group(self, group: tuple[Candidate, ...]) -> tuple[Candidate, Loaded] | None:
        """The first usable file of a group; the rest is shadowed by it."""
        passed: list[Candidate] = []
        for at, candidate in enumerate(group):
            folder = self.finder.real_folder(candidate.path)
            loaded = self._once(load_file(candidate, self.project, self.reading, folder))
            self._record(candidate, loaded)
            if loaded.usable or loaded.verdict == "duplicate":
                if passed:
                    names = ", ".join(c.shown for c in passed)
                    text = f"{candidate.shown} stands in for {names}, which could not be used"
                    self.notices.append(Notice("warning", text))
                self._shadow(group[at + 1 :], candidate.shown)
                return candidate, loaded
            if loaded.verdict != "empty":
                passed.append(candidate)
        return None

    def _once(self, loaded: Loaded) -> Loaded:
        """The same content, or the same file by another way, is loaded once."""
        if not loaded.passage or loaded.verdict == "blocked":
            return loaded
        keys = (loaded.digest, loaded.real_path)
        first = next((self._seen[key] for key in keys if key in self._seen), "")
        if first:
            return loaded._replace(
                verdict="duplicate", detail=f"of {first}", passage=Passage(), notices=(), decisions=()
            )
        name = loaded.passage.spans[0].origin.path
        for key in keys:
            self._seen[key] = self.project.shown(name)
        return loaded

    def _record(self, candidate: Candidate, loaded: Loaded) -> None:
        self.decisions.append(Decision(candidate.path, candidate.kind.name, loaded.verdict, loaded.detail))
        self.decisions += loaded.decisions
        self.notices += loaded.notices

    def _shadow(self, candidates: Iterable[Candidate], winner: str) -> None:
        for c in candidates:
            self.decisions.append(Decision(c.path, c.kind.name, "shadowed", f"by {winner}"))
            if c.kind.shape != "rule":
                text = f"{c.shown} is not loaded: {winner} stands before it"
                self.notices.append(Notice("info", text, Origin(c.kind.name, c.path)))

    def _described(self, loaded: list[tuple[Candidate, Loaded]]) -> Passage:
        """The list of rules that the model may ask for, by their descriptions."""
        lines = []
        for candidate, rule in loaded:
            if rule.verdict != "described":
                continue
            origin = Origin(candidate.kind.name, candidate.path, rule.digest, rule.line, trust="project")
            line = Passage.quote(f"- {candidate.shown}: {rule.description}", origin, ("description",))
            admitted = admit(line, name=candidate.shown, policy=self.reading.policies.of("project"))
            self.notices += admitted.passage.notices
            lines.append(admitted.passage)
        if not lines:
            return Passage()
        head = "## Rules on request\n\nRead one of these files when its description fits the task:"
        return Passage.joined("\n", [Passage.own(head, "heading"), *lines])


def _heading(candidate: Candidate) -> Passage:
    return Passage.own(f"## {safe_name(candidate.shown)}", "heading")


def load_file(candidate: Candidate, project: Project, reading: Reading, folder: str = "") -> Loaded:
    """Read one candidate from disk and bring it through the gate; never raises.

    `folder` is the real path of its directory, where that is known.
    """
    inside = None if candidate.kind.scope == "home" else project.root
    trust: Trust = "owner" if candidate.kind.scope == "home" else "project"
    try:
        contents = read_file(candidate.path, inside=inside, folder=folder)
        contents, path = _follow_link_text(candidate, contents, inside)
    except FileRefused as error:
        verdict, detail = error.verdict, str(error)
        notice = Notice(
            "warning", f"{candidate.shown} was not loaded: {detail}", Origin("file", candidate.path)
        )
        if verdict == "missing" and os.path.islink(candidate.path):
            verdict, detail = "unreadable", "it is a link to nothing"
            notice = notice._replace(text=f"{candidate.shown} was not loaded: {detail}")
        return Loaded(verdict, detail=detail, notices=(notice,))
    origin = Origin(candidate.kind.name, path, digest_of(contents.data), trust=trust)
    loaded = _prepared(contents, candidate, origin, reading)
    if path != candidate.path:
        target = os.path.basename(path)
        text = f"{candidate.shown} holds only the name {target}, as a link does; that file was read"
        loaded = loaded._replace(notices=(*loaded.notices, Notice("warning", text, origin)))
    if contents.torn:
        text = f"{candidate.shown} changed while it was read; what was read last is used"
        loaded = loaded._replace(notices=(*loaded.notices, Notice("warning", text, origin)))
    return loaded


def _follow_link_text(candidate: Candidate, contents: Contents, inside: str | None) -> tuple[Contents, str]:
    """A checkout without links leaves files that hold only a link's target; follow one to a sibling."""
    data = contents.data
    if len(data) > 255 or candidate.kind.shape == "rule":
        return contents, candidate.path
    name = data.decode("utf-8", "replace").strip()
    if not name or any(c.isspace() for c in name) or not name.lower().endswith(".md"):
        return contents, candidate.path
    target = os.path.normpath(os.path.join(os.path.dirname(candidate.path), name))
    if target == candidate.path or not os.path.isfile(target):
        return contents, candidate.path
    if inside is not None and not is_inside(os.path.realpath(target), inside):
        return contents, candidate.path
    return read_file(target, inside=inside), target


_prepared_before: dict[tuple[object, ...], Loaded] = {}
_PREPARED_LIMIT = 4096


def _prepared(contents: Contents, candidate: Candidate, origin: Origin, reading: Reading) -> Loaded:
    """Decode, strip, expand, admit; once for the same bytes under the same name and rules."""
    if reading.expand is not None:  # what is imported may have changed
        return _prepare(contents, candidate, origin, reading)
    policy = reading.policies.of(origin.trust)
    kind = candidate.kind  # its shape is all that it is read by; its name stands in the origin
    key = (origin, candidate.shown, kind.shape, contents.real_path, reading.limit, policy)
    if (known := _prepared_before.get(key)) is not None:
        return known
    if len(_prepared_before) >= _PREPARED_LIMIT:
        _prepared_before.clear()
    return _prepared_before.setdefault(key, _prepare(contents, candidate, origin, reading))


def _prepare(contents: Contents, candidate: Candidate, origin: Origin, reading: Reading) -> Loaded:
    name = candidate.shown
    try:
        decoded = decode(contents.data)
    except FileRefused as error:
        notice = Notice("warning", f"{name} was not loaded: {error}", origin)
        return Loaded("binary", detail=str(error), digest=origin.digest, notices=(notice,))
    passage = Passage.quote(decoded.text, origin, decoded.transforms)
    loaded = Loaded("loaded", digest=origin.digest, real_path=contents.real_path)
    if decoded.problem:
        loaded = loaded._replace(notices=(Notice("warning", f"{name} is {decoded.problem}", origin),))
    if candidate.kind.shape == "front matter":
        passage, loaded = _without_front_matter(passage, name, loaded)
    elif candidate.kind.shape == "rule" and candidate.path.lower().endswith(".mdc"):
        passage, loaded = _rule(passage, name, decoded, loaded)
        if loaded.verdict != "loaded":
            return loaded
    if reading.expand is not None:
        passage = reading.expand(passage, origin.path)
    policy = reading.policies.of(origin.trust)
    return _admitted(passage, name, policy, reading.limit, loaded, origin)


def _admitted(
    passage: Passage, name: str, policy: Policy, limit: int, loaded: Loaded, origin: Origin
) -> Loaded:
    admitted: Admitted = admit(passage, name=name, policy=policy, limit=limit)
    notices = (*loaded.notices, *admitted.passage.notices)
    if admitted.outcome == "empty":
        notices = (*notices, Notice("info", f"{name} is empty", origin))
    text = Passage(admitted.passage, admitted.passage.spans)
    imported = passage.decisions
    if admitted.outcome == "blocked":  # the whole of it, with what it brought in
        imported = tuple(
            d._replace(verdict="blocked", detail=f"with {name}") if d.verdict == "loaded" else d
            for d in imported
        )
    return loaded._replace(
        verdict=admitted.outcome,
        passage=text,
        detail=admitted.detail,
        notices=notices,
        decisions=imported,
    )


def _without_front_matter(passage: Passage, name: str, loaded: Loaded) -> tuple[Passage, Loaded]:
    matter = front_matter(passage)
    if matter.open:
        text = f"{name} opens front matter that is never closed; it was kept as text"
        notice = Notice("warning", text, passage.spans[0].origin)
        return passage, loaded._replace(notices=(*loaded.notices, notice))
    if matter.yaml is None:
        return passage, loaded
    return passage.part(matter.body).marked("front matter removed"), loaded


def _rule(passage: Passage, name: str, decoded: Decoded, loaded: Loaded) -> tuple[Passage, Loaded]:
    """The body of an always-on rule, or the decision that keeps the rule out for now."""
    from hermes.agent.rules import parse_rule  # few projects have rules

    rule = parse_rule(decoded.text)
    origin = passage.spans[0].origin if passage else None
    if rule.warning:
        notice = Notice("warning", f"{name}: {rule.warning}", origin)
        loaded = loaded._replace(notices=(*loaded.notices, notice))
    if rule.problem:
        notice = Notice("warning", f"{name} was not loaded: {rule.problem}", origin)
        return passage, loaded._replace(
            verdict="broken", detail=rule.problem, notices=(*loaded.notices, notice)
        )
    body = passage.part(rule.body).marked("front matter removed") if rule.body else passage
    if not body.strip():
        return body, loaded
    match rule.mode:
        case "always":
            return body, loaded
        case "glob":
            return body, loaded._replace(verdict="glob waits", detail=", ".join(rule.globs))
        case "described":
            described = " ".join(rule.description.split())
            return body, loaded._replace(
                verdict="described", detail="on request", description=described, line=rule.line
            )
        case "manual":
            return body, loaded._replace(verdict="manual", detail="loads only when named")
