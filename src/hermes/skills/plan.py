"""What of each skill the index shows, so that the whole keeps to its room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hermes.skills.budget import TOKEN, fair_share, shortened, weight
from hermes.skills.records import Category, Skill, one_line

GENERAL = "general"
"""The heading of skills that lie in no category."""

LEAST_SHARE = 8 * TOKEN
"""A share of less than this tells nothing of a description: then there are names only."""

_COLON = weight(": ")
_SPACE = weight(" ")

Level = Literal["full", "shortened", "names", "some"]


@dataclass(frozen=True, slots=True)
class Plan:
    """In order of the index: each skill with what is shown of its description.

    "" is its name alone, None nothing. `categories` are the descriptions shown, by heading.
    """

    level: Level
    shown: tuple[tuple[Skill, str | None], ...]
    categories: Mapping[str, str] = field(default_factory=dict)


def title_of(skill: Skill) -> str:
    """The heading under which a skill stands."""
    return one_line(skill.category) or GENERAL


def plan_index(
    offered: Sequence[Skill],
    shelf: Mapping[str, Category],
    room: int,
    pinned: Sequence[str],
    more: int,
) -> Plan:
    """The fullest plan that fits: all, shares, names, some names. Weights as of `budget.weight`.

    `more` is what the line about those left out weighs. Pinned descriptions are whole in every plan.
    """
    skills = sorted(offered, key=lambda s: (title_of(s), s.name))
    titles = dict.fromkeys(map(title_of, skills))
    described = {
        title: known.description
        for title in titles
        if (known := shelf.get(title)) is not None and known.description
    }
    first = set(pinned)
    names = sum(weight(s.name) for s in skills) + len(skills) * weight("    - \n")
    names += sum(weight(f"  {title}:\n") for title in titles)
    fixed = names + sum(_COLON + weight(s.description) for s in skills if s.name in first)
    loose = [s.description for s in skills if s.name not in first]
    colons = len(loose) * _COLON + len(described) * _SPACE
    weights = [weight(text) for text in (*loose, *described.values())]
    left = room - fixed - colons
    if sum(weights) <= left:
        return Plan("full", tuple((s, s.description) for s in skills), described)
    if (cap := fair_share(weights, left)) >= LEAST_SHARE:
        shown = tuple(
            (s, s.description if s.name in first else shortened(s.description, cap)) for s in skills
        )
        return Plan("shortened", shown, {title: shortened(d, cap) for title, d in described.items()})
    if fixed <= room:
        return Plan("names", tuple((s, s.description if s.name in first else "") for s in skills))
    return _some(skills, room - more, pinned)


def _some(skills: Sequence[Skill], room: int, pinned: Sequence[str]) -> Plan:
    """As many as fit: the pinned, then one name of each category in turn, so that none goes unseen."""
    by_name = {s.name: s for s in skills}
    wanted = [by_name[name] for name in dict.fromkeys(pinned) if name in by_name]
    first = len(wanted)
    turns: dict[str, int] = {}
    queue: list[tuple[int, int, Skill]] = []
    for at, skill in enumerate(skills):
        if skill not in wanted:
            title = title_of(skill)
            turns[title] = turns.get(title, -1) + 1
            queue.append((turns[title], at, skill))
    queue.sort(key=lambda item: item[:2])
    chosen: dict[str, str] = {}
    opened: set[str] = set()
    for at, skill in enumerate((*wanted, *(item[2] for item in queue))):
        title = title_of(skill)
        text = skill.description if at < first else ""
        cost = weight(f"    - {skill.name}\n") + (_COLON + weight(text) if text else 0)
        if title not in opened:
            cost += weight(f"  {title}:\n")
        if cost > room:
            break
        room -= cost
        opened.add(title)
        chosen[skill.name] = text
    return Plan("some", tuple((s, chosen.get(s.name)) for s in skills))
