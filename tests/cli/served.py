"""A home whose model is a provider on this machine, and a project to talk in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hermes.paths import Home
from tests.cli.runner import Done, hermes
from tests.providers.loopback import Loopback
from tests.world import known, make_home, make_project, write

PROGRAM = "import sys; from hermes.cli.entry import main; sys.exit(main())"


class Served:
    """A home whose model is the loopback provider, and a project to talk in."""

    def __init__(self, root: Path, provider: Loopback) -> None:
        self.provider = provider
        self.home = root / "home"
        make_home(self.home)
        self.project = make_project(root / "atlas")
        known(Home(str(self.home)), self.project)
        write(self.home / "config.yaml", f"model:\n  default: scripted-1\n  base_url: {provider.base_url}\n")

    def chat(self, *arguments: str, stdin: str = "", program: str = PROGRAM, **environ: str) -> Done:
        variables = {
            "PATH": os.environ["PATH"],
            "HERMES_HOME": str(self.home),
            "SHELL": "/bin/bash",
            **environ,
        }
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, "chat", *arguments],
            env=variables,
            cwd=self.project,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def hermes(self, *arguments: str) -> Done:
        return hermes(*arguments, home=self.home, cwd=self.project)
