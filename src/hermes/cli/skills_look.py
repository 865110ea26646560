"""`hermes skills list`, `show` and `check`."""

from __future__ import annotations

import os
import sys
from collections import Counter

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain, wants_colour
from hermes.cli.skills import open_shelf
from hermes.files import read_file
from hermes.skills.folder import files_in
from hermes.skills.install import Installed, installed
from hermes.skills.offer import why_off
from hermes.skills.overview import Row, find_skill, overview, setting_of
from hermes.text import decode, many

_COLOURS = {"on": "green", "shadowed": "yellow", "broken": "red", "blocked": "red"}
_SHOWN = 72


@click.command("list")
@as_json_option
def listing(as_json: bool) -> None:
    """Every skill: on, disabled, off here, shadowed by another of its name, broken or blocked."""
    shelf = open_shelf()
    rows = overview(shelf.library, setting_of(shelf.config))
    if as_json:
        print_json([row._asdict() for row in rows])
        return
    colour = wants_colour(sys.stdout)
    width = max((len(plain(row.name)) for row in rows), default=0)
    for row in rows:
        state = click.style(f"{row.state:<9}", fg=_COLOURS.get(row.state))
        text = plain(row.detail or row.description)
        text = text if len(text) <= _SHOWN or row.detail else text[: _SHOWN - 1] + "…"
        click.echo(f"{state} {plain(row.name):<{width}}  {row.root or '-':<8}  {text}", color=colour)
    counted = Counter(row.state for row in rows)
    parts = ", ".join(f"{number} {state}" for state, number in sorted(counted.items()))
    click.echo(f"{many(len(rows), 'skill')}: {parts}" if rows else "there are no skills")


@click.command("show")
@click.argument("name")
@as_json_option
def show(name: str, as_json: bool) -> None:
    """One skill: where it lies, what it is for, its files, where it came from, and its text."""
    shelf = open_shelf()
    skill = find_skill(shelf.library, name)
    folder = os.path.dirname(skill.path)
    origin = installed(folder)
    facts: dict[str, object] = {
        "name": skill.name,
        "address": skill.address,
        "description": skill.description,
        "path": skill.path,
        "trust": skill.trust,
        "off": why_off(skill, setting_of(shelf.config)),
        "source": origin.source if origin else "",
        "state": origin.state if origin else "",
        "files": list(files_in(folder)),
        "license": skill.details.license,
        "compatibility": skill.details.compatibility,
        "allowed-tools": list(skill.details.allowed_tools),
        "metadata": dict(skill.details.metadata),
    }
    text = decode(read_file(skill.path).data).text
    if as_json:
        print_json({**facts, "text": text})
        return
    for key, value in facts.items():
        if value:
            told = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            click.echo(f"{key:<14} {plain(told)}")
    click.echo()
    for line in text.rstrip("\n").split("\n"):
        click.echo(plain(line))


@click.command("check")
@as_json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Say which skills do not load and why, and which installed ones were changed since.

    \b
    Exit codes: 0  every skill loads
                1  one is broken or blocked
    """
    shelf = open_shelf()
    rows = overview(shelf.library, setting_of(shelf.config))
    origins = [(row, installed(os.path.dirname(row.path))) for row in rows]
    bad = any(row.state in ("broken", "blocked") for row in rows)
    if as_json:
        skills = [{**row._asdict(), **_origin(origin)} for row, origin in origins]
        notices = [n.text for n in shelf.library.notices]
        body = {"ok": not bad, "skills": skills, "notices": notices}
        print_json(body)
        ctx.exit(1 if bad else 0)
    for row, origin in origins:
        if line := _line(row, origin):
            click.echo(line)
    for notice in shelf.library.notices:
        click.echo(f"{notice.level}: {plain(notice.text)}")
    loaded = sum(row.state not in ("broken", "blocked") for row in rows)
    click.echo(f"{loaded} of {many(len(rows), 'skill')} load")
    ctx.exit(1 if bad else 0)


def _origin(origin: Installed | None) -> dict[str, str]:
    if origin is None:
        return {"source": "", "installed": "", "files": ""}
    return {"source": origin.source, "installed": origin.installed, "files": origin.state}


def _line(row: Row, origin: Installed | None) -> str:
    if origin is None:
        return ""
    since = (
        f"installed {origin.installed[:10]} from {origin.source}"
        if origin.source
        else "its record is damaged"
    )
    return f"{origin.state:<10} {plain(row.name)}: {plain(since)}"
