"""Runs the command as a person does, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def hermes(*arguments: str, home: Path, cwd: Path, **environ: str) -> Done:
    """Run `hermes ARGUMENTS` in a directory with a home; a traceback anywhere fails the test."""
    program = "import sys; from hermes.cli.entry import main; sys.exit(main())"
    variables = {
        "PATH": os.environ["PATH"],
        "HERMES_HOME": str(home),
        "HOME": str(home.parent),
        "PYTHONWARNINGS": "error",
        "LC_ALL": "C.UTF-8",
        "SHELL": "/bin/bash",
        **environ,
    }
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(
        command,
        env=variables,
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)
