"""Every skill that is somewhere, for a person: what it is called, and what becomes of it."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from hermes.config import Config
from hermes.config.edit import set_key, unset_key
from hermes.errors import UsageError
from hermes.paths import Home
from hermes.skills.offer import Setting, why_off
from hermes.skills.records import Library, Skill, Unresolved
from hermes.tool_names import enabled_tools

State = Literal["on", "disabled", "off", "shadowed", "broken", "blocked"]
_LOST = ("broken", "unreadable", "too large", "blocked")


class Row(NamedTuple):
    """A skill: the name that leads to it, its root, and why its state is not `on`."""

    name: str
    state: State
    root: str
    category: str
    description: str
    path: str
    detail: str = ""


def setting_of(config: Config, disabled: tuple[str, ...] | None = None) -> Setting:
    """Where skills are offered with this configuration."""
    off = config.skills.disabled if disabled is None else disabled
    return Setting(enabled_tools(config.tools.enabled), disabled=frozenset(off))


def overview(library: Library, setting: Setting) -> tuple[Row, ...]:
    """Those that load, those that load under a longer name, and those that do not load."""
    details = {d.path: d for d in library.decisions}
    rows = []
    for skill in (*library.skills, *library.shadowed):
        state: State = "on" if skill in library.skills else "shadowed"
        detail = details[skill.path].detail if state == "shadowed" and skill.path in details else ""
        if reason := why_off(skill, setting):
            state, detail = "disabled" if "config.yaml" in reason else "off", reason
        name = library.called(skill)
        rows.append(Row(name, state, skill.root, skill.category, skill.description, skill.path, detail))
    for path, decision in details.items():
        if decision.kind == "skill" and decision.verdict in _LOST:
            lost: State = "blocked" if decision.verdict == "blocked" else "broken"
            name = os.path.basename(os.path.dirname(path)) or path
            rows.append(Row(name, lost, "", "", "", path, decision.detail))
    return tuple(rows)


def find_skill(library: Library, name: str) -> Skill:
    """The skill of a name. UsageError when there is none."""
    found = library.resolve(name)
    if isinstance(found, Unresolved):
        near = f"; did you mean {', '.join(found.candidates)}?" if found.candidates else ""
        raise UsageError(f"{found.reason}{near}")
    return found


def switch(home: Home, config: Config, library: Library, name: str, on: bool) -> tuple[str, ...]:
    """Write into config.yaml that a skill is on or off; the names that are disabled then.

    UsageError when there is no such skill, ConfigError when the file cannot be changed.
    """
    disabled = config.skills.disabled
    names, written = {name}, name
    if not on or name not in disabled or isinstance(library.resolve(name), Skill):
        found = find_skill(library, name)  # of one that is gone the name alone may go
        names |= {found.name, found.qualified, found.address, found.place}
        written = library.called(found)
    left = tuple(n for n in disabled if n not in names)
    changed = left if on else tuple(sorted({*left, written}))
    if changed == disabled:
        return changed
    if changed:
        import json

        set_key(home, "skills.disabled", json.dumps(changed, ensure_ascii=False))
    else:
        unset_key(home, "skills.disabled")
    return changed
