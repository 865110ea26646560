"""One rule for every command: 0 done, 1 no or failed, 2 wrong use or an unknown name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hermes.cli.app import hermes as app
from hermes.cli.app import run
from tests.world import write

UNKNOWN: dict[str, str] = {
    "cache cost": "nosuch",
    "cache fleet": "--since nosuch",
    "cache import": "nosuch.jsonl",
    "cache pending": "nosuch",
    "cache prune": "--calls 2 --session nosuch",
    "cache report": "nosuch",
    "cache simulate": "nosuch",
    "cache why": "nosuch",
    "chat": "-q hi --model nosuch",
    "completion": "nosuch",
    "config set": "no.such 1",
    "config show": "no.such",
    "config unset": "no.such",
    "doctor": "--cwd nosuch",
    "local status": "nosuch",
    "local stop": "nosuch",
    "mcp test": "nosuch",
    "memory edit": "nosuch text",
    "memory list": "--of nosuch",
    "memory remove": "nosuch",
    "memory restore": "nosuch",
    "models add": "mine --gguf nosuch.gguf",
    "models list": "nosuch",
    "models show": "nosuch",
    "models test": "nosuch:x",
    "models use": "nosuch",
    "prompt as": "nosuch",
    "prompt cost": "--cwd nosuch",
    "prompt diff": "nosuch",
    "prompt explain": "--cwd nosuch",
    "prompt lint": "--select nosuch",
    "prompt lock approve": "nosuch",
    "prompt lock check": "--file nosuch",
    "prompt refresh": "nosuch",
    "prompt save": "a --cwd nosuch",
    "prompt show": "--cwd nosuch",
    "prompt where": "AGENTS.md --cwd nosuch",
    "scan": "nosuch",
    "sessions delete": "nosuch --yes",
    "sessions export": "nosuch",
    "sessions import": "nosuch.jsonl",
    "sessions list": "--before nosuch",
    "sessions prune": "--older-than 1d --yes --keep nosuch",
    "sessions rename": "nosuch title",
    "sessions replay": "nosuch 1",
    "sessions search": "word --session nosuch",
    "sessions show": "nosuch",
    "skills disable": "nosuch",
    "skills enable": "nosuch",
    "skills install": "nosuch",
    "skills remove": "nosuch",
    "skills restore": "nosuch",
    "skills show": "nosuch",
    "trust add": "nosuch",
    "trust remove": "nosuch",
}
"""For each command that takes a name of something: arguments in which it is of nothing."""

MORE = (
    "cache cost --plot nosuch/x.svg",
    "cache prune --older-than nosuch",
    "chat -q hi --continue",
    "chat -q hi --cwd nosuch",
    "chat -q hi --model nosuch:x",
    "chat -q hi --personality nosuch",
    "chat -q hi --resume nosuch",
    "chat -q hi --tools nosuch",
    "config set cache.marks maybe",
    "config set model.nosuch x",
    "config set 'a..b' x",
    "local status nosuch:x",
    "models add mine --url nonsense",
    "models add bad/name --url http://localhost:1",
    "models show nosuch:x",
    "prompt explain --offset 99999999",
    "prompt lint --baseline nosuch",
    "prompt lock check",
    "prompt save bad/name",
    "sessions prune --older-than nosuch",
    "skills install . --only nosuch",
)
NAMELESS = {
    "config check", "config keys", "config path", "local log", "mcp list", "memory add", "memory log",
    "memory undo", "models fetch", "plugins list", "sessions check", "setup", "skills check", "skills list",
    "trust check", "trust list",
}  # fmt: skip
NOES = ("prompt where nosuch", "memory undo", "prompt diff platform:telegram")
"""Asked well, and answered no."""


def tree(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    yield context.command_path.removeprefix("hermes").strip(), command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from tree(below, click.Context(below, context, name))


COMMANDS = dict(tree(app, click.Context(app, info_name="hermes", **app.context_settings)))
LEAVES = {path for path, command in COMMANDS.items() if not isinstance(command, click.Group)}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A project with a skill, a home of its own, and nobody at the keyboard."""
    write(tmp_path / "project" / "mine" / "SKILL.md", "---\nname: mine\ndescription: Mine.\n---\nText.\n")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield


def said(arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code, and the last line of what was said of it."""
    code = run(arguments.replace("'", "").split())
    lines = capsys.readouterr().err.splitlines()
    return code, lines[-1] if lines else ""


def test_the_table_holds_every_command() -> None:
    assert set(UNKNOWN) | NAMELESS == LEAVES
    assert not set(UNKNOWN) & NAMELESS


@pytest.mark.parametrize("call", [*(f"{path} {rest}" for path, rest in UNKNOWN.items()), *MORE])
def test_an_unknown_name_is_2(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, line = said(call, capsys)
    assert (code, line[:7]) == (2, "Error: "), line


@pytest.mark.parametrize("path", sorted(set(COMMANDS) - {"trust"}))  # whose first word may be a file
def test_an_unknown_option_is_2(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, line = said(f"{path} --zzqqzz", capsys)
    assert (code, line) == (
        2,
        f"Error: hermes{f' {path}' if path else ''} has no option '--zzqqzz'. "
        f"hermes{f' {path}' if path else ''} --help lists them.",
    )


@pytest.mark.parametrize("call", NOES)
def test_a_no_is_1(call: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(call, capsys)[0] == 1


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("--continue", "hermes has no option '--continue'. Did you mean hermes chat --continue?"),
        ("-c", "hermes has no option '-c'. Did you mean hermes chat -c?"),
        ("--contineu", "hermes has no option '--contineu'. Did you mean hermes chat --continue?"),
        ("chat --contineu", "hermes chat has no option '--contineu'. Did you mean --continue?"),
        ("promt", "there is no command 'promt'. Did you mean prompt?"),
        ("skills lst", "there is no command 'lst'. Did you mean list?"),
        ("memory lst", "there is no command 'lst'. Did you mean list?"),
        ("explain", "there is no command 'explain'. Did you mean hermes prompt explain?"),
        ("show", "there is no command 'show'. Did you mean hermes config show, hermes models show, hermes "
                 "prompt show or 2 more?"),
        ("zzqqzz", "there is no command 'zzqqzz'. hermes --help lists them."),
        ("cache lint", "there is no command 'lint'. Did you mean hermes prompt lint?"),
        ("cache --max-level", "hermes cache has no option '--max-level'. "
                              "Did you mean hermes prompt lint --max-level?"),
    ],
)  # fmt: skip
def test_what_was_probably_meant_is_said(call: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(call, capsys) == (2, f"Error: {hint}")


def test_a_question_without_the_command_is_told_how_to_ask(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["what is this?"]) == 2
    assert capsys.readouterr().err.endswith("To ask something: hermes chat -q 'what is this?'\n")
