"""The first time in a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.agent.first_use import FirstUse, first_use
from hermes.agent.prompt_builder import Sources
from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.config import load_config
from hermes.paths import Home
from hermes.prompt import SystemPrompt
from hermes.provenance import digest_of
from hermes.security.trust import KnownProject, know_project
from tests.world import HOST, facts, make_home, make_project, write


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "atlas")


def build(home: Home, project: Path) -> SystemPrompt:
    return build_system_prompt(default_slots(Sources(home, load_config(home), host=HOST)), facts(project))


def test_it_names_the_files_that_come_from_others(home: Home, project: Path) -> None:
    digest = digest_of((project / "AGENTS.md").read_bytes())
    seen = first_use(home, build(home, project), facts(project))
    assert seen == FirstUse(str(project), ((str(project / "AGENTS.md"), digest),))
    assert seen.notice.text == (
        "first time in this project: 1 context file by others is loaded; "
        "see hermes prompt explain --decisions"
    )
    assert seen.known("2026-03-30") == KnownProject(str(project), "2026-03-30", (digest,))


def test_a_known_project_is_not_new_whatever_its_files(home: Home, project: Path) -> None:
    know_project(home, KnownProject(str(project), "2026-03-30"))
    write(project / "AGENTS.md", "Changed.\n")
    assert first_use(home, build(home, project), facts(project)) is None


def test_a_worktree_of_a_known_project_is_known(home: Home, project: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    inner = project / ".git" / "worktrees" / "tree"
    write(tree / ".git", f"gitdir: {inner}\n")
    write(tree / "AGENTS.md", "A branch of atlas.\n")
    write(inner / "commondir", "../..\n")
    know_project(home, KnownProject(str(project), "2026-03-30"))
    assert first_use(home, build(home, tree), facts(tree)), "the repository does not know it yet"
    write(inner / "gitdir", f"{tree}/.git\n")
    assert first_use(home, build(home, tree), facts(tree)) is None


def test_a_project_without_files_has_nothing_to_tell(home: Home, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    assert first_use(home, build(home, tmp_path / "bare"), facts(tmp_path / "bare")) is None


def test_denied_until_it_is_known(home: Home, project: Path) -> None:
    write(Path(home.config), "security:\n  first_use: deny\n")
    write(Path(home.path("AGENTS.md")), "For all projects.\n")
    denied = build(home, project)
    assert "This is the atlas project" not in denied.text
    assert [d.verdict for d in denied.decisions if d.kind == "project"] == ["not trusted"]
    (notice,) = [n for n in denied.notices if "first use" in n.text]
    assert f"hermes trust {project}" in notice.text
    know_project(home, KnownProject(str(project), "2026-03-30"))
    assert "This is the atlas project" in build(home, project).text


def test_denied_with_nothing_to_deny_says_nothing(home: Home, tmp_path: Path) -> None:
    write(Path(home.config), "security:\n  first_use: deny\n")
    (tmp_path / "bare").mkdir()
    assert not [n for n in build(home, tmp_path / "bare").notices if "first use" in n.text]
