"""Whether a text may become a file of a skill: judged by the parser that will read it, and by the gate."""

from __future__ import annotations

from hermes.errors import FileRefused, SkillError
from hermes.provenance import Notice
from hermes.security.gate import findings_in
from hermes.security.policy import Policies
from hermes.security.scan import Finding
from hermes.skills.admission import judge
from hermes.skills.find import VENDOR
from hermes.skills.parse import NAME_CHARS, USABLE_NAME, parse_skill
from hermes.skills.records import Place, Skill
from hermes.text import decode

MAX_CHARS = 100_000
"""The most characters of one file: what `skill_view` shows of it."""


def checked_skill(text: str, place: Place, policies: Policies) -> tuple[Skill, tuple[Notice, ...]]:
    """The skill that a SKILL.md of this text would be, and what is to be said of it. SkillError when none."""
    data = checked_text(text, "SKILL.md", policies)
    skill, notices = parse_skill(data, place)
    if not isinstance(skill, Skill):
        where = f" (line {skill.line})" if skill.line else ""
        raise SkillError(f"this SKILL.md would not load{where}: {skill.reason}")
    kept, _, judged = judge([skill], [], policies)
    if not kept:
        why = "; ".join(str(d.detail) for d in judged.decisions)
        raise SkillError(f"the gate would keep its line out of the index ({why}); say it in other words")
    return skill, notices


def checked_text(text: str, name: str, policies: Policies) -> bytes:
    """The bytes of a text that the model wrote for a file; it is judged as a text of others. SkillError."""
    if len(text) > MAX_CHARS:
        raise SkillError(
            f"{name} would have {len(text):,} characters; the most is {MAX_CHARS:,}. Split it up"
        )
    try:
        data = text.encode()
        decode(data)
    except UnicodeEncodeError:
        raise SkillError(f"{name} holds half of a surrogate pair, which is no character") from None
    except FileRefused as refused:
        raise SkillError(f"{name} would be no text: {refused}") from None
    if stopping := [f for f in findings_in(text) if policies.of("third_party").keeps_out(f)]:
        raise SkillError(f"the gate stops {name}: {told(stopping[0], text)}. Say it in other words")
    return data


def told(finding: Finding, text: str) -> str:
    """A finding in a line: what, where, why."""
    line = text.count("\n", 0, finding.start) + 1
    return f"{finding.id} on line {line}, {finding.why}"


def checked_name(name: str) -> str:
    """A name as the standard has it. SkillError otherwise."""
    if len(name) > NAME_CHARS or not USABLE_NAME.fullmatch(name):
        raise SkillError(
            f"{name[:80]!r} is not a name for a skill: up to {NAME_CHARS} lower-case letters, digits and "
            "single hyphens, like release-notes"
        )
    if name in VENDOR:
        raise SkillError(f"a folder {name} is taken for other people's code; choose another name")
    return name


def checked_category(category: str) -> str:
    """`a` or `a/b`, each part named like a skill; "" for none. SkillError otherwise."""
    parts = category.split("/") if category else []
    if len(parts) > 4:
        raise SkillError(f"the category {category[:80]!r} is more than 4 folders deep")
    for part in parts:
        checked_name(part)
    return category


def checked_path(path: str) -> str:
    """The path of a file beside SKILL.md: relative, plain, below the folder. SkillError otherwise."""
    parts = path.split("/")
    plain = path.isprintable() and "\\" not in path and ":" not in path and len(path) <= 200
    if not plain or any(p in ("", ".", "..") or p.startswith(".") or p.endswith((".", " ")) for p in parts):
        raise SkillError(
            f"{path[:80]!r} is not a path for a file of a skill: give it like references/api.md, below the "
            "skill's folder, without hidden names"
        )
    if parts[0].lower() == "skill.md":
        raise SkillError("SKILL.md itself is changed with the actions edit and patch")
    return path
