"""`hermes config`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from hermes.cli.app import run
from hermes.cli.config import group
from hermes.config import DEFAULTS
from hermes.config.reference import reference_table
from hermes.config.schema import KEYS

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"


class Result(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


class Terminal:
    """Runs the command on a home of its own."""

    def __init__(self, root: Path) -> None:
        self.path = root / "config.yaml"

    def run(self, *arguments: str) -> Result:
        with CliRunner(env={"HERMES_HOME": str(self.path.parent)}).isolation() as (out, err, _):
            code = run(["config", *arguments])
            return Result(code, out.getvalue().decode(), err.getvalue().decode())

    def json(self, *arguments: str) -> object:
        result = self.run(*arguments, "--json")
        assert result.exit_code in (0, 1), result.stderr
        return json.loads(result.stdout)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


class TestShow:
    def test_values_and_where_they_come_from(self, terminal: Terminal) -> None:
        terminal.path.write_text("# mine\nmemory:\n  user_char_limit: 9\n  memory_char_limit: x\n")
        result = terminal.run("show", "memory")
        assert result.stdout.splitlines() == [
            "memory.memory_enabled        true  (default)",
            "memory.user_profile_enabled  true  (default)",
            "memory.memory_char_limit     2200  (default)",
            "memory.user_char_limit       9  (config.yaml line 3)",
            'memory.provider              ""  (default)',
            "memory.recall                true  (default)",
            "memory.recall_chars          1200  (default)",
            "memory.recall_threshold      0.5  (default)",
            "memory.recall_timeout        2.0  (default)",
            "memory.honcho                {}  (default)",
        ]
        assert result.stderr == (
            "error: config.yaml line 4: memory.memory_char_limit is 'x'; expected a whole number of "
            "at least 1; the default, 2200, stands\n"
        )
        assert result.exit_code == 0

    def test_every_key(self, terminal: Terminal) -> None:
        shown = terminal.run("show").stdout.splitlines()
        assert [line.split()[0] for line in shown] == [key.name for key in KEYS]

    def test_json(self, terminal: Terminal) -> None:
        terminal.path.write_text("gateway: {a: {token: hunter2}}\nmodel: {context_length: 5}\n")
        shown = terminal.json("show")
        assert isinstance(shown, dict)
        assert shown["path"] == str(terminal.path)
        assert shown["notices"] == []
        assert shown["values"]["gateway"] == {
            "value": {"a": {"token": "***"}},
            "source": "config.yaml",
            "line": 1,
        }
        assert shown["values"]["model.context_window"] == {"value": 5, "source": "config.yaml", "line": 2}
        assert shown["values"]["agent.max_turns"] == {"value": 90, "source": "default", "line": None}

    def test_an_alias_is_understood(self, terminal: Terminal) -> None:
        assert (
            terminal.run("show", "model.context_length").stdout == "model.context_window  null  (default)\n"
        )

    def test_an_unknown_key(self, terminal: Terminal) -> None:
        result = terminal.run("show", "memroy")
        assert (result.exit_code, result.stderr) == (
            2,
            "Error: memroy is not a key of Hermes; did you mean memory?\n",
        )

    @pytest.mark.parametrize(
        "text",
        [
            "providers:\n  - {name: a, api_key: hunter2}\n",
            "providers: {a: {headers: {Authorization: Bearer hunter2}}}\n",
            "mcp: {url: 'https://joe:hunter2@host/'}\n",
            "mcp: {url: 'https://host/?token=hunter2&a=b'}\n",
            "gateway: {a: {password: hunter2, apiKeys: [hunter2]}}\n",
            "model: {base_url: 'ftp://joe:hunter2@host'}\n",
            "models: {api_key: hunter2}\n",
            "memory: {access_token: hunter2}\n",
        ],
    )
    def test_secrets_are_masked_everywhere(self, terminal: Terminal, text: str) -> None:
        terminal.path.write_text(text)
        for arguments in (["show"], ["show", "--json"], ["check"], ["check", "--json"]):
            assert "hunter2" not in terminal.run(*arguments).output


class TestSetAndUnset:
    def test_set(self, terminal: Terminal) -> None:
        result = terminal.run("set", "agent.max_turns", "40")
        assert (result.exit_code, result.output) == (0, f"agent.max_turns is 40 in {terminal.path}\n")
        assert terminal.path.read_text() == "agent:\n  max_turns: 40\n"
        assert terminal.json("set", "model.default", "a") == {
            "path": str(terminal.path),
            "key": "model.default",
            "value": "a",
            "created": False,
        }

    def test_a_value_that_begins_with_a_dash(self, terminal: Terminal) -> None:
        assert terminal.run("set", "agent.system_prompt", "--", "- be brief").exit_code == 0
        assert terminal.path.read_text() == 'agent:\n  system_prompt: "- be brief"\n'

    def test_a_wrong_value(self, terminal: Terminal) -> None:
        result = terminal.run("set", "agent.max_turns", "lots")
        message = "agent.max_turns was not set: 'lots' given; expected a whole number of at least 1"
        assert (result.exit_code, result.stderr) == (2, f"Error: {message}\n")
        assert not terminal.path.exists()

    def test_unset(self, terminal: Terminal) -> None:
        terminal.path.write_text("# mine\nagent: {max_turns: 3}\n")
        assert terminal.run("unset", "agent.max_turns").output == (
            f"agent.max_turns was removed from {terminal.path}\n"
        )
        assert terminal.path.read_text() == "# mine\n"
        assert terminal.json("unset", "agent.max_turns") == {
            "path": str(terminal.path),
            "key": "agent.max_turns",
            "removed": False,
        }

    def test_a_broken_file_is_left_alone(self, terminal: Terminal) -> None:
        terminal.path.write_text("a: [\n")
        for arguments in (("set", "agent.max_turns", "3"), ("unset", "agent.max_turns")):
            result = terminal.run(*arguments)
            assert result.exit_code == 1
            assert "config.yaml was not changed: line" in result.stderr
        assert terminal.path.read_text() == "a: [\n"


class TestCheck:
    def test_nothing_wrong(self, terminal: Terminal) -> None:
        result = terminal.run("check")
        assert (result.exit_code, result.output) == (0, f"{terminal.path}: nothing is wrong\n")
        assert terminal.json("check") == {"path": str(terminal.path), "ok": True, "problems": []}

    def test_a_warning_is_no_error(self, terminal: Terminal) -> None:
        terminal.path.write_text("memroy: 1\n")
        result = terminal.run("check")
        assert result.exit_code == 0
        assert result.output.endswith(f"{terminal.path}: 1 other notice\n")

    def test_all_problems_are_listed(self, terminal: Terminal) -> None:
        terminal.path.write_text("memroy: 1\nagent:\n  max_turns: x\n  turn_clock: 7\n")
        result = terminal.run("check")
        assert result.exit_code == 1
        assert result.output.endswith(f"{terminal.path}: 2 errors, 1 other notice\n")
        told = terminal.json("check")
        assert isinstance(told, dict)
        assert [(p["level"], p["line"]) for p in told["problems"]] == [
            ("warning", 1),
            ("error", 3),
            ("error", 4),
        ]
        assert told["ok"] is False


class TestPathAndKeys:
    def test_path(self, terminal: Terminal) -> None:
        assert terminal.run("path").output == f"{terminal.path}\n"
        assert terminal.json("path") == {"path": str(terminal.path), "exists": False}

    def test_keys(self, terminal: Terminal) -> None:
        told = terminal.json("keys")
        assert isinstance(told, list)
        assert told[4] == {
            "key": "agent.system_prompt",
            "alias": None,
            "expected": "a text",
            "default": DEFAULTS.agent.system_prompt,
            "meaning": "A text of yours for every prompt, before the project's context.",
        }
        assert terminal.run("keys").output.count("Expected: ") == len(KEYS)

    def test_the_documentation_has_the_table_of_the_schema(self, terminal: Terminal) -> None:
        before, _, rest = DOCS.read_text(encoding="utf-8").partition("<!-- keys")
        table = rest.partition("-->\n")[2].partition("<!-- /keys -->")[0]
        assert before
        assert table.strip() == reference_table().strip()
        assert terminal.run("keys", "--markdown").output == reference_table()

    def test_completion(self) -> None:
        command = group.get_command(None, "set")  # type: ignore[arg-type]
        assert command is not None
        context = command.make_context("set", ["x", "y"])
        found = command.params[0].shell_complete(context, "memory.m")
        assert [item.value for item in found] == ["memory.memory_enabled", "memory.memory_char_limit"]
