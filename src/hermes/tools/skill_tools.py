"""Looking at skills: the list, a skill's instructions, and the files it refers to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from hermes.config import Config, load_config
from hermes.errors import FileRefused
from hermes.files import is_inside, list_directory, read_file
from hermes.paths import Home
from hermes.provenance import Origin, Passage, digest_of
from hermes.security.gate import admit, safe_name
from hermes.security.policy import Policies
from hermes.skills.known import LOADED, directories
from hermes.skills.stamps import stamps_of
from hermes.text import decode, front_matter, well_formed
from hermes.tooling import Tool, ToolContext, ToolError, tool

if TYPE_CHECKING:  # what reads skills is loaded when the first is looked at
    from hermes.skills.offer import Setting
    from hermes.skills.records import Broken, Library, Skill

MAX_CHARS = 100_000
_DEPTH = 3
_FILES_SHOWN = 100
_LONGEST_PATH = 1_000


def skill_tools(home: Home, config: Config, policies: Policies, tools: frozenset[str]) -> tuple[Tool, Tool]:
    """`skills_list` and `skill_view` over the skills of a home. They see the disk as it is now."""

    def library() -> Library:
        from hermes.skills.library import load_library

        return load_library(home, directories(config.skills), policies=policies)

    begun = stamps_of([home.config])

    def setting() -> Setting:
        """What is disabled now: config.yaml is asked once it has changed since the session began."""
        from hermes.skills.offer import Setting

        same = stamps_of([home.config]) == begun
        return Setting(tools, disabled=frozenset((config if same else load_config(home)).skills.disabled))

    @tool(parallel=True, effects=False)
    async def skills_list(context: ToolContext, category: str = "") -> str:
        """The skills on offer; see skills_list.md."""
        return _listed(library(), setting(), category.strip("/ "))

    @tool(parallel=True, effects=False)
    async def skill_view(context: ToolContext, name: str, path: str = "") -> str:
        """A skill's instructions, or one of its files; see skill_view.md."""
        from hermes.skills.offer import why_off
        from hermes.skills.records import Unresolved

        skills = library()
        found = skills.resolve(name)
        if isinstance(found, Unresolved):
            near = f"; did you mean {', '.join(found.candidates)}?" if found.candidates else ""
            raise ToolError(f"{found.reason}{near}")
        if reason := why_off(found, setting()):
            raise ToolError(f"the skill {found.name} is not on offer: {reason}")
        read = _file(found, path, policies) if path else _read(found, found.path, "SKILL.md", policies)
        answer = str(read.text) if path else _with_files(found, read.text)
        context.seen[os.path.realpath(read.path)] = read.digest
        return _ABOVE.format(name=found.name) if _stands_above(answer, context) else answer

    return skills_list, skill_view


_ABOVE = LOADED + (
    "The skill {name} was loaded earlier in this conversation and has not changed since; follow the text "
    "that stands above."
)
_WORTH_A_WORD = 300
"""A text of fewer characters is given again: to say that it stands above takes as many."""


def _stands_above(answer: str, context: ToolContext) -> bool:
    """Whether the model can still read this very answer: of an earlier call, or carried over by a summary."""
    answer = well_formed(answer)
    return len(answer) >= _WORTH_A_WORD and any(
        (m.role == "tool" and m.name == "skill_view" and m.text == answer)
        or any(a.kind == "skill" and answer in a.text for a in m.annex)
        for m in context.visible()
    )


def _listed(library: Library, setting: Setting, category: str) -> str:
    """Every skill on offer under a name that leads to it, and what does not load."""
    from hermes.skills.offer import split, why_off

    offered, _ = split(library, setting)
    hidden = [s for s in library.shadowed if not why_off(s, setting)]
    lines = [
        f"- {library.called(s)}: {' '.join(s.description.split())}"
        for s in (*offered, *hidden)
        if not category or s.category == category
    ]
    if not lines and category:
        known = ", ".join(sorted({s.category for s in offered if s.category}))
        return f"there is no skill in {category!r}; categories: {known or 'none'}"
    if not category:
        lines += [
            f"- {safe_name(_folder(b.path))}: does not load, {_fault(b)}"
            for b in library.broken
            if not _describes(b.path)
        ]
    return "\n".join(lines) or "no skills"


def _describes(path: str) -> bool:
    """Whether it is the description of a category, without which its skills load all the same."""
    return os.path.basename(path).lower() == "description.md"


def _folder(path: str) -> str:
    return os.path.basename(os.path.dirname(path)) or path


def _fault(broken: Broken) -> str:
    where = f"{broken.path}:{broken.line}" if broken.line else broken.path
    return f"{safe_name(where)}: {safe_name(broken.reason)}"


class _Read(NamedTuple):
    """A file as the gate lets it in, and the digest of the very bytes that this was made from."""

    path: str
    text: Passage
    digest: str


def instructions(skill: Skill, policies: Policies) -> str:
    """What a skill says, as the gate lets it in, and the names of its further files. ToolError."""
    return _with_files(skill, _read(skill, skill.path, "SKILL.md", policies).text)


def _with_files(skill: Skill, text: Passage) -> str:
    body = text.part(front_matter(text).body).trimmed()
    files = [f for f in _files(os.path.dirname(skill.path)) if f.lower() != "skill.md"]
    if not files:
        return str(body)
    more = f"\n… and {len(files) - _FILES_SHOWN} more" if len(files) > _FILES_SHOWN else ""
    listed = "\n".join(f"- {f}" for f in files[:_FILES_SHOWN])
    return f"{body}\n\n[Files of this skill, for skill_view with a path:\n{listed}{more}]"


def _file(skill: Skill, path: str, policies: Policies) -> _Read:
    """One file of the skill's folder; nothing outside is ever read."""
    if len(path) > _LONGEST_PATH:
        raise ToolError(
            f"a path of {len(path):,} characters cannot be read; skill_view without one lists the files"
        )
    folder = os.path.realpath(os.path.dirname(skill.path))
    try:
        target = os.path.realpath(os.path.join(folder, path))
    except ValueError as error:  # a NUL, half a surrogate pair
        raise ToolError(f"the path {path[:80]!a} cannot be: {error}") from None
    if not is_inside(target, folder):
        raise ToolError(f"{path} is outside the folder of the skill {skill.name}")
    return _read(skill, target, path, policies)


def _read(skill: Skill, path: str, name: str, policies: Policies) -> _Read:
    try:
        data = read_file(path).data
        decoded = decode(data)
    except FileRefused as error:
        files = ", ".join(_files(os.path.dirname(skill.path))[:_FILES_SHOWN])
        raise ToolError(f"{name} of the skill {skill.name} cannot be read: {error}; it has {files}") from None
    origin = Origin("skill", path, digest_of(data), trust=skill.trust)
    admitted = admit(
        Passage.quote(decoded.text, origin),
        name=f"{name} of the skill {skill.name}",
        policy=policies.of(skill.trust),
        limit=MAX_CHARS,
        shown=path,
    )
    return _Read(path, admitted.passage, origin.digest)


def _files(folder: str, depth: int = 0) -> list[str]:
    """The files below a folder, relative to it, sorted; hidden ones and links to folders left out."""
    found: list[str] = []
    try:
        names = list_directory(folder)
    except FileRefused:
        return found
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith("."):
            continue
        if os.path.isfile(path):
            found.append(name)
        elif depth < _DEPTH and os.path.isdir(path) and not os.path.islink(path):
            found += [f"{name}/{inner}" for inner in _files(path, depth + 1)]
    return found
