"""`hermes prompt as`: one agent as a list, several side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes.cli.app import run
from tests.world import write


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    write(tmp_path / "repo" / "AGENTS.md", "Run the tests.\n")
    write(tmp_path / "repo" / "CLAUDE.md", "For Claude.\n")
    return tmp_path / "repo"


def test_side_by_side(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prompt", "as", "hermes", "codex", "claude", "--cwd", str(root), "--model", "gpt-5"]) == 0
    assert (
        capsys.readouterr().out
        == """\
           hermes  codex  claude
AGENTS.md       +      +       -
CLAUDE.md       -      .       +
files           1      1       1
bytes          14     15      12
tokens          4      4       3

+ loaded at the start   o on demand   - passed over   . not one of its files
tokens: o200k_base, exact

AGENTS.md
  claude: ignored, CLAUDE.md stands before it

CLAUDE.md
  hermes: ignored, shadowed by AGENTS.md

Hermes: the prompt it builds here
Codex: our reading of 2026-11-29, not tried on it; see https://developers.openai.com/codex/guides/agents-md
Claude Code: our reading of 2026-11-29, not tried on it; see https://code.claude.com/docs/en/memory
"""
    )
    assert not (root.parent / "home").exists()


def test_one_agent(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prompt", "as", "claude", "--cwd", str(root), "--model", "gpt-5"]) == 0
    assert (
        capsys.readouterr().out
        == """\
ignored    AGENTS.md  (CLAUDE.md stands before it)
loaded     CLAUDE.md  (12 bytes, 3 tokens)

Claude Code: 1 file, 12 bytes, 3 tokens (o200k_base, exact)
Claude Code: our reading of 2026-11-29, not tried on it; see https://code.claude.com/docs/en/memory
"""
    )


def test_for_machines_and_unknown_agents(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prompt", "as", "all", "--cwd", str(root), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["path"] for row in found["rows"]] == ["AGENTS.md", "CLAUDE.md"]
    assert len(found["columns"]) == 8
    assert run(["prompt", "as", "nobody", "--cwd", str(root)]) == 2
    assert "'nobody' is not known; expected all or any of hermes, codex" in capsys.readouterr().err
