"""`hermes skills install`: fetched, looked through, told, and only then written."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.cli.skills import open_shelf
from hermes.errors import SkillError, UnknownSkill
from hermes.skills.fetch import fetch
from hermes.skills.install import Offer, offers
from hermes.skills.install import install as write
from hermes.text import many

_NAMED = 12


@click.command("install")
@click.argument("source", metavar="FOLDER|ARCHIVE|URL")
@click.option("--category", default="", help="The folder to put it in, below the skills folder.")
@click.option("--only", multiple=True, metavar="NAME", help="Only this one of several; may be repeated.")
@click.option("--replace", is_flag=True, help="Replace a skill of that name; the old one is archived.")
@click.option("-y", "--yes", is_flag=True, help="Go on in spite of findings of medium weight.")
@click.option(
    "--accept", is_flag=True, help="Go on in spite of any finding, and trust the files as they are."
)
@click.option("--dry-run", is_flag=True, help="Only the report.")
@as_json_option
def install(
    source: str,
    category: str,
    only: tuple[str, ...],
    replace: bool,
    yes: bool,
    accept: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Install skills from a folder, a .zip or .tar.* archive, or the URL of a git repository.

    What was found in them is told first: findings of the gate, problems, programs, names that are taken.
    Nothing is written when a finding is of high weight (--accept), of medium weight (--yes), or when
    a skill would take the place of another (--replace).
    """
    shelf = open_shelf()
    fetched = fetch(source)
    found, broken = offers(shelf.home, shelf.library, fetched, category.strip("/"))
    if missing := sorted(set(only) - {o.name for o in found}):
        names = ", ".join(o.name for o in found)
        raise UnknownSkill(f"there is no {', '.join(missing)} in {source}; it holds {names}")
    chosen = [o for o in found if not only or o.name in only]
    if not as_json:
        for line in _report(chosen, broken):
            click.echo(plain(line))
    why = _why_not(chosen, replace=replace, yes=yes or accept, accept=accept)
    if why and not dry_run and not as_json and why.startswith("medium") and sys.stdin.isatty():
        click.confirm("Install in spite of that?", abort=True)
        why = ""
    if dry_run or (why and as_json):
        written: list[str] = []
    elif why:
        raise SkillError(f"nothing was installed: {why}")
    else:
        written = [write(shelf.home, o, fetched.source, accepted=accept) for o in chosen]
    if as_json:
        body = {"source": fetched.source, "skills": [o.to_json() for o in chosen], "broken": broken}
        print_json({**body, "refused": why, "installed": written})
        if why and not dry_run:
            raise SkillError(f"nothing was installed: {why}")
        return
    for path in written:
        click.echo(f"installed {plain(path)}")
    if written:
        click.echo("The index names it from the next session, /refresh or compaction on.")


def _why_not(chosen: list[Offer], *, replace: bool, yes: bool, accept: bool) -> str:
    """Why nothing may be written; "" when it may."""
    high = [o.name for o in chosen if o.weight == "refused"]
    if high and not accept:
        return f"high findings in {', '.join(high)}. Read them, then go on with --accept"
    medium = [o.name for o in chosen if o.weight == "ask"]
    if medium and not yes:
        return f"medium findings in {', '.join(medium)}. Read them, then go on with --yes"
    taken = [o.name for o in chosen if o.replaces]
    if taken and not replace:
        return (
            f"there is a skill {', '.join(taken)} already. To take its place, keeping the old one: --replace"
        )
    return ""


def _report(chosen: list[Offer], broken: tuple[str, ...]) -> Iterator[str]:
    for offer in chosen:
        files = many(len(offer.files), "file")
        yield f"{offer.name}: {offer.description}"
        yield f"  to        {offer.target}"
        yield f"  size      {files}, {many(offer.size, 'byte')}"
        if offer.programs:
            yield f"  programs  {_some(offer.programs)}"
        if offer.replaces:
            yield f"  replaces  {offer.replaces}"
        if offer.shadows:
            yield f"  shadows   {_some(offer.shadows)}"
        yield from (f"  problem   {text}" for text in offer.problems)
        yield from (f"  {f.severity:<9} {f.path}: {f.text}" for f in offer.findings[:_NAMED])
        if len(offer.findings) > _NAMED:
            yield f"  … and {many(len(offer.findings) - _NAMED, 'more finding')}"
    yield from (f"left out: {text}" for text in broken[:_NAMED])


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
