"""Every command answers machines too, whatever bytes a name is made of."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hermes.cli.app import hermes as root
from hermes.cli.as_json import print_json, print_json_line
from tests.cli.runner import hermes


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for word in command.list_commands(context):
        found = command.get_command(context, word)
        assert found is not None
        yield from commands(found, f"{name} {word}")


def test_every_command_takes_json() -> None:
    without = [name for name, c in commands(root, "hermes") if not any("--json" in p.opts for p in c.params)]
    assert without == []


@pytest.mark.parametrize("show", [print_json, print_json_line])
@pytest.mark.parametrize(
    "text", ["plain", "ünï 漢字", "\udcff", "\x9b31m", "\u202egpj.exe", "a\tb\r\n\x1b[2J"]
)
def test_what_is_printed_reads_back_and_moves_no_terminal(
    show: object, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(show)
    show({"name": text})
    out = capsys.readouterr().out
    assert json.loads(out) == {"name": text}
    assert not {"\udcff", "\x9b", "\u202e", "\x1b", "\r"} & set(out)
    assert out.count("\n") == (1 if show is print_json_line else 3)


@pytest.mark.skipif(os.name == "nt", reason="file names are texts there")
def test_a_file_name_that_is_no_text_can_be_told(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.md", "w", encoding="utf-8") as file:
        file.write("Use pytest.\n")
    done = hermes("scan", ".", "--json", home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 0
    assert [f["path"] for f in json.loads(done.out)["files"]] == ["./\udcff.md"]


def test_the_readme_names_every_command() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    table = readme.partition("## What it can do")[2].partition("\n## ")[0]
    named = {name.split()[1] for name, _ in commands(root, "hermes") if f"`{name}" in table}
    named |= {name for name in root.list_commands(click.Context(root)) if f"`hermes {name}" in table}
    assert named == set(root.list_commands(click.Context(root)))
