"""Skills at the gate: one scan for all names and descriptions, each finding traced back to its skill."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hermes.provenance import Decision, Notice
from hermes.security.gate import findings_in
from hermes.security.policy import Policies
from hermes.security.scan import Finding
from hermes.skills.records import Category, Skill

_BREAKS_OUT = re.compile(r"<\s*/?\s*available_skills|<!--(?!.*-->)", re.I)
"""Text that would end the index, or begin a comment that swallows the skills after it."""


class Judged(NamedTuple):
    """What the gate says of the library."""

    decisions: list[Decision]
    notices: list[Notice]


def judge(
    skills: Sequence[Skill], categories: Sequence[Category], policies: Policies
) -> tuple[list[Skill], list[Category], Judged]:
    """Leave out what the gate blocks: a skill with its line, a category with its description or its name.

    The texts are scanned as one, in an order in which neighbours are neighbours in the index too.
    """
    things: list[Skill | Category] = [*skills, *categories]
    texts = [f"{s.name}: {s.description}" for s in skills]
    texts += [f"{c.name}: {c.description}" for c in categories]
    judged = Judged([], [])
    out: set[int] = set()
    for index, thing in enumerate(things):
        if breaks_out(thing):
            out.add(index)
            texts[index] = ""  # so that it puts no other in a bad light
            _note_block(thing, "breaks_out", "its text reaches beyond its line of the index", judged)
    for index, found in sorted(_all_hits(texts).items()):
        thing = things[index]
        if stopping := blocking(found, thing, policies):
            out.add(index)
            ids = ", ".join(dict.fromkeys(f.id for f in stopping))
            _note_block(thing, ids, f"{stopping[0].why}; it reads: {stopping[0].reads!r}", judged)
        elif thing.digest not in policies.of(thing.trust).accepted:
            judged.notices.extend(_warning(thing, f) for f in found if f.severity != "low")
    bad = {c.name for c in categories if _is_bad_name(c, policies)}
    kept = [s for i, s in enumerate(skills) if i not in out and s.category not in bad]
    for skill in skills:
        if skill.category in bad:
            judged.decisions.append(_blocked(skill, "the name of its category was blocked"))
    first = len(skills)
    shelf = [
        Category(c.name, trust=c.trust) if i in out else c
        for i, c in enumerate(categories, first)
        if c.name not in bad
    ]
    return kept, shelf, judged


def breaks_out(thing: Skill | Category) -> bool:
    """Whether the text of a line reaches beyond it."""
    text = f"{thing.name}: {thing.description}"
    return "<" in text and bool(_BREAKS_OUT.search(text))


def blocking(findings: Iterable[Finding], thing: Skill | Category, policies: Policies) -> list[Finding]:
    """The findings that keep a skill out, by who vouches for it and what the owner accepted."""
    policy = policies.of(thing.trust)
    if thing.digest in policy.accepted:
        return []
    return [f for f in findings if policy.keeps_out(f)]


def _all_hits(texts: list[str]) -> dict[int, list[Finding]]:
    """Every text with findings. A scan names so many of a kind: these are taken out, and the rest scanned."""
    found: dict[int, list[Finding]] = {}
    while hits := _hits(texts):
        for index in hits:
            texts[index] = ""
        found |= hits
    return found


def _hits(texts: Sequence[str]) -> dict[int, list[Finding]]:
    """The findings of the texts as lines of one, by the index of every line they touch."""
    hits: dict[int, list[Finding]] = {}
    findings = findings_in("\n".join(texts)) if texts else ()
    if findings:
        starts = [0]
        for text in texts:
            starts.append(starts[-1] + len(text) + 1)
        for finding in findings:
            first = bisect_right(starts, finding.start) - 1
            last = bisect_right(starts, max(finding.start, finding.end - 1)) - 1
            for index in range(first, min(last, len(texts) - 1) + 1):
                hits.setdefault(index, []).append(finding)
    return hits


def _is_bad_name(category: Category, policies: Policies) -> bool:
    """Whether the very name of a directory reads as an attack: then its skills stay out with it."""
    if category.name.replace("-", "").replace("_", "").replace("/", "").isalnum() and len(category.name) < 32:
        return False
    found = findings_in(category.name)
    return bool(blocking(found, category, policies) or _BREAKS_OUT.search(category.name))


def _blocked(thing: Skill | Category, why: str) -> Decision:
    origin = thing.origin
    return Decision(origin.path or thing.name, origin.kind, "blocked", why)


def _note_block(thing: Skill | Category, ids: str, why: str, judged: Judged) -> None:
    origin = thing.origin
    judged.decisions.append(_blocked(thing, ids))
    text = (
        f"{origin.place}: the {origin.kind} {thing.name!r} was blocked ({ids}): {why}. "
        f"Read it, then accept this content with: hermes trust {origin.path}"
    )
    judged.notices.append(Notice("error", text, origin))


def _warning(thing: Skill | Category, finding: Finding) -> Notice:
    origin = thing.origin
    text = f"{origin.place}: {finding.why} ({finding.id}); it was loaded. It reads: {finding.reads!r}"
    return Notice("warning", text, origin)
