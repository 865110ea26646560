"""The index of skills in the prompt: one budget for the whole, shared fairly, and a notice of every cut."""

from __future__ import annotations

from collections.abc import Iterator

from hermes.frozen import frozen
from hermes.prompts import prompt_text
from hermes.provenance import Decision, Notice, Origin, Passage, Span
from hermes.security.gate import findings_in
from hermes.skills.admission import blocking
from hermes.skills.budget import DEFAULT_TOKENS, TOKEN, weight
from hermes.skills.offer import Setting, host_os, split
from hermes.skills.plan import Line, Plan, plan_index
from hermes.skills.records import Library, Skill
from hermes.text import many, well_formed


def skills_index(
    library: Library,
    *,
    tools: frozenset[str],
    toolsets: frozenset[str] | None = None,
    system: str = "",
    disabled: frozenset[str] = frozenset(),
    pinned: tuple[str, ...] = (),
    budget_tokens: int = DEFAULT_TOKENS,
) -> Passage:
    """The section of the prompt that names the skills offered to this session; empty when there are none.

    Never over `budget_tokens` (see `budget.METHOD`): whole descriptions while they fit, then all shortened
    to a fair share, then names, then as many names as fit with their number. Descriptions of `pinned`
    skills are not shortened. Notices say what was cut, decisions what became of each skill.
    """
    system = system or host_os()
    here, off = split(library, Setting(tools, toolsets, system, disabled))
    more = prompt_text("skills_more" if "skills_list" in tools else "skills_more_unlisted")
    return _index(library, here, off, _Frame(budget_tokens, more, pinned))


@frozen
class _Frame:
    """What stands around the skills, and the room it leaves (in `budget.weight`)."""

    budget_tokens: int
    more: Passage
    pinned: tuple[str, ...] = ()

    @property
    def room(self) -> int:
        around = weight(prompt_text("skills_index")) + weight(_OPEN) + weight(_CLOSE)
        return self.budget_tokens * TOKEN - around


_OPEN = "\n<available_skills>\n"
_CLOSE = "</available_skills>"


def _index(library: Library, offered: list[Skill], off: list[Decision], frame: _Frame) -> Passage:
    categories = {c.name: c for c in library.categories}
    notices = list(library.notices)
    more = weight(frame.more) + weight(f"{len(offered)}\n")
    while True:
        plan = plan_index(offered, categories, frame.room, frame.pinned, more)
        passage = _rendered(plan, frame)
        refused = _refused(passage, plan, library) if plan.level != "full" else []
        if not refused:
            break
        offered = [skill for skill in offered if skill not in refused]
        for skill in refused:
            off.append(Decision(well_formed(skill.path), "skill", "blocked", "as it would be sent"))
            notices.append(_refusal(skill))
    if plan.level != "full":
        notices.append(_cut_notice(plan, frame.budget_tokens))
    decisions = (*library.decisions, *off, *map(_decided, plan.lines))
    return Passage(passage, passage.spans, tuple(notices), decisions)


def _rendered(plan: Plan, frame: _Frame) -> Passage:
    left = sum(shown is None for _, shown in plan.lines)
    if left == sum(len(group.lines) for group in plan.groups):
        return Passage()
    head = prompt_text("skills_index")
    text: list[str] = [head]
    spans = list(head.spans)
    for part, origin, transforms in _parts(plan, frame, left):
        start = spans[-1].end
        text.append(part)
        spans.append(Span(start, start + len(part), origin, transforms))
    return Passage("".join(text), tuple(spans))


def _parts(plan: Plan, frame: _Frame, left: int) -> Iterator[tuple[str, Origin, tuple[str, ...]]]:
    """The lines of the index: text, origin, what was done to it."""
    yield _OPEN, _OWN, ()
    for title, category, described, lines in plan.groups:
        if all(shown is None for _, shown in lines):
            continue
        cut = () if described == category.description else _CUT if described else _LEFT_OUT
        yield f"  {title}: {described}\n" if described else f"  {title}:\n", category.origin, cut
        for skill, shown in lines:
            if shown:
                cut = () if shown == skill.description else _CUT
                yield f"    - {skill.name}: {shown}\n", skill.origin, cut
            elif shown is not None:
                yield f"    - {skill.name}\n", skill.origin, _LEFT_OUT
    if left:
        yield frame.more.format(count=left) + "\n", _OWN, ()
    yield _CLOSE, _OWN, ()


_OWN = Origin("hermes", "hermes/skills/index.py")
_CUT = ("shortened",)
_LEFT_OUT = ("description left out",)


def _refused(passage: Passage, plan: Plan, library: Library) -> list[Skill]:
    """Skills whose lines, as they would be sent, the gate blocks though their whole descriptions passed."""
    findings = findings_in(passage)
    if not findings:
        return []
    by_origin = {skill.origin: skill for skill, _ in plan.lines}
    refused = []
    for finding in findings:
        for span in passage.spans:
            skill = by_origin.get(span.origin)
            touched = span.start < finding.end and finding.start < span.end
            if touched and skill and skill not in refused and blocking([finding], skill, library.policies):
                refused.append(skill)
    return refused


def _refusal(skill: Skill) -> Notice:
    text = (
        f"{skill.origin.place}: the skill {skill.name!r} was blocked: shortened for the index, it and its "
        "neighbours read as an attack. Shorten the description or raise skills.index_tokens"
    )
    return Notice("error", text, skill.origin)


def _decided(line: Line) -> Decision:
    skill, shown = line
    path = well_formed(skill.path)
    if shown == skill.description:
        return Decision(path, "skill", "loaded")
    if shown is None:
        return Decision(path, "skill", "cut", "not in the index: no room")
    if not shown:
        return Decision(path, "skill", "cut", "name only: no room for its description")
    return Decision(path, "skill", "cut", f"{len(shown) - 1} of {len(skill.description)} characters")


_NAMED = 12


def _cut_notice(plan: Plan, budget_tokens: int) -> Notice:
    lines = list(plan.lines)
    cut = [s.name for s, shown in lines if shown is not None and shown != s.description]
    gone = [s.name for s, shown in lines if shown is None]
    parts = []
    if cut:
        how = "shortened" if plan.level == "shortened" else "left out"
        parts.append(f"{len(cut):,} of {len(lines):,} descriptions were {how} ({_listed(cut)})")
    if gone:
        parts.append(f"not named at all: {many(len(gone), 'skill')} ({_listed(gone)})")
    if not parts:
        parts.append("descriptions of categories were shortened")
    text = (
        f"the skills index was cut to its budget of {budget_tokens:,} tokens: {'; '.join(parts)}. "
        "Raise skills.index_tokens, shorten descriptions or disable skills"
    )
    return Notice("warning", text, _OWN)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
