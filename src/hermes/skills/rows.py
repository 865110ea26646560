"""The records of a library as rows of plain values, and back."""

from __future__ import annotations

from typing import Any

from hermes.provenance import Decision, Notice, Origin
from hermes.security.policy import Policies
from hermes.skills.records import ALWAYS, PLAIN, Broken, Category, Conditions, Details, Library, Skill


def to_rows(library: Library) -> dict[str, Any]:
    """A library as JSON has it, without its digest and its policies."""
    return {
        "skills": [_row(s) for s in library.skills],
        "shadowed": [_row(s) for s in library.shadowed],
        "categories": library.categories,
        "broken": library.broken,
        "decisions": library.decisions,
        "notices": library.notices,
    }


def _row(skill: Skill) -> tuple[Any, ...]:
    return skill[:-2] if skill[-2:] == (ALWAYS, PLAIN) else skill


def from_rows(rows: dict[str, Any], digest: str, policies: Policies) -> Library:
    """The library of such rows. Raises ValueError, TypeError or LookupError when they are none."""
    return Library(
        tuple(map(_skill, rows["skills"])),
        tuple(map(_skill, rows["shadowed"])),
        tuple(Category(*row) for row in rows["categories"]),
        tuple(Broken(*row) for row in rows["broken"]),
        tuple(Decision(*row) for row in rows["decisions"]),
        tuple(Notice(level, text, Origin(*o) if o else None) for level, text, o in rows["notices"]),
        digest,
        policies,
    )


def _skill(row: list[Any]) -> Skill:
    if len(row) == _PLAIN_ROW:
        return Skill(*row)
    conditions, (license_, compatibility, tools, metadata) = row[-2:]
    when = Conditions._make(tuple(v) if isinstance(v, list) else v for v in conditions)
    details = Details(license_, compatibility, tuple(tools), tuple((k, v) for k, v in metadata))
    return Skill._make(
        (*row[:-2], when if when != ALWAYS else ALWAYS, details if details != PLAIN else PLAIN)
    )


_PLAIN_ROW = len(Skill._fields) - 2
