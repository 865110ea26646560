"""Sessions beside each other: what they share, and the line that parts them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hermes.prompt import Section, SystemPrompt, Tier
from hermes.provenance import Origin, Passage
from hermes.providers.profiles import profile_for
from hermes.sessions.records import SessionRecord
from hermes.wire.fleet import fleet
from tests.world import build, facts, make_home, make_project, write

CLAUDE = profile_for("claude-sonnet-4-5", "anthropic")
GPT = profile_for("gpt-4o", "openai")
TOOLS = json.dumps([["look", "Look at it.", "{}"]])
SOUL = "".join(f"Rule {n}: say what you did.\n" for n in range(400))
AGENTS = "".join(f"Make target {n} builds part {n}.\n" for n in range(300))


def record(
    name: str, *sections: tuple[str, Tier, str], tools: str = TOOLS, model: str = "claude"
) -> SessionRecord:
    parts = []
    for slot, tier, text in sections:
        passage = Passage.quote(text, Origin(slot, f"/home/{slot}.md", trust="owner", first_line=1))
        parts.append(Section.of(slot, tier, passage))
    prompt = SystemPrompt.assemble(parts, facts(Path("/")), "")
    return SessionRecord(name, "2026-03-01T10:00:00", model=model, prompt_json=prompt.to_json(), tools=tools)


def known(model: str, provider: str):  # type: ignore[no-untyped-def]
    return {"claude": CLAUDE, "gpt": GPT}[model]


def usual(name: str, line: str, **changes: str) -> SessionRecord:
    return record(
        name,
        ("identity", Tier.STABLE, changes.get("soul", SOUL)),
        ("project", Tier.CONTEXT, changes.get("agents", AGENTS)),
        ("session line", Tier.VOLATILE, f"Session {line}."),
    )


def test_what_is_volatile_parts_them_last() -> None:
    (group,) = fleet([usual("a", "one"), usual("b", "two")], known)
    assert group.sessions == ("a", "b")
    assert group.shared == group.cached > 5_000
    assert group.split is not None
    assert (group.split.section, group.split.source) == ("session line", "/home/session line.md:1")
    assert (group.split.behind, group.split.saving) == (0, 0.0)


def test_a_clock_in_front_is_found_to_the_line_and_has_its_price() -> None:
    """What stands behind it is the same in all, and is written by each for nothing."""
    soul = SOUL.replace("Rule 7: say what you did.", "It is {} o'clock.")
    found = fleet([usual(n, n, soul=soul.format(n * 3)) for n in "abc"], known)
    group = found[0]
    assert len(found) == 1, "no two of them share more"
    assert group.split is not None
    assert (group.split.section, group.split.source) == ("identity", "/home/identity.md:8")
    assert group.split.texts[0].startswith("7\nIt is ") or "It is " in group.split.texts[0]
    assert group.cached == 0, "no mark stands behind the tools alone"
    assert group.split.behind > 2_000
    assert group.split.saving == pytest.approx(group.split.behind * 2 * (3.75 - 0.3) / 1e6)


def test_a_group_that_splits_is_followed_by_its_parts() -> None:
    other = AGENTS.replace("target 9 ", "goal 9 ")
    records = [
        usual("a", "1"),
        usual("b", "2"),
        usual("c", "3", agents=other),
        usual("d", "4", agents=other),
        usual("e", "5"),
        replace(usual("f", "6"), model="gpt"),
        usual("g", "7", soul="You are someone else."),
    ]
    found = fleet(records, known)
    assert [(g.model, g.sessions, g.split.section if g.split else "") for g in found] == [
        ("claude", ("a", "b", "c", "d", "e", "g"), "identity"),
        ("claude", ("a", "b", "c", "d", "e"), "project"),
        ("claude", ("a", "b", "e"), "session line"),
        ("claude", ("c", "d"), "session line"),
        ("gpt", ("f",), ""),
    ]
    assert found[1].cached < found[2].cached
    assert found[1].split is not None
    assert found[1].split.source == "/home/project.md:10"
    assert found[4].cached % 128 == 0 < found[4].cached


def test_other_tools_part_everything() -> None:
    tools = json.dumps([["look", "Look at it twice.", "{}"]])
    (group,) = fleet([usual("a", "1"), replace(usual("b", "1"), tools=tools)], known)
    assert (group.shared, group.cached) == (0, 0)
    assert group.split is not None
    assert (group.split.section, group.split.source) == ("look", "tool look")
    assert group.split.behind > 5_000


def test_real_prompts_of_two_worktrees_share_the_project(tmp_path: Path) -> None:
    """Two checkouts of one project differ after its instructions, not before."""
    home = make_home(tmp_path / "home")
    records = []
    for name in ("one", "two"):
        project = make_project(tmp_path / name)
        write(project / "AGENTS.md", AGENTS)
        prompt = build(home, facts(project))
        records.append(
            SessionRecord(name, "2026-03-01", model="gpt", prompt_json=prompt.to_json(), tools=TOOLS)
        )
    (group,) = fleet(records, known)
    assert group.shared > 0.5 * group.whole
    assert group.split is not None
    assert group.split.texts[0] != group.split.texts[1]


def test_no_sessions() -> None:
    assert fleet([], known) == ()
