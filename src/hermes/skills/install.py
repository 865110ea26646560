"""Installing skills of others: everything is looked at and told before anything is written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, field
from datetime import UTC, datetime
from typing import Literal

from hermes.errors import FileRefused, SkillError
from hermes.files import read_file
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.provenance import digest_of
from hermes.security.gate import findings_in
from hermes.security.trust import Acceptance, accept
from hermes.skills.admission import breaks_out
from hermes.skills.check import checked_category, checked_name, told
from hermes.skills.fetch import Fetched
from hermes.skills.folder import add_folder, digest_of_folder, folder_of, remove, restore
from hermes.skills.parse import parse_skill
from hermes.skills.records import Library, Place, Skill
from hermes.text import decode

SOURCE = ".source.json"
"""Beside the SKILL.md of an installed skill: where it came from, when, and the digest of its files."""

Weight = Literal["fine", "ask", "refused"]
_PROGRAMS = (".sh", ".py", ".js", ".ts", ".rb", ".pl", ".ps1", ".bat", ".cmd", ".exe", ".so", ".dll", ".jar")


@frozen
class Found:
    """A finding of the gate in one file."""

    path: str
    severity: str
    text: str


@frozen
class Offer:
    """One skill of a source, as it would be installed, and all there is to be said of it.

    `replaces` is the folder that has to give way; `size` in bytes.
    """

    name: str
    description: str
    target: str
    size: int
    files: tuple[str, ...]
    programs: tuple[str, ...] = ()
    findings: tuple[Found, ...] = ()
    problems: tuple[str, ...] = ()
    shadows: tuple[str, ...] = ()
    replaces: str = ""
    content: dict[str, bytes] = field(default_factory=dict, repr=False)
    runnable: frozenset[str] = frozenset()

    @property
    def weight(self) -> Weight:
        """What the findings ask for: nothing, a yes, or an acceptance."""
        found = {f.severity for f in self.findings}
        return "refused" if "high" in found else "ask" if "medium" in found else "fine"

    def to_json(self) -> dict[str, object]:
        shown = (
            "name",
            "description",
            "target",
            "size",
            "files",
            "programs",
            "problems",
            "shadows",
            "replaces",
        )
        body: dict[str, object] = {name: getattr(self, name) for name in shown}
        return {**body, "findings": [asdict(f) for f in self.findings], "weight": self.weight}


def offers(
    home: Home, library: Library, fetched: Fetched, category: str = ""
) -> tuple[tuple[Offer, ...], tuple[str, ...]]:
    """The skills of a source, and why others of it are none. SkillError when there is nothing to install."""
    checked_category(category)
    made, broken = [], []
    for folder, at in _roots(fetched):
        if link := next((name for name in fetched.links if _below(name, folder)), ""):
            broken.append(f"{at}: {link} is a link or a device; put the file itself there")
            continue
        place = Place(f"{folder or '.'}/SKILL.md", category, _name_of(folder, fetched), "home", "third_party")
        skill, notices = parse_skill(fetched.files[at], place)
        if not isinstance(skill, Skill):
            broken.append(f"{at}{f':{skill.line}' if skill.line else ''}: {skill.reason}")
            continue
        try:
            place = place._replace(folder=checked_name(skill.name))
        except SkillError as error:
            broken.append(f"{at}: {error}")
            continue
        if breaks_out(skill):
            broken.append(f"{at}: its description reaches beyond its line of the index")
            continue
        skill, notices = parse_skill(fetched.files[at], place)  # it will lie in a folder of its own name
        assert isinstance(skill, Skill)
        problems = tuple(n.text.removeprefix(f"{place.path}: ") for n in notices)
        made.append(_offer(home, library, fetched, folder, skill, problems))
    names = [o.name for o in made]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise SkillError(
            f"{fetched.source} has several skills called {', '.join(twice)}; install one by its folder"
        )
    if not made:
        why = f": {'; '.join(broken[:5])}" if broken else "; a skill is a folder with a SKILL.md"
        raise SkillError(f"there is no skill to install in {fetched.source}{why}")
    return tuple(made), tuple(broken)


def _roots(fetched: Fetched) -> Iterator[tuple[str, str]]:
    """The folders with a SKILL.md, and that file; nothing below a skill is another."""
    inside: list[str] = []
    for at in sorted(fetched.files, key=lambda f: (f.count("/"), f)):
        folder, _, name = at.rpartition("/")
        if name.lower() == "skill.md" and not any(_below(folder, skill) for skill in inside):
            inside.append(folder)
            yield folder, at


def _below(folder: str, skill: str) -> bool:
    return not skill or folder == skill or folder.startswith(f"{skill}/")


def _name_of(folder: str, fetched: Fetched) -> str:
    """The name of the folder; of a source that is itself a skill, the name of the source."""
    if folder:
        return folder.rpartition("/")[2]
    last = fetched.source.rstrip("/").rpartition("/")[2]
    return last.partition(".")[0]


def _offer(
    home: Home, library: Library, fetched: Fetched, folder: str, skill: Skill, problems: tuple[str, ...]
) -> Offer:
    prefix = f"{folder}/" if folder else ""
    content, hidden = {}, []
    for at, data in fetched.files.items():
        if at.startswith(prefix):
            name = at.removeprefix(prefix)
            if any(part.startswith(".") for part in name.split("/")):
                hidden.append(name)
            else:
                content["SKILL.md" if name.lower() == "skill.md" else name] = data
    if hidden:
        problems += (f"hidden files are left out: {', '.join(sorted(hidden)[:8])}",)
    marked = {p.removeprefix(prefix) for p in fetched.programs if p.startswith(prefix)} & content.keys()
    programs = [n for n, data in content.items() if n in marked or _is_program(n, data)]
    target = folder_of(home, skill.category, skill.name)
    same = [s for s in (*library.skills, *library.shadowed) if s.name == skill.name]
    ours = next((s for s in same if s.root == "home"), None)
    return Offer(
        skill.name,
        skill.description,
        target,
        sum(map(len, content.values())),
        tuple(sorted(content)),
        tuple(sorted(programs)),
        tuple(_findings(content)),
        problems,
        tuple(library.called(s) if s.name != library.called(s) else s.address for s in same if s is not ours),
        os.path.dirname(ours.path) if ours else target if os.path.lexists(target) else "",
        content,
        frozenset(marked),
    )


def _is_program(name: str, data: bytes) -> bool:
    return name.lower().endswith(_PROGRAMS) or data.startswith((b"#!", b"\x7fELF", b"MZ"))


def _findings(content: dict[str, bytes]) -> Iterator[Found]:
    for name, data in sorted(content.items()):
        try:
            text = decode(data).text
        except FileRefused:
            continue  # no text: it never comes into a prompt
        for finding in findings_in(text):
            if finding.severity != "low":
                yield Found(name, finding.severity, told(finding, text))


def install(home: Home, offer: Offer, source: str, *, accepted: bool, now: datetime | None = None) -> str:
    """Write one skill; what it replaces goes into the archive. Where it lies now. SkillError.

    `accepted`: the owner has seen what was found; files that the gate would stop are recorded as accepted.
    """
    when = (now or datetime.now(UTC)).isoformat(timespec="seconds")
    origin = {"source": source, "installed": when, "digest": digest_of_files(offer.content)}
    record = (json.dumps(origin, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")
    gone = remove(home, offer.replaces, now) if offer.replaces else None
    try:
        add_folder(home, offer.target, {**offer.content, SOURCE: record}, offer.runnable)
    except SkillError:
        if gone:
            restore(home, gone.name)
        raise
    if accepted:
        for path in dict.fromkeys(f.path for f in offer.findings):
            data = offer.content[path]
            text = decode(data).text
            ids = tuple(dict.fromkeys(f.id for f in findings_in(text)))
            at = os.path.join(offer.target, *path.split("/"))
            accept(home, Acceptance(digest_of(data), at, when, ids), text)
    return offer.target


def digest_of_files(files: dict[str, bytes]) -> str:
    """As `digest_of_folder` has it of a folder with these files."""
    return digest_of("\n".join(f"{name}\0{digest_of(files[name])}" for name in sorted(files)))


@frozen
class Installed:
    """What is recorded of an installed skill, and whether its files are still those that were installed."""

    source: str
    installed: str
    state: Literal["unmodified", "modified", "unknown"]


def installed(folder: str) -> Installed | None:
    """What is recorded beside a skill; None when it was not installed."""
    try:
        body = json.loads(read_file(os.path.join(folder, SOURCE)).data)
        source, when, digest = (str(body[key]) for key in ("source", "installed", "digest"))
    except FileRefused as refused:
        return None if refused.verdict == "missing" else Installed("", "", "unknown")
    except (ValueError, TypeError, KeyError, RecursionError):
        return Installed("", "", "unknown")
    try:
        return Installed(source, when, "unmodified" if digest_of_folder(folder) == digest else "modified")
    except FileRefused:
        return Installed(source, when, "modified")
