"""The command itself: version, help, mistakes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from hermes.cli.app import COMMANDS
from hermes.cli.app import hermes as app
from hermes.cli.prompt import SUBCOMMANDS, group
from hermes.version import __version__
from tests.cli.runner import Done, hermes
from tests.world import make_home


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_version(home: Path, tmp_path: Path) -> None:
    assert hermes("--version", home=home, cwd=tmp_path) == Done(0, f"hermes {__version__}\n", "")


def test_the_quick_help_is_the_real_one(home: Path, tmp_path: Path) -> None:
    context = click.Context(app, info_name="hermes", terminal_width=80, **app.context_settings)
    assert hermes("--help", home=home, cwd=tmp_path) == Done(0, app.get_help(context) + "\n", "")
    assert hermes(home=home, cwd=tmp_path) == hermes("-h", home=home, cwd=tmp_path)


def test_help_and_version_import_nothing_heavy(home: Path, tmp_path: Path) -> None:
    for argument in ("--help", "--version"):
        done = hermes(argument, home=home, cwd=tmp_path, PYTHONPROFILEIMPORTTIME="1")
        imported = {line.rpartition("|")[2].strip() for line in done.err.splitlines()}
        assert "hermes.cli.entry" in imported
        assert (
            imported & {"click", "rich", "ruamel.yaml", "dataclasses", "hermes.prompt", "json", "logging"}
            == set()
        )


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_in_the_table_exists(name: str) -> None:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert command.help


@pytest.mark.parametrize("name", sorted(SUBCOMMANDS))
def test_every_prompt_command_exists(name: str) -> None:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    assert command.help


def test_a_mistyped_command_is_answered_with_the_nearest(home: Path, tmp_path: Path) -> None:
    done = hermes("promt", home=home, cwd=tmp_path)
    assert done.code == 2
    assert done.err.endswith("Error: there is no command 'promt'. Did you mean prompt?\n")
    done = hermes("prompt", "shwo", home=home, cwd=tmp_path)
    assert done.err.endswith("Error: there is no command 'shwo'. Did you mean show?\n")


@pytest.mark.parametrize("arguments", ["--help", "--version", "config show", "prompt explain"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_output_that_cannot_be_written_is_told_in_a_line(tmp_path: Path, arguments: str) -> None:
    make_home(tmp_path / "home")
    program = f"{sys.executable} -c 'import sys; from hermes.cli.entry import main; sys.exit(main())'"

    def run(to: str) -> tuple[int, str]:
        done = subprocess.run(
            ["/bin/sh", "-c", f"{program} {arguments} {to}"],
            cwd=tmp_path,
            env={"HERMES_HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stderr

    code, told = run(">/dev/full")
    assert (code, told.count("\n"), told.startswith("Error: ")) == (1, 1, True)
    assert run(">&-") == (0, "")
