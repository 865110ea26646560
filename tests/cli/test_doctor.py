"""`hermes doctor` as a person runs it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.cli.app import run
from tests.world import make_home, make_project, write


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = make_home(tmp_path / "home")
    os.chmod(home.root, 0o700)
    monkeypatch.setenv("HERMES_HOME", home.root)
    return make_project(tmp_path / "atlas")


def test_the_report(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = project.parent / "home"
    write(home / "config.yaml", "memory:\n  memory_char_limit: many\n")
    tmp = write(home / ".hermes-abc.tmp", "half")
    os.utime(tmp, (0, 0))
    assert run(["doctor", "--cwd", str(project)]) == 1
    out = capsys.readouterr().out.replace(str(project.parent), "/x")
    shown = re.sub(r"^(?:versions|model|engine) .*\n(  .*\n)*", "", out, flags=re.M)
    assert (
        shown
        == """\
terminal         ok
home             ok  /x/home
configuration    error
  error: config.yaml line 2: memory.memory_char_limit is 'many'; expected a whole number of at least 1; \
the default, 2200, stands
    -> mend that line of /x/home/config.yaml; hermes config keys lists the keys
identity         ok
memory           ok
project context  ok  AGENTS.md loaded
skills           ok  10 skills can be loaded
accepted files   ok
sessions         ok
caches           ok
left-over files  warning
  warning: /x/home/.hermes-abc.tmp was left by a writer that was killed
    -> hermes doctor --fix deletes it
old places       ok
other programs   ok

1 error and 1 warning.
"""
    )
    assert run(["doctor", "--cwd", str(project), "--fix"]) == 1
    assert f"deleted: {tmp}\n" in capsys.readouterr().out
    assert not tmp.exists()


def test_for_machines(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--cwd", str(project), "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert [c["check"] for c in body["checks"]][:3] == ["versions", "terminal", "home"]
    assert body["removed"] == []


def test_in_the_c_locale(project: Path) -> None:
    write(project / "AGENTS.md", "Café — 缓存\n")
    code = "import sys; sys.argv[0] = 'hermes'; from hermes.cli.entry import main; sys.exit(main())"
    environ = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", code, "doctor", "--cwd", str(project)],
        env=environ,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"output is encoded as ascii" in done.stdout.lower() or b"ansi_x3.4-1968" in done.stdout.lower()
