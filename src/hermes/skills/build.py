"""From the places a walk has found to a library: all read and judged, each name given to one skill."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

from hermes.errors import FileRefused
from hermes.files import read_regular, read_seen
from hermes.provenance import Decision, Notice, Origin, digest_of
from hermes.security.policy import Policies
from hermes.skills.admission import judge
from hermes.skills.find import Found
from hermes.skills.known import Root
from hermes.skills.parse import parse_category, parse_skill
from hermes.skills.records import Broken, Category, Library, Place, Skill
from hermes.text import many, well_formed

T = TypeVar("T", Skill, Category)
Parse: TypeAlias = Callable[[bytes, Place], tuple[T | Broken, tuple[Notice, ...]]]


def build_library(found: Found, roots: tuple[Root, ...], policies: Policies) -> Library:
    """Read and judge what a walk has found."""
    broken = list(found.broken)
    skills, notices = _read_all(found.skills, parse_skill, broken)
    categories, notes = _read_all(found.categories, parse_category, broken)
    notices += notes
    order = {root.label: at for at, root in enumerate(roots)}
    skills.sort(key=lambda s: (order[s.root], s.category, s.name, s.folder))
    shelf = _shelf(skills, categories)
    unused = [_unused(c) for c in categories if c not in shelf]
    skills, shelf, judged = judge(skills, shelf, policies)
    winners, shadowed, shadows = _winners(skills)
    if unasked := [s for s in shadowed if s.trust != "package"]:  # ours give way, and nobody need rename them
        notices.append(_shadow_notice(unasked, Library(tuple(winners), tuple(shadowed))))
    decisions = [*found.decisions, *judged.decisions, *shadows, *unused]
    for problem in broken:
        decisions.append(_decision(problem))
        notices.append(_complaint(problem))
    notices += [*found.notices, *judged.notices]
    winners.sort(key=lambda s: (s.category, s.name))
    decisions.sort(key=lambda d: (d.path, d.verdict, d.detail))
    notices.sort(key=lambda n: (n.origin.path if n.origin else "", n.text))
    return Library(
        tuple(winners),
        tuple(shadowed),
        tuple(shelf),
        tuple(broken),
        tuple(decisions),
        tuple(notices),
        _digest(skills, shelf, decisions, notices),
        policies,
    )


def _shelf(skills: list[Skill], categories: list[Category]) -> list[Category]:
    """The categories that hold a skill, each as the first root describes it that does."""
    trust = {s.category: s.trust for s in reversed(skills)}
    known = {c.name: c for c in reversed(categories)}
    return [known.get(name) or Category(name, trust=trust[name]) for name in sorted(trust) if name]


def _unused(category: Category) -> Decision:
    detail = "no skill lies directly in it, or an earlier root describes it"
    return Decision(well_formed(category.path), "skill category", "off", detail)


def _read_all(places: Iterable[Place], parse: Parse[T], broken: list[Broken]) -> tuple[list[T], list[Notice]]:
    """What parses, with what a person should know of it; what does not is added to the broken."""
    read: list[T] = []
    notices: list[Notice] = []
    for place in places:
        data = _read(place)
        result, notes = (data, ()) if isinstance(data, Broken) else parse(data, place)
        notices += notes
        if isinstance(result, Broken):
            broken.append(result)
        else:
            read.append(result)
    return read, notices


def _read(place: Place) -> bytes | Broken:
    if place.seen and (known := read_seen(place.path, place.seen)) is not None:
        return known
    try:
        data, torn = read_regular(place.path)
        return read_regular(place.path)[0] if torn else data
    except FileRefused as error:
        if error.verdict == "missing":
            return Broken(place.path, 0, "it is a link to nothing", "missing")
        return Broken(
            place.path, 0, str(error), "too large" if error.verdict == "too large" else "unreadable"
        )


def _decision(problem: Broken) -> Decision:
    detail = f"line {problem.line}: {problem.reason}" if problem.line else problem.reason
    return Decision(well_formed(problem.path), _kind(problem), problem.verdict, detail)


def _complaint(problem: Broken) -> Notice:
    path = well_formed(problem.path)
    place = f"{path}:{problem.line}" if problem.line else path
    text = f"{place} is left out: {problem.reason}"
    return Notice("warning", text, Origin(_kind(problem), path, "", problem.line, problem.line, "owner"))


def _kind(problem: Broken) -> str:
    return "skill category" if problem.path.lower().endswith("description.md") else "skill"


def _winners(skills: Iterable[Skill]) -> tuple[list[Skill], list[Skill], list[Decision]]:
    """Of several skills of one name the first in order of root, category and folder loads."""
    first: dict[str, Skill] = {}
    shadowed: list[Skill] = []
    for skill in skills:
        if first.setdefault(skill.name, skill) is not skill:
            shadowed.append(skill)
    names = Library(tuple(first.values()), tuple(shadowed))
    decisions: list[Decision] = []
    for skill in shadowed:
        winner = first[skill.name]
        detail = f"by {winner.address} ({well_formed(winner.path)}); it loads as {names.called(skill)}"
        decisions.append(Decision(well_formed(skill.path), "skill", "shadowed", detail))
    return list(first.values()), shadowed, decisions


def _shadow_notice(shadowed: list[Skill], library: Library) -> Notice:
    names = ", ".join(sorted(library.called(skill) for skill in shadowed))
    text = (
        f"{many(len(shadowed), 'skill')} with the name of another, to be loaded only as: {names}. Rename them"
    )
    return Notice("warning", text, shadowed[0].origin)


def _digest(
    skills: list[Skill], categories: list[Category], decisions: list[Decision], notices: list[Notice]
) -> str:
    parts = [f"{s.path}\0{s.digest}" for s in skills]
    parts += [f"{c.path}\0{c.digest}" for c in categories]
    parts += [f"{d.path}\0{d}" for d in decisions]
    parts += [n.text for n in notices]
    return digest_of("\n".join(parts))
