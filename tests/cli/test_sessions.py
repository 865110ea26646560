"""`hermes sessions`, as a person uses it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hermes.cli.sessions import group
from hermes.errors import HermesError, StoreError, UsageError
from hermes.sessions.sqlite import SqliteStore
from tests.sessions.said import HEAD, TAIL, a_session, a_turn, told


class Terminal:
    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *arguments: str, stdin: bytes = b"") -> Result:
        environment = {"HERMES_HOME": str(self.home), "NO_COLOR": "1"}
        return CliRunner().invoke(group, arguments, input=stdin, env=environment)

    def ok(self, *arguments: str, stdin: bytes = b"") -> str:
        done = self.run(*arguments, stdin=stdin)
        assert (done.exit_code, done.exception) == (0, None), done.output
        return done.stdout

    def fails(self, *arguments: str, stdin: bytes = b"") -> HermesError:
        done = self.run(*arguments, stdin=stdin)
        assert isinstance(done.exception, HermesError), done
        return done.exception


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    async def fill() -> None:
        store = SqliteStore(str(tmp_path / "home" / "sessions.db"))
        await store.create(a_session("s1", 1, title="Peru"), a_turn())
        await store.create(*told("one\ntwo \x1b[31mred", *(f"line {i}" for i in range(3)), name="s2", day=3))
        await store.close()

    asyncio.run(fill())
    return Terminal(tmp_path / "home")


def test_an_empty_home_has_no_sessions(tmp_path: Path) -> None:
    empty = Terminal(tmp_path / "none")
    assert empty.ok("list") == "no sessions\n"
    assert empty.ok("search", "x") == "nothing was found\n"
    assert json.loads(empty.ok("list", "--json")) == []


def test_list(terminal: Terminal) -> None:
    assert terminal.ok("list") == (
        "s2  2026-03-03 12:00      4 messages  large  Title of s2\n"
        "s1  2026-03-02 12:00      2 messages  large  Peru\n"
    )
    assert [s["id"] for s in json.loads(terminal.ok("list", "--json", "--title", "per"))] == ["s1"]


def test_list_goes_on_after_a_session_that_there_is(terminal: Terminal) -> None:
    assert terminal.ok("list", "--before", "s2").startswith("s1  ")
    assert "there is no session 'never'" in str(terminal.fails("list", "--before", "never"))


def test_show(terminal: Terminal) -> None:
    assert terminal.ok("show", "peru") == (
        "s1  Peru\nsomewhere:large on cli\n2 messages, 1 call, begun 2026-03-01T12:00:00Z\n"
        "\n0 user  2026-03-02T12:00:00Z\n  What is the capital of Peru?\n"
        "\n1 assistant  2026-03-02T12:00:00Z\n  It is Lima.\n"
    )
    assert "  two \ufffd[31mred\n" in terminal.ok("show", "s2")
    shown = json.loads(terminal.ok("show", "s1", "--json"))
    assert [m["text"] for m in shown["messages"]] == ["What is the capital of Peru?", "It is Lima."]
    assert isinstance(terminal.fails("show", "nothing"), UsageError)


def test_search(terminal: Terminal) -> None:
    assert terminal.ok("search", "capital", "peru") == (
        "s1 0 user  2026-03-02T12:00  Peru\n  What is the capital of Peru?\n"
    )
    assert [h["seq"] for h in json.loads(terminal.ok("search", "line*", "--newest", "--json"))] == [3, 2, 1]
    assert terminal.ok("search", "lima", "--session", "s2") == "nothing was found\n"
    assert json.loads(terminal.ok("search", "lima", "--role", "user", "--json")) == []


@pytest.mark.parametrize("asked", ["", "  ", '"', "🎉 !"])
def test_a_search_wants_a_word(terminal: Terminal, asked: str) -> None:
    error = terminal.fails("search", asked)
    assert isinstance(error, UsageError) and "no word to look for" in str(error)


def test_replay_prints_the_bytes_and_nothing_else(terminal: Terminal) -> None:
    sent = a_turn().fragments[0].body
    body = HEAD + sent + TAIL
    expected = body[:9] + b',"mark":1' + body[9:]
    assert terminal.run("replay", "s1", "1").stdout_bytes == expected
    assert json.loads(terminal.ok("replay", "s1", "1", "--json")) == {
        "body": expected.decode(),
        "bytes": len(expected),
    }
    assert isinstance(terminal.fails("replay", "s1", "2"), UsageError)


def test_export_import_rename_delete(terminal: Terminal, tmp_path: Path) -> None:
    lines = terminal.run("export", "s1").stdout_bytes
    assert terminal.ok("export", "s1", "-o", str(tmp_path / "s1.jsonl")) == f"{tmp_path / 's1.jsonl'}\n"
    assert (tmp_path / "s1.jsonl").read_bytes() == lines
    assert "already; take this one in under another id" in str(
        terminal.fails("import", str(tmp_path / "s1.jsonl"))
    )
    assert terminal.ok("import", "-", "--as", "s3", stdin=lines) == "s3\n"
    assert terminal.ok("rename", "s3", "Copy") == "s3  Copy\n"
    assert terminal.ok("show", "copy")[3:] == terminal.ok("show", "s1")[3:].replace("Peru\n", "Copy\n", 1)
    assert terminal.run("delete", "copy", stdin=b"n\n").exit_code == 1
    assert terminal.ok("delete", "copy", "--yes") == "s3 is gone\n"
    assert isinstance(terminal.fails("import", str(tmp_path / "missing")), UsageError)
    assert isinstance(terminal.fails("import", "-", stdin=b"\xff\n"), StoreError)


def test_prune(terminal: Terminal) -> None:
    assert terminal.run("prune", "--older-than", "2026-03-03", stdin=b"n\n").exit_code == 1
    assert (
        terminal.ok("prune", "--older-than", "2026-03-03", "--keep", "peru", "-y")
        == "0 sessions thrown away\n"
    )
    assert json.loads(terminal.ok("prune", "--older-than", "2026-03-03", "-y", "--json")) == {
        "deleted": ["s1"]
    }
    assert terminal.ok("prune", "--older-than", "1h", "-y", stdin=b"") == "1 session thrown away\n"
    assert isinstance(terminal.fails("prune", "--older-than", "soon", "-y"), UsageError)
    assert isinstance(terminal.fails("prune", "--older-than", "99999y", "-y"), UsageError)


def test_check(terminal: Terminal) -> None:
    assert terminal.ok("check") == "everything is as it was stored\n"
    path = terminal.home / "sessions.db"
    data = path.read_bytes()
    path.write_bytes(data[:8192] + b"\xff" * (len(data) - 8192))
    assert isinstance(terminal.fails("check"), StoreError)


def test_a_url_that_cannot_be_used_is_told(terminal: Terminal) -> None:
    (terminal.home / "config.yaml").write_text("sessions: {url: 'mysql://x'}\n")
    assert str(terminal.fails("list")).startswith("sessions.url must begin with postgresql://")
    (terminal.home / "config.yaml").write_text("sessions: {url: 'postgresql://u:hush@127.0.0.1:1/x'}\n")
    error = terminal.fails("list")
    assert str(error).startswith("PostgreSQL at sessions.url cannot be reached or gave up:")
    assert "hush" not in str(error)
