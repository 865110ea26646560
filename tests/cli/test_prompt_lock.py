"""`hermes prompt lock` as it is used: write, check in CI, approve."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.cli.app import run
from tests.world import make_project, write

RULES = "# Rules\n\nAlways run the tests.\nNever push to main.\n\nShort functions.\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    root = make_project(tmp_path / "atlas")
    write(root / "AGENTS.md", RULES)
    return root


def hermes(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    capsys.readouterr()
    code = run([str(a) for a in arguments])
    return code, capsys.readouterr().out


def test_write_check_drift_approve(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cwd = ("--cwd", project)
    code, out = hermes(capsys, "prompt", "lock", *cwd, "--model", "gpt-5", "--tools", "")
    assert code == 0
    assert out.startswith(f"{project}/hermes.lock: 2 sections, 1 file, 0 files kept out, ")
    code, out = hermes(capsys, "prompt", "lock", "check", *cwd)
    assert (code, out.split(":")[0]) == (0, "hermes.lock fits")
    write(project / "AGENTS.md", RULES.replace("Never push to main.", "Never \x1b[31mpush."))
    write(project / "CLAUDE.md", "C\n")
    code, out = hermes(capsys, "prompt", "lock", "check", *cwd)
    first, _, rest = out.partition("\n")
    assert (code, first.split(":")[0]) == (1, "The prompt is not what hermes.lock says")
    assert (
        rest
        == """
project context (changed): 38 -> 41 tokens (+3)
  AGENTS.md (changed): 16 -> 19 tokens (+3)
    @@ -4 +4 @@
         2
         3 Always run the tests.
    -    4 (the lock keeps no text; git does)
    +    4 Never \ufffd[31mpush.
         5
         6 Short functions.
  CLAUDE.md: not kept out -> shadowed by AGENTS.md

Accept it with: hermes prompt lock approve [SECTION|FILE]...
"""
    )
    code, out = hermes(capsys, "prompt", "lock", "check", *cwd, "--json")
    assert (code, json.loads(out)["drift"]) == (1, True)
    assert hermes(capsys, "prompt", "lock", "approve", "CLAUDE.md", *cwd) == (
        0,
        "approved: CLAUDE.md\nleft: AGENTS.md, project context\n",
    )
    assert hermes(capsys, "prompt", "lock", "approve", *cwd) == (
        0,
        "approved: AGENTS.md, project context\n",
    )
    assert hermes(capsys, "prompt", "lock", "check", *cwd)[0] == 0
    assert not os.path.exists(project.parent / "home")  # a check in CI makes no home


def test_a_missing_lock_is_told_of(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prompt", "lock", "check", "--cwd", str(project)]) == 2
    assert "write it with: hermes prompt lock" in capsys.readouterr().err


def test_in_the_c_locale(project: Path) -> None:
    write(project / "AGENTS.md", "Caf\u00e9 \u2014 \u7f13\u5b58\n")
    code = "import sys; sys.argv[0] = 'hermes'; from hermes.cli.entry import main; sys.exit(main())"
    command = [sys.executable, "-X", "utf8=0", "-c", code, "prompt", "lock"]
    environ = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    for arguments, expected in ((["--cwd", str(project)], 0), (["check", "--cwd", str(project)], 0)):
        done = subprocess.run([*command, *arguments], env=environ, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (expected, b"")
    write(project / "AGENTS.md", "Caf\u00e9 \u2014 \u7f13\u5b58!\n")
    done = subprocess.run(
        [*command, "check", "--cwd", str(project)], env=environ, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"project context (changed)" in done.stdout


def test_a_lock_that_is_a_link_out_of_the_project_is_not_followed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A repository must not make the owner write over a file of the owner's own."""
    precious = write(project.parent / "precious", "mine\n")
    os.symlink(precious, project / "hermes.lock")
    assert run(["prompt", "lock", "--cwd", str(project)]) == 2
    assert "is a link to" in capsys.readouterr().err
    assert precious.read_text() == "mine\n"


def test_writing_anew_says_when_the_facts_are_others(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["prompt", "lock", "--cwd", str(project), "--model", "gpt-5"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["prompt", "lock", "--cwd", str(project)]) == 0
    assert "the lock is of another prompt now: model was 'gpt-5', is ''" in capsys.readouterr().err
