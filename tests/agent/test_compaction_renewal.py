"""The prompt at a boundary: the same object, or the sections that changed and no others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from hermes.agent.compaction.renewal import renewed
from hermes.paths import Home
from hermes.prompt import Section, SystemPrompt, Tier
from hermes.provenance import Notice
from hermes.providers.profiles import profile_for
from tests.world import build, facts, make_home, make_project, write


def prompts(tmp_path: Path, change: dict[str, str], **later: object) -> tuple[SystemPrompt, SystemPrompt]:
    """The prompt of a home, and the one an hour later with some files changed."""
    home, project = make_home(tmp_path / "home"), make_project(tmp_path / "project")
    given = facts(project)
    frozen = build(home, given)
    for path, text in change.items():
        write(tmp_path / path, text)
    return frozen, build(home, replace(given, now=given.now + timedelta(hours=1), **later))  # type: ignore[arg-type]


def test_an_hour_alone_changes_nothing(tmp_path: Path) -> None:
    frozen, current = prompts(tmp_path, {})
    assert frozen != current
    assert renewed(frozen, current) is frozen


def test_a_prompt_from_the_store_is_kept_too(tmp_path: Path) -> None:
    frozen, current = prompts(tmp_path, {})
    stored = SystemPrompt.from_json(frozen.to_json())
    assert renewed(stored, current) is stored


def test_it_is_what_a_build_at_the_beginning_would_have_made(tmp_path: Path) -> None:
    change = {"home/memories/MEMORY.md": "New.\n", "project/AGENTS.md": "Use nox.\n"}
    frozen, current = prompts(tmp_path, change)
    after = renewed(frozen, current)
    assert after == build(Home(str(tmp_path / "home")), facts(tmp_path / "project"))
    differ = [b.slot for a, b in zip(frozen.sections, after.sections, strict=True) if a != b]
    assert differ == ["project context", "memory"]
    assert SystemPrompt.from_json(after.to_json()) == after


def test_what_is_gone_goes(tmp_path: Path) -> None:
    frozen, current = prompts(tmp_path, {"home/memories/MEMORY.md": ""})
    after = renewed(frozen, current)
    assert "nvim" in frozen.text
    assert "nvim" not in after.text


def test_another_model_is_named_at_the_boundary(tmp_path: Path) -> None:
    frozen, current = prompts(tmp_path, {}, model=profile_for("gpt-5-mini"))
    assert "Model: gpt-5-mini" in renewed(frozen, current).text


def test_a_section_that_fails_now_stays_as_it_was(tmp_path: Path) -> None:
    frozen, current = prompts(tmp_path, {"home/memories/USER.md": "Name: Bob\n"})
    layers = tuple(replace(layer, sections=tuple(map(_failing, layer.sections))) for layer in current.layers)
    after = renewed(frozen, replace(current, layers=layers))
    assert "Working on project" in after.text
    assert "Name: Bob" in after.text


def _failing(section: Section) -> Section:
    if section.slot != "memory":
        return section
    return Section("memory", Tier.VOLATILE, "", notices=(Notice("error", "memory failed"),))
