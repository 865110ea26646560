"""Looking at skills: the list, a skill's instructions, and the files it refers to."""

from __future__ import annotations

import os

from hermes.config import Config
from hermes.errors import FileRefused
from hermes.files import is_inside, list_directory, read_file
from hermes.paths import Home
from hermes.provenance import Origin, Passage, digest_of
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.skills.library import load_library
from hermes.skills.offer import Setting, split, why_off
from hermes.skills.records import Library, Skill, Unresolved
from hermes.text import decode, front_matter
from hermes.tooling import Tool, ToolContext, ToolError, tool

MAX_CHARS = 100_000
_DEPTH = 3
_FILES_SHOWN = 100


def skill_tools(home: Home, config: Config, policies: Policies, tools: frozenset[str]) -> tuple[Tool, Tool]:
    """`skills_list` and `skill_view` over the skills of a home. They see the disk as it is now."""

    def library() -> Library:
        return load_library(home, tuple(config.skills.dirs), policies=policies)

    setting = Setting(tools, disabled=frozenset(config.skills.disabled))

    @tool(parallel=True, effects=False)
    async def skills_list(context: ToolContext, category: str = "") -> str:
        """The skills on offer; see skills_list.md."""
        offered, _ = split(library(), setting)
        wanted = [s for s in offered if not category or s.category == category]
        if not wanted:
            known = ", ".join(sorted({s.category for s in offered if s.category}))
            return (
                f"there is no skill in {category!r}; categories: {known or 'none'}"
                if category
                else "no skills"
            )
        return "\n".join(f"- {s.name}: {' '.join(s.description.split())}" for s in wanted)

    @tool(parallel=True, effects=False)
    async def skill_view(context: ToolContext, name: str, path: str = "") -> str:
        """A skill's instructions, or one of its files; see skill_view.md."""
        skills = library()
        found = skills.resolve(name)
        if isinstance(found, Unresolved):
            near = f"; did you mean {', '.join(found.candidates)}?" if found.candidates else ""
            raise ToolError(f"{found.reason}{near}")
        if reason := why_off(found, setting):
            raise ToolError(f"the skill {found.name} is not on offer: {reason}")
        return _file(found, path, policies) if path else _instructions(found, policies)

    return skills_list, skill_view


def _instructions(skill: Skill, policies: Policies) -> str:
    text = _read(skill, skill.path, "SKILL.md", policies)
    body = text.part(front_matter(text).body).trimmed()
    files = [f for f in _files(os.path.dirname(skill.path)) if f.lower() != "skill.md"]
    if not files:
        return str(body)
    more = f"\n… and {len(files) - _FILES_SHOWN} more" if len(files) > _FILES_SHOWN else ""
    listed = "\n".join(f"- {f}" for f in files[:_FILES_SHOWN])
    return f"{body}\n\n[Files of this skill, for skill_view with a path:\n{listed}{more}]"


def _file(skill: Skill, path: str, policies: Policies) -> str:
    """One file of the skill's folder; nothing outside is ever read."""
    folder = os.path.realpath(os.path.dirname(skill.path))
    target = os.path.realpath(os.path.join(folder, path))
    if not is_inside(target, folder):
        raise ToolError(f"{path} is outside the folder of the skill {skill.name}")
    return str(_read(skill, target, path, policies))


def _read(skill: Skill, path: str, name: str, policies: Policies) -> Passage:
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
    return admitted.passage


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
