"""What of each skill the index shows, so that the whole keeps to its room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Literal, NamedTuple

from hermes.frozen import frozen
from hermes.skills.budget import TOKEN, fair_share, shortened, weight
from hermes.skills.records import Category, Skill, one_line

GENERAL = "general"
"""The heading of skills that lie in no category."""

LEAST_SHARE = 8 * TOKEN
"""A share of less than this tells nothing of a description: then there are names only."""

_NAME = weight("    - \n")
_TITLE = weight("  :\n")
_COLON = weight(": ")
_SPACE = weight(" ")

Level = Literal["full", "shortened", "names", "some"]


Line = tuple[Skill, str | None]
"""A skill and what is shown of its description: "" is its name alone, None nothing at all."""


class Group(NamedTuple):
    """The skills under one heading. `shown` is what is shown of the category's description."""

    title: str
    category: Category
    shown: str
    lines: tuple[Line, ...]


@frozen
class Plan:
    """Everything offered, in the order of the index."""

    level: Level
    groups: tuple[Group, ...] = ()

    @property
    def lines(self) -> Iterator[Line]:
        return (line for group in self.groups for line in group.lines)


class _Shelf(NamedTuple):
    title: str
    category: Category
    skills: list[Skill]


def plan_index(
    offered: Sequence[Skill],
    categories: Mapping[str, Category],
    room: int,
    pinned: Sequence[str],
    more: int,
) -> Plan:
    """The fullest plan that fits: all, shares, names, some names. Weights as of `budget.weight`.

    `offered` is sorted by category and name; `more` is what the line about those left out weighs. Pinned
    descriptions are whole in every plan.
    """
    shelves = _shelves(offered, categories)
    whole = frozenset(pinned)
    kept = [s.description for s in offered if s.name in whole]
    loose = (
        [s.description for s in offered if s.name not in whole] if whole else [s.description for s in offered]
    )
    about = [shelf.category.description for shelf in shelves if shelf.category.description]
    fixed = weight("".join([*(s.name for s in offered), *(shelf.title for shelf in shelves), *kept]))
    fixed += len(offered) * _NAME + len(shelves) * _TITLE + len(kept) * _COLON
    left = room - fixed - len(loose) * _COLON - len(about) * _SPACE
    if weight("".join((*loose, *about))) <= left or not offered:
        return _shown("full", shelves, None, whole)
    if left > 0 and (cap := fair_share([weight(text) for text in (*loose, *about)], left)) >= LEAST_SHARE:
        return _shown("shortened", shelves, cap, whole)
    if fixed <= room:
        return _shown("names", shelves, 0, whole)
    return _some(shelves, room - more, pinned)


def _shelves(offered: Sequence[Skill], categories: Mapping[str, Category]) -> list[_Shelf]:
    """Skills by their headings, sorted; those in no category join a category that is called general."""
    shelves: dict[str, _Shelf] = {}
    for name, skills in groupby(offered, key=lambda s: s.category):
        title = one_line(name) or GENERAL
        if title in shelves:
            shelves[title].skills.extend(skills)
            shelves[title].skills.sort(key=lambda s: s.name)
        else:
            known = categories.get(name or GENERAL) or Category(name)
            shelves[title] = _Shelf(title, known, list(skills))
    return sorted(shelves.values(), key=lambda shelf: shelf.title)


def _shown(level: Level, shelves: list[_Shelf], cap: int | None, whole: frozenset[str]) -> Plan:
    """Everything with no description over the cap but those that must be whole; no cap cuts nothing."""

    def cut(text: str) -> str:
        return text if cap is None else shortened(text, cap) if cap else ""

    groups = (
        Group(
            title,
            known,
            cut(known.description),
            tuple((s, s.description if s.name in whole else cut(s.description)) for s in skills),
        )
        for title, known, skills in shelves
    )
    return Plan(level, tuple(groups))


def _some(shelves: list[_Shelf], room: int, pinned: Sequence[str]) -> Plan:
    """As many as fit: the pinned, then one name of each category in turn, so that none goes unseen."""
    chosen: dict[str, str] = {}
    opened: set[str] = set()
    for title, skill, text in _in_turn(shelves, pinned):
        cost = weight(skill.name) + _NAME + (_COLON + weight(text) if text else 0)
        if title not in opened:
            cost += weight(title) + _TITLE
        if cost > room:
            break
        room -= cost
        opened.add(title)
        chosen[skill.name] = text
    groups = (
        Group(title, known, "", tuple([(s, chosen.get(s.name)) for s in skills]))
        for title, known, skills in shelves
    )
    return Plan("some", tuple(groups))


def _in_turn(shelves: list[_Shelf], pinned: Sequence[str]) -> Iterator[tuple[str, Skill, str]]:
    """Each skill with its heading and the description it must show, the more important first."""
    wanted = frozenset(pinned)
    if wanted:
        places = {s.name: (title, s, s.description) for title, _, skills in shelves for s in skills}
        yield from (places[name] for name in dict.fromkeys(pinned) if name in places)
    for turn in zip_longest(*(shelf.skills for shelf in shelves)):
        for shelf, skill in zip(shelves, turn, strict=True):
            if skill is not None and skill.name not in wanted:
                yield shelf.title, skill, ""
