"""A home that can be read and not written: one can talk, all that reads works, and what is lost is told."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.runner import Done
from tests.cli.served import Served

_DROPPED = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_DROP_BOUNDING = 24  # PR_CAPBSET_DROP
KEPT_OUT = "home cannot be written, so nothing of this conversation will be kept"


COMMAND = "import sys; from hermes.cli.entry import main; sys.exit(main())"


def bound() -> None:
    """Have the rights of files count for root too."""
    if os.geteuid() == 0:
        for capability in _DROPPED:
            assert ctypes.CDLL(None).prctl(_DROP_BOUNDING, capability, 0, 0, 0) == 0


def run(served: Served, *arguments: str, program: str = COMMAND) -> Done:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        env={"PATH": os.environ["PATH"], "HERMES_HOME": str(served.home), "SHELL": "/bin/bash"},
        cwd=served.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        preexec_fn=bound,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def modes(home: Path, folder: int, file: int) -> None:
    for path in [home, *home.rglob("*")]:
        if not path.is_symlink():
            path.chmod(folder if path.is_dir() else file)


@pytest.fixture
def served(serve: Callable[..., Served]) -> Iterator[Served]:
    served = serve("one", "two", "three")
    assert served.chat("-q", "the first question").code == 0
    modes(served.home, 0o555, 0o444)
    yield served
    modes(served.home, 0o755, 0o644)


def state(home: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file()}


def test_one_can_talk_and_is_told_once_that_nothing_is_kept(served: Served) -> None:
    before = state(served.home)
    done = run(served, "chat", "-q", "a second question")
    assert (done.code, done.out) == (0, "two\n")
    assert done.err.count(KEPT_OUT) == 1
    went_on = run(served, "chat", "-q", "a third", "--continue")
    assert (went_on.code, went_on.out) == (0, "three\n")
    sent = json.loads(served.provider.calls[-1].body)["messages"]
    assert "the first question" in json.dumps(sent)
    assert "a second question" not in json.dumps(sent)
    assert state(served.home) == before


READING = (
    "cache cost", "cache pending", "cache report", "config check", "config show", "mcp list", "memory list",
    "memory log", "models list", "models show", "plugins list", "prompt explain", "prompt show",
    "sessions check", "sessions list", "sessions search question", "setup", "skills check", "skills list",
    "skills restore", "trust check", "trust list",
)  # fmt: skip


def test_all_that_reads_works(served: Served) -> None:
    before = state(served.home)
    program = "import sys; from hermes.cli.app import run; "
    program += "print([run([*c.split(), '--json']) for c in sys.argv[1:]])"
    done = run(served, *READING, program=program)
    assert "Error" not in done.err
    codes = dict(zip(READING, json.loads(done.out.splitlines()[-1]), strict=True))
    assert {name: code for name, code in codes.items() if code} == {}
    assert state(served.home) == before


def test_what_would_change_is_refused_and_says_so(served: Served) -> None:
    session = json.loads(run(served, "sessions", "list", "--json").out)[0]["id"]
    for command in (f"sessions rename {session} title", f"sessions delete {session} --yes"):
        done = run(served, *command.split())
        assert (done.code, done.err) == (1, f"Error: {served.home} cannot be written; nothing was changed\n")


def test_what_cannot_be_read_is_not_called_empty(served: Served) -> None:
    served.home.chmod(0o000)
    try:
        plugins = run(served, "plugins", "list")
        assert f"the plugins in {served.home}/plugins are not known: permission denied" in plugins.err
        assert plugins.out == ""
        restore = run(served, "skills", "restore")
        assert (restore.code, restore.out) == (1, "")
        assert "what was removed is not known" in restore.err
    finally:
        served.home.chmod(0o755)
