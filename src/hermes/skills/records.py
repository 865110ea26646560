"""What a skill, a category and a library are.

Those of which a thousand are made for one prompt are named tuples, which are made five times as quickly.
"""

from __future__ import annotations

import os
import re
from dataclasses import field
from typing import Literal, NamedTuple

from hermes.frozen import frozen
from hermes.provenance import Decision, Notice, Origin, Trust, Verdict
from hermes.security.policy import Policies
from hermes.text import well_formed

OS = Literal["linux", "macos", "windows"]
_LONGEST_NAME = 1_000
_BLANKS = re.compile(r"\s+")


def one_line(text: str) -> str:
    """The text with every run of white space and control characters as one space."""
    if text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text
    kept = "".join(c if c.isprintable() or ord(c) > 0x9F else " " for c in well_formed(text))
    return _BLANKS.sub(" ", kept).strip()


class Conditions(NamedTuple):
    """When a skill is offered: all of `requires_*` must be there, and none of `fallback_for_*`."""

    platforms: tuple[str, ...] = ()
    requires_tools: tuple[str, ...] = ()
    requires_toolsets: tuple[str, ...] = ()
    fallback_for_tools: tuple[str, ...] = ()
    fallback_for_toolsets: tuple[str, ...] = ()
    by_person_only: bool = False


class Details(NamedTuple):
    """What the index does not need. `metadata` is flat: `hermes.tags` is "a, b"."""

    license: str = ""
    compatibility: str = ""
    allowed_tools: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()


ALWAYS = Conditions()
PLAIN = Details()


class Skill(NamedTuple):
    """One skill that can be loaded.

    `name` as it declares itself; `folder` the name of its directory; `category` the directories between,
    joined by "/"; `root` the label of the root it was found in. `description` is one line; `first_line`
    and `last_line` say where it stands in the file at `path`; `digest` is of the file's bytes.
    """

    name: str
    description: str
    category: str
    folder: str
    root: str
    trust: Trust
    path: str
    digest: str
    first_line: int
    last_line: int
    conditions: Conditions = ALWAYS
    details: Details = PLAIN

    @property
    def qualified(self) -> str:
        """`category/name`."""
        return f"{self.category}/{self.name}" if self.category else self.name

    @property
    def address(self) -> str:
        """`root:category/name`; of two skills of one name in one category of one root it means the first."""
        return f"{self.root}:{self.qualified}"

    @property
    def place(self) -> str:
        """`root:category/folder`: where it lies, which no two skills share."""
        return f"{self.root}:{self.category}/{self.folder}" if self.category else f"{self.root}:{self.folder}"

    @property
    def origin(self) -> Origin:
        return Origin(
            "skill", well_formed(self.path), self.digest, self.first_line, self.last_line, self.trust
        )


class Broken(NamedTuple):
    """A SKILL.md that cannot be used: the line of the file (0: the file as a whole) and the reason."""

    path: str
    line: int
    reason: str
    verdict: Verdict = "broken"


class Place(NamedTuple):
    """Where a SKILL.md or DESCRIPTION.md was found, and what `stat` said of it there."""

    path: str
    category: str
    folder: str
    root: str
    trust: Trust
    seen: os.stat_result | None = None


class Category(NamedTuple):
    """A directory of skills and what its DESCRIPTION.md says of it; no path, no description."""

    name: str
    description: str = ""
    path: str = ""
    digest: str = ""
    first_line: int = 0
    last_line: int = 0
    trust: Trust = "owner"

    @property
    def origin(self) -> Origin:
        path = well_formed(self.path)
        return Origin("skill category", path, self.digest, self.first_line, self.last_line, self.trust)


@frozen
class Unresolved:
    """Why a name leads to no skill, for the person or the model that asked, and what it may have meant."""

    reason: str
    candidates: tuple[str, ...] = ()


@frozen
class Library:
    """`skills` load under their bare names, `shadowed` only under their addresses; both are sorted.

    `decisions` are of everything that is not in `skills`. `digest` changes when anything here does.
    """

    skills: tuple[Skill, ...] = ()
    shadowed: tuple[Skill, ...] = ()
    categories: tuple[Category, ...] = ()
    broken: tuple[Broken, ...] = ()
    decisions: tuple[Decision, ...] = ()
    notices: tuple[Notice, ...] = ()
    digest: str = ""
    policies: Policies = field(default_factory=Policies)

    def resolve(self, name: str) -> Skill | Unresolved:
        """The skill of a name, of `category/name` or of `root:category/name`."""
        if len(name) > _LONGEST_NAME:
            return Unresolved(f"there is no skill with a name of {len(name):,} characters")
        for skill in self.skills:
            if skill.name == name:
                return skill
        everyone = (*self.skills, *self.shadowed)
        for called in (_place, _qualified, _address, _by_folder):
            matches = [skill for skill in everyone if called(skill) == name]
            if matches and called is not _by_folder:
                return matches[0]
            if len(matches) == 1:
                return matches[0]
            if matches:
                return Unresolved(f"{name!r} may mean several skills", tuple(s.address for s in matches))
        return self._unresolved(name)

    def called(self, skill: Skill) -> str:
        """The shortest name that leads to a skill."""
        names = (skill.name, skill.address)
        return next((n for n in names if self.resolve(n) is skill), skill.place)

    def _unresolved(self, name: str) -> Unresolved:
        for decision in self.decisions:
            if os.path.basename(os.path.dirname(decision.path)) == name.rpartition("/")[2]:
                return Unresolved(f"the skill at {decision.path} does not load: {decision}")
        from difflib import get_close_matches

        names = sorted({s.name for s in self.skills} | {s.qualified for s in self.skills})
        close = tuple(get_close_matches(name, names, 5, 0.5))
        return Unresolved(f"there is no skill {name!r}", close)


def _qualified(skill: Skill) -> str:
    return skill.qualified


def _address(skill: Skill) -> str:
    return skill.address


def _place(skill: Skill) -> str:
    return skill.place


def _by_folder(skill: Skill) -> str:
    return skill.folder
