"""`hermes skills remove`, `restore`, `enable` and `disable`."""

from __future__ import annotations

import os
from dataclasses import asdict

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.cli.skills import open_shelf
from hermes.errors import UsageError
from hermes.paths import get_hermes_home
from hermes.skills import folder
from hermes.skills.overview import find_skill, switch


@click.command("remove")
@click.argument("name")
@as_json_option
def remove(name: str, as_json: bool) -> None:
    """Move a skill of the home into the archive, from where it can be restored."""
    shelf = open_shelf()
    skill = find_skill(shelf.library, name)
    if skill.root == "bundled":
        raise UsageError(
            f"{skill.name} comes with Hermes; leave it out with: hermes skills disable {skill.name}"
        )
    if skill.root != "home":
        raise UsageError(f"{skill.name} lies in {os.path.dirname(skill.path)}; remove it there, by hand")
    kept = folder.remove(shelf.home, os.path.dirname(skill.path))
    if as_json:
        print_json(asdict(kept))
    else:
        click.echo(f"removed {plain(kept.name)}; it is kept at {plain(kept.path)}")
        click.echo(f"to bring it back: hermes skills restore {plain(kept.name)}")


@click.command("restore")
@click.argument("name", default="")
@as_json_option
def restore(name: str, as_json: bool) -> None:
    """Bring back what was removed last under NAME; without a name, list what could be."""
    home = get_hermes_home()
    found = (folder.restore(home, name),) if name else folder.removed(home)
    if as_json:
        print_json([asdict(r) for r in found])
        return
    for removed in found:
        click.echo(f"restored {plain(removed.name)}" if name else f"{removed.when}  {plain(removed.name)}")
    if not found:
        click.echo("nothing was removed")


def _switch(names: tuple[str, ...], on: bool, as_json: bool) -> None:
    shelf = open_shelf()
    for name in names if not on else ():  # all or none
        find_skill(shelf.library, name)
    disabled = shelf.config.skills.disabled
    for name in names:
        disabled = switch(shelf.home, shelf.config, shelf.library, name, on)
        shelf = open_shelf()
    if as_json:
        print_json({"disabled": list(disabled)})
        return
    click.echo(
        f"{'enabled' if on else 'disabled'} {plain(', '.join(names))}; it counts from the next session on"
    )


@click.command("enable")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@as_json_option
def enable(names: tuple[str, ...], as_json: bool) -> None:
    """Take disabled skills back in. Comments in config.yaml stay."""
    _switch(names, True, as_json)


@click.command("disable")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@as_json_option
def disable(names: tuple[str, ...], as_json: bool) -> None:
    """Leave skills out: neither in the index nor to be loaded. Comments in config.yaml stay."""
    _switch(names, False, as_json)
