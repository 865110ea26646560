"""`hermes prompt where`."""

from __future__ import annotations

import os

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, build, prompt_options
from hermes.cli.screen import plain, plain_lines
from hermes.errors import UsageError
from hermes.inspect.where import Whereabouts, where
from hermes.provenance import as_data


@click.command("where")
@click.argument("file")
@prompt_options
@as_json_option
@click.pass_context
def command(ctx: click.Context, asked: Asked, file: str, as_json: bool) -> None:
    """Did FILE, or FILE:LINE, reach the model? Where does it stand, or what kept it out?

    Exit code 0 when it did, 1 when not.
    """
    if not file:
        raise UsageError("name a file, or a file and a line: hermes prompt where AGENTS.md:4")
    path, line = _target(file)
    built = build(asked)
    base = built.facts.cwd.path if asked.cwd else os.getcwd()
    found = where(built.prompt, os.path.normpath(os.path.join(base, os.path.expanduser(path))), line)
    if as_json:
        print_json(as_data(found))
    else:
        _show(found, file)
    ctx.exit(0 if found.reached else 1)


def _target(given: str) -> tuple[str, int]:
    path, colon, line = given.rpartition(":")
    if colon and line.isascii() and line.isdigit() and int(line) > 0 and not os.path.exists(given):
        return path, int(line)
    return given, 0


def _show(found: Whereabouts, name: str) -> None:
    if not found.reached:
        click.echo(plain(f"{name} did not reach the model: {found.reason}"))
        return
    click.echo(plain(f"{name} reached the model: {found.reason}"))
    for place in found.places:
        lines = f"lines {place.first_line}-{place.last_line}: "
        if place.first_line == place.last_line:
            lines = f"line {place.first_line}: " if place.first_line else ""
        at = f"{place.tier} / {place.section}, prompt line {place.prompt_line}, character {place.offset}"
        click.echo(f"  {lines}{at}")
        click.echo(f"    {plain_lines(place.text)}")
