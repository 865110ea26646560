"""`hermes memory`, as a person uses it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hermes.cli.memory import group
from hermes.errors import HermesError
from hermes.memory.entries import ids
from tests.world import write


class Terminal:
    def __init__(self, root: Path) -> None:
        self.home, self.cwd = root / "home", root / "atlas"
        write(self.cwd / ".git" / "HEAD", "ref: refs/heads/main\n")

    def run(self, *arguments: str, **more: str) -> Result:
        environment = {"HERMES_HOME": str(self.home), "NO_COLOR": "1", "TERMINAL_CWD": str(self.cwd), **more}
        return CliRunner().invoke(group, arguments, env=environment)

    def ok(self, *arguments: str, **more: str) -> str:
        done = self.run(*arguments, **more)
        assert (done.exit_code, done.exception) == (0, None), done.output
        return done.stdout

    def fails(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert isinstance(done.exception, HermesError), done.output
        return str(done.exception)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def test_an_entry_comes_changes_goes_and_comes_back(terminal: Terminal) -> None:
    vim, nvim = ids(["editor is vim", "editor is nvim"])
    assert terminal.ok("add", "editor is vim") == (
        f"add [{vim}] editor is vim\n1 entry, 13 of 2,200 characters (0 %), 2,187 free\n"
    )
    terminal.ok("edit", "vim", "editor is nvim")
    terminal.ok("remove", nvim)
    assert terminal.ok("restore", nvim).startswith(f"add [{nvim}] editor is nvim")
    path = terminal.home / "memories" / "MEMORY.md"
    assert terminal.ok("list").startswith(
        f"{path}\n1 entry, 14 of 2,200 characters (0 %), 2,186 free\n[{nvim}] editor is nvim\n"
    )
    terminal.ok("undo")
    terminal.ok("undo")
    terminal.ok("undo")
    assert path.read_text() == "editor is vim\n"
    log = [line.split("  ", 1)[1].strip() for line in terminal.ok("log").splitlines()]
    assert log[:3] == [
        f"add     [{vim}] editor is vim  (person)",
        f"replace [{nvim}] editor is vim → editor is nvim  (person)",
        f"remove  [{nvim}] editor is nvim  (person)",
    ]
    assert [line.rpartition("(")[2] for line in log[4:]] == ["person, undo)"] * 3


def test_everything_is_told_to_machines_too(terminal: Terminal) -> None:
    name = ids(["Alice"])[0]
    done = json.loads(terminal.ok("add", "-u", "Alice", "--json"))
    assert done["done"] == [{"action": "add", "id": name, "old": "", "new": "Alice"}]
    (profile,) = json.loads(terminal.ok("list", "-u", "--json"))
    assert profile == {
        "target": "user",
        "place": "global",
        "path": str(terminal.home / "memories" / "USER.md"),
        "size": 5,
        "limit": 1375,
        "free": 1370,
        "entries": [{"id": name, "text": "Alice"}],
    }
    (record,) = json.loads(terminal.ok("log", "-u", "--json"))
    assert (record["action"], record["new"], record["by"]) == ("add", "Alice", "person")
    assert json.loads(terminal.ok("undo", "-u", "--json"))["done"][0]["action"] == "remove"


def test_the_editor_changes_one_entry(terminal: Terminal, tmp_path: Path) -> None:
    terminal.ok("add", "one old fact")
    editor = write(tmp_path / "editor", '#!/bin/sh\nprintf "one new fact\\n" > "$1"\n')
    os.chmod(editor, stat.S_IRWXU)
    assert "one new fact" in terminal.ok("edit", "old", VISUAL=str(editor), EDITOR=str(editor))
    assert (terminal.home / "memories" / "MEMORY.md").read_text() == "one new fact\n"


def test_project_users_and_groups_have_their_own(terminal: Terminal) -> None:
    terminal.ok("add", "global fact here")
    terminal.ok("add", "-p", "atlas fact here")
    terminal.ok("add", "--of", "telegram:42", "fact of a user")
    terminal.ok("add", "--group", "telegram:9", "fact of a group")
    texts = [
        [e["text"] for m in json.loads(terminal.ok("list", "--json", *where)) for e in m["entries"]]
        for where in ([], ["-p"], ["--of", "telegram:42"], ["--group", "telegram:9"], ["--of", "slack:42"])
    ]
    assert texts == [["global fact here"], ["atlas fact here"], ["fact of a user"], ["fact of a group"], []]


def test_an_edit_by_another_program_shows_in_the_log(terminal: Terminal) -> None:
    terminal.ok("add", "first fact")
    write(terminal.home / "memories" / "MEMORY.md", "by hand\n")
    terminal.ok("add", "second thing")
    lines = terminal.ok("log").splitlines()
    assert [("edited by another program" in line) for line in lines] == [False, True, False]


def test_what_cannot_be_done_says_what_to_do(terminal: Terminal) -> None:
    assert "no entry is or holds 'x'" in terminal.fails("remove", "x")
    assert "fits 0 entries" in terminal.fails("edit", "x")
    assert "no change of MEMORY.md" in terminal.fails("undo")
    assert "hermes memory log" in terminal.fails("restore", "abcdef")
    assert "no profile of a project" in terminal.fails("add", "-u", "-p", "x")
    assert "is no PLATFORM:ID" in terminal.fails("list", "--of", "42")
    assert terminal.ok("log") == "nothing was changed yet\n"
    write(terminal.home / "config.yaml", "memory:\n  memory_enabled: false\n")
    assert "switched off" in terminal.fails("add", "x")
