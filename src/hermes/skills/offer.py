"""Which skills a session is offered: what config.yaml, the host and the tools that are on say of each."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from hermes.frozen import frozen
from hermes.provenance import Decision, Verdict
from hermes.skills.records import ALWAYS, OS, Conditions, Library, Skill
from hermes.text import well_formed


@frozen
class Setting:
    """Where skills are to be offered. `toolsets` None: not known, so nothing is concluded from them."""

    tools: frozenset[str] = frozenset()
    toolsets: frozenset[str] | None = None
    system: str = ""
    disabled: frozenset[str] = frozenset()


def host_os() -> OS:
    """The operating system, in the words that skills use."""
    if sys.platform == "darwin":
        return "macos"
    return "windows" if sys.platform == "win32" else "linux"


def why_off(skill: Skill, setting: Setting) -> str:
    """Why a skill is not offered here; empty when it is."""
    if not setting.disabled.isdisjoint((skill.name, skill.qualified, skill.address, skill.place)):
        return "disabled in config.yaml"
    return next(_unmet(skill.conditions, setting), "")


def _unmet(when: Conditions, setting: Setting) -> Iterator[str]:
    if when.by_person_only:
        yield "only a person may start it (disable-model-invocation)"
    if when.platforms and (setting.system or host_os()) not in when.platforms:
        yield f"for {', '.join(when.platforms)} only"
    for kind, needed, replaced, on in (
        ("tool", when.requires_tools, when.fallback_for_tools, setting.tools),
        ("toolset", when.requires_toolsets, when.fallback_for_toolsets, setting.toolsets),
    ):
        if on is not None:
            yield from (f"needs the {kind} {name}, which is off" for name in needed if name not in on)
            yield from (f"stands in for the {kind} {name}, which is on" for name in replaced if name in on)


def split(library: Library, setting: Setting) -> tuple[list[Skill], list[Decision]]:
    """The skills that are offered, and the decisions about the others."""
    offered: list[Skill] = []
    off: list[Decision] = []
    for skill in library.skills:
        if not setting.disabled and skill.conditions is ALWAYS:
            offered.append(skill)
        elif reason := why_off(skill, setting):
            verdict: Verdict = "manual" if skill.conditions.by_person_only else "off"
            off.append(Decision(well_formed(skill.path), "skill", verdict, reason))
        else:
            offered.append(skill)
    return offered, off
