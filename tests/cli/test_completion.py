"""The shell completes commands, options and values, without importing what it names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hermes.cli.app import COMMANDS
from hermes.cli.app import hermes as root
from hermes.cli.completion import words
from hermes.cli.sessions import SUBCOMMANDS
from tests.cli.runner import hermes


def values(*given: str) -> list[str]:
    return [value for _, value, _ in words(root, list(given))]


def test_commands_and_their_commands() -> None:
    assert values("") == sorted(COMMANDS)
    assert values("sess") == ["sessions"]
    assert values("sessions", "") == sorted(SUBCOMMANDS)
    assert ("plain", "chat", COMMANDS["chat"][1]) in words(root, ["ch"])


def test_options_and_their_values() -> None:
    assert "--personality" in values("chat", "--p")
    assert values("chat", "--output-format", "") == ["text", "json", "stream-json"]


def test_nothing_that_is_named_is_imported() -> None:
    code = (
        "import sys; from hermes.cli.app import hermes; from hermes.cli.completion import words;"
        "words(hermes, ['']); print(sorted({'hermes.run_agent', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str, tmp_path: Path) -> None:
    done = hermes("completion", shell, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "hermes completion words --" in done.out
    assert hermes("completion", "tcsh", home=tmp_path / "home", cwd=tmp_path).code == 2


def test_bash_completes(tmp_path: Path) -> None:
    script = hermes("completion", "bash", home=tmp_path / "home", cwd=tmp_path).out
    program = f"{sys.executable} -c 'import sys; from hermes.cli.entry import main; sys.exit(main())'"
    asked = (
        f'{script}\nhermes() {{ {program} "$@"; }}\n'
        "COMP_WORDS=(hermes prompt s); COMP_CWORD=2; _hermes; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "save show\n"
