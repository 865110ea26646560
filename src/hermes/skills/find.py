"""Walking the roots: where the SKILL.md and DESCRIPTION.md files are, and the proof that this is still so.

A directory with a SKILL.md is a skill and is not looked into any further; every other one is a category.
Real directories are looked at before links, so that a link to a skill never hides the skill itself.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from dataclasses import dataclass, field
from stat import S_ISLNK
from typing import NamedTuple

from hermes.files import is_inside
from hermes.provenance import Decision, Notice, Origin, Verdict
from hermes.skills.known import Root
from hermes.skills.records import Broken, Place
from hermes.skills.stamps import NOTHING, Stamp, stamp
from hermes.text import well_formed

MAX_DEPTH = 6
"""How many directories deep below a root a skill may lie."""
MAX_DIRECTORIES = 2_000
"""How many directories of one root are looked at."""

VENDOR = frozenset(("node_modules", "bower_components", "__pycache__", "site-packages", "venv", "vendor"))
_SKILL = os.sep + "SKILL.md"
_DESCRIPTION = "description.md"


class _Candidate(NamedTuple):
    """A SKILL.md and the file it really is. `link`: it is itself a link, not just below one."""

    place: Place
    real: str
    link: bool


@dataclass(slots=True)
class Found:
    """The result of a walk. `watched` are the paths whose stamps, if unchanged, prove it still true.

    The stamps were taken before anything there was listed or read.
    """

    candidates: list[_Candidate] = field(default_factory=list)
    categories: list[Place] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    watched: dict[str, Stamp] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    @property
    def skills(self) -> list[Place]:
        return [candidate.place for candidate in self.candidates]

    def drop_aliases(self) -> None:
        """One file offered by several links is one skill, at the place that is least of a link."""
        if len({candidate.real for candidate in self.candidates}) == len(self.candidates):
            return
        first: dict[str, _Candidate] = {}
        for candidate in sorted(self.candidates, key=lambda c: c.link):
            if (kept := first.setdefault(candidate.real, candidate)) is not candidate:
                path, kept_path = candidate.place.path, kept.place.path
                self.decisions.append(_decision(path, "duplicate", f"of {kept_path}"))
        self.candidates = list(first.values())


class _Directory(NamedTuple):
    path: str
    real: str
    category: str
    name: str
    depth: int


def find(roots: tuple[Root, ...]) -> Found:
    """All candidates below the roots, each root's in a fixed order."""
    found = Found()
    seen: dict[str, str] = {}
    allowed = tuple(os.path.realpath(root.path) for root in roots)
    for root, real in zip(roots, allowed, strict=True):
        _Walk(root, real, allowed, seen, found).run()
    found.drop_aliases()
    return found


@dataclass(slots=True)
class _Walk:
    root: Root
    real: str
    allowed: tuple[str, ...]
    seen: dict[str, str]
    found: Found
    count: int = 0
    links: deque[_Directory] = field(default_factory=deque)
    too_deep: list[str] = field(default_factory=list)

    def run(self) -> None:
        root = self.root
        try:
            os.stat(root.path)
        except FileNotFoundError:
            self._no_root()
            return
        except OSError:
            pass  # the listing will say what is wrong with it
        queue = deque([_Directory(root.path, self.real, "", "", 0)])
        while queue or self.links:
            directory = queue.popleft() if queue else self.links.popleft()
            if self.count >= MAX_DIRECTORIES:
                self._notice(
                    f"{root.path}: more than {MAX_DIRECTORIES:,} directories; those from "
                    f"{directory.path} on were not looked at"
                )
                break
            self.count += 1
            if (first := self.seen.setdefault(directory.real, directory.path)) is not directory.path:
                self._decide(directory.path, "duplicate", f"of {first}")
                continue
            self._look(directory, queue)
        if self.too_deep:
            self._notice(
                f"{root.path}: directories deeper than {MAX_DEPTH} were not looked at: "
                f"{len(self.too_deep)}, first {self.too_deep[0]}"
            )

    def _no_root(self) -> None:
        self.found.watched[self.root.path] = NOTHING
        self._decide(self.root.path, "missing")
        if self.root.trust != "owner":
            self._notice(f"{self.root.path}: named in skills.dirs, but there is no such directory")

    def _look(self, directory: _Directory, queue: deque[_Directory]) -> None:
        """One directory: a skill, or a category whose subdirectories join the queue."""
        if directory.depth:
            path = directory.path + _SKILL
            try:
                seen = os.lstat(path)
            except OSError:
                pass
            else:  # whatever it is: a pipe, a directory or a link to nothing is a skill that is broken
                self._skill(directory, path, S_ISLNK(seen.st_mode), seen)
                return
        self._watch(directory.path)
        try:
            with os.scandir(directory.path) as listing:
                entries = sorted(listing, key=_name)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self.found.broken.append(Broken(directory.path, 0, reason, "unreadable"))
            return
        if skill := next((e for e in entries if e.name.lower() == "skill.md"), None):
            if directory.depth or self.root.trust != "owner":
                self._skill(directory, skill.path, skill.is_symlink())
                return
            reason = "it lies in the skills directory itself; a skill has a directory of its own"
            self.found.broken.append(Broken(skill.path, 0, reason))
        category = directory.category
        below = well_formed(f"{category}/{directory.name}" if category else directory.name)
        for entry in entries:
            self._entry(entry, directory, below, queue)

    def _entry(
        self, entry: os.DirEntry[str], parent: _Directory, below: str, queue: deque[_Directory]
    ) -> None:
        name, path, link = entry.name, entry.path, entry.is_symlink()
        try:
            is_directory = entry.is_dir()
        except OSError as error:  # a link to itself, for one
            reason = (error.strerror or str(error)).lower()
            self.found.broken.append(Broken(path, 0, reason, "unreadable"))
            return
        lowered = name.lower()
        if not is_directory:
            if lowered == _DESCRIPTION and below and self._may_read(path, link):
                place = Place(path, below, "", self.root.label, self.root.trust, self._watch(path))
                self.found.categories.append(place)
        elif name[0] == ".":
            pass
        elif lowered == _DESCRIPTION:
            self.found.broken.append(Broken(path, 0, "it is a directory, not a regular file", "unreadable"))
        elif lowered in VENDOR:
            self._decide(path, "off", "a directory of other people's code")
        elif parent.depth >= MAX_DEPTH:
            self.too_deep.append(path)
        elif not link:
            queue.append(_Directory(path, f"{parent.real}{os.sep}{name}", below, name, parent.depth + 1))
        elif self._may_read(path, link):
            self.links.append(_Directory(path, os.path.realpath(path), below, name, parent.depth + 1))

    def _skill(
        self, directory: _Directory, path: str, link: bool, seen: os.stat_result | None = None
    ) -> None:
        """A SKILL.md; `seen` is what `lstat` has just said of it, which counts where it is no link."""
        seen = self._watch(path, None if link else seen)
        if link and not self._may_read(path, link):
            return
        root, inside = self.root, path[len(directory.path) :]
        folder = well_formed(directory.name or os.path.basename(root.path))
        place = Place(path, directory.category, folder, root.label, root.trust, seen)
        real = os.path.realpath(path) if link else directory.real + inside
        self.found.candidates.append(_Candidate(place, real, link))

    def _watch(self, path: str, seen: os.stat_result | None = None) -> os.stat_result | None:
        """Note the stamp of a path, and give what `stat` says of it, if anything."""
        if seen is None:
            with contextlib.suppress(OSError):
                seen = os.stat(path)
        self.found.watched[path] = stamp(seen) if seen else NOTHING
        return seen

    def _may_read(self, path: str, link: bool) -> bool:
        """Links may lead anywhere in the owner's home, but not out of a root that others fill."""
        if not link or self.root.trust == "owner":
            return True
        real = os.path.realpath(path)
        if any(is_inside(real, root) for root in self.allowed):
            return True
        self._decide(path, "outside project", f"links to {real}")
        self._notice(
            f"{path}: it links to {real}, outside {self.root.path}, and was left out; "
            "to use it, name its directory in skills.dirs"
        )
        return False

    def _decide(self, path: str, verdict: Verdict, detail: str = "") -> None:
        self.found.decisions.append(_decision(path, verdict, detail))

    def _notice(self, text: str) -> None:
        origin = Origin("skill", well_formed(self.root.path), trust=self.root.trust)
        self.found.notices.append(Notice("warning", well_formed(text), origin))


def _decision(path: str, verdict: Verdict, detail: str) -> Decision:
    return Decision(well_formed(path), "skill", verdict, well_formed(detail))


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name
