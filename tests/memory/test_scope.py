"""Whose memory a prompt shows, and that it moves nothing that stands before it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.config.records import MemoryConfig
from hermes.memory.operations import Operation
from hermes.memory.scope import NOBODY, OWNER, MemoryFile, MemoryScope, folder_name, memory_files
from hermes.memory.store import MemoryStore
from hermes.paths import Home
from hermes.prompt import SystemPrompt
from hermes.security.policy import STRICT
from tests.world import facts, make_home, make_project, sources

A = MemoryScope("direct", "telegram", user="1")
B = MemoryScope("direct", "telegram", user="2")
GROUP = MemoryScope("group", "telegram", user="1", room="9")
CONFIG = MemoryConfig()


def prompt(home: Home, project: Path, scope: MemoryScope = OWNER) -> SystemPrompt:
    return build_system_prompt(default_slots(sources(home), scope=scope), facts(project))


def remember(home: Home, scope: MemoryScope, text: str, target: str = "memory", project: str = "") -> None:
    place = "project" if project else None
    files = memory_files(CONFIG, scope, project)
    file = next(f for f in files if f.target == target and place in (None, f.place))
    assert MemoryStore(home, file, STRICT).apply([Operation("add", text)]).outcomes[0].done


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def test_the_owner_has_the_two_files_that_always_were() -> None:
    assert memory_files(CONFIG) == (
        MemoryFile("MEMORY.md", "## Persistent Memory", 2200),
        MemoryFile("USER.md", "## User Profile", 1375, target="user"),
    )


def test_the_order_is_global_then_project(home: Home, project: Path) -> None:
    before = prompt(home, project)
    remember(home, OWNER, "Deploys on Friday", project=os.path.realpath(project))
    after = prompt(home, project)
    memory = next(s.text for s in after.sections if s.slot == "memory")
    was = next(s.text for s in before.sections if s.slot == "memory")
    assert memory == f"{was}\n\n## Persistent Memory of this project\n- Deploys on Friday"
    assert "Friday" not in prompt(home, project.parent).text


def test_a_changed_memory_moves_nothing_before_it(home: Home, project: Path) -> None:
    before = prompt(home, project).text
    remember(home, OWNER, "A new fact of some length")
    after = prompt(home, project).text
    common = next(i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    assert before[:common].endswith("Timezone: US/Pacific\n")
    assert common > before.index("## Persistent Memory")


def test_nobody_is_shown_what_another_was_told(home: Home, project: Path) -> None:
    remember(home, OWNER, "O-secret")
    remember(home, A, "A-secret")
    remember(home, A, "A-name", "user")
    remember(home, GROUP, "G-fact")
    remember(home, OWNER, "P-fact", project=os.path.realpath(project))
    seen = {
        name: "".join(c for c in "OAGP" if f"{c}-" in prompt(home, project, scope).text)
        for name, scope in {"owner": OWNER, "a": A, "b": B, "group": GROUP, "nobody": NOBODY}.items()
    }
    assert seen == {"owner": "OP", "a": "A", "b": "", "group": "G", "nobody": ""}
    assert "Alice" not in prompt(home, project, GROUP).text
    assert "## User Profile of this user\n- A-name" in prompt(home, project, A).text


def test_a_group_without_an_id_has_no_memory() -> None:
    assert memory_files(CONFIG, MemoryScope("group", "telegram", user="1")) == ()
    assert memory_files(CONFIG, MemoryScope("direct", "telegram", room="1")) == ()


@pytest.mark.parametrize("name", ["../../etc", "a/b", "C:\\x", "\ud83d", "x" * 500, "", "ÄÖ", "."])
def test_a_folder_name_is_safe_whatever_the_id(name: str) -> None:
    made = folder_name(name, "telegram")
    assert os.path.basename(made) == made
    assert made.isascii()
    assert len(made) <= 60
    assert made != folder_name(name + "x", "telegram") != folder_name(name + "x", "slack")
