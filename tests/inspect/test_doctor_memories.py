"""What the doctor says of a memory that cannot be written well."""

from __future__ import annotations

from pathlib import Path

from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.agent.workdir import find_project
from hermes.inspect.doctor import Patient, Problem, Terminal
from hermes.inspect.doctor.memories import stores
from hermes.memory.entries import ids
from hermes.paths import Home
from tests.world import facts, make_home, make_project, sources, write


def found(home: Home, project: Path) -> list[Problem]:
    parts = sources(home)
    prompt = build_system_prompt(default_slots(parts), facts(project))
    return list(stores(Patient(parts, prompt, find_project(str(project)), Terminal(), 0.0)))


def test_a_good_memory_has_nothing_to_tell(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    assert found(home, make_project(tmp_path / "atlas")) == []
    assert found(Home(str(tmp_path / "none")), tmp_path / "atlas") == []


def test_what_is_wrong_is_told_with_its_remedy(tmp_path: Path) -> None:
    home, project = make_home(tmp_path / "home"), make_project(tmp_path / "atlas")
    secret = "The token is ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    write(tmp_path / "home" / "memories" / "MEMORY.md", secret)
    write(tmp_path / "home" / "memories" / "USER.md", "x" * 1200)
    left = write(tmp_path / "home" / "memories" / ".MEMORY.md.tmp", "")
    (tmp_path / "home" / "memories" / "log.jsonl").mkdir()
    name = ids([secret])[0]
    log = f"{home.memories}/log.jsonl"
    unread = Problem(
        "warning",
        f"the log in {home.memories} cannot be read: it is a directory, not a regular file",
        f"mend or move {log}; without it nothing is written",
    )
    usage = "1 entry, 1,200 of 1,375 characters (87 %), 175 free"
    assert found(home, project) == [
        Problem("info", f"{left} was left by a writer that was killed; the next start clears it away"),
        unread,
        Problem(
            "warning",
            f"entry {name} of memory holds what looks like a secret (GitHub token)",
            f"revoke it, then: hermes memory remove {name}",
        ),
        Problem("info", f"user is 87 % full: {usage}; hermes memory list shows what may go"),
    ]
