"""`hermes sessions export|import|rename|delete|prune`: moving sessions and throwing them away."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.cli.sessions import use_store
from hermes.errors import FileRefused, StoreError, UsageError
from hermes.files import read_file, replace_file
from hermes.sessions.base import ScriptStore
from hermes.sessions.contract import Store
from hermes.text import many

_MOST = 1 << 30
_AGE = re.compile(r"(\d{1,5})([hdwmy])")
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}


@click.command("export")
@click.argument("session")
@click.option("-o", "--output", default="", help="Write to this file.", metavar="FILE")
@click.option("--json", "_", is_flag=True, hidden=True, help="It is JSON anyway.")
def export(session: str, output: str, _: bool) -> None:
    """Write a session as JSON lines, with all that was sent; import takes it in again."""
    from hermes.sessions.transfer import export as lines_of

    async def lines(store: ScriptStore) -> list[str]:
        return [line async for line in lines_of(store, await store.resolve(session))]

    data = "".join(f"{line}\n" for line in use_store(lines)).encode()
    if not output:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        replace_file(output, data)
    except OSError as error:
        raise UsageError(f"{output} could not be written: {(error.strerror or str(error)).lower()}") from None
    click.echo(output)


@click.command("import")
@click.argument("file")
@click.option("--as", "session_id", default="", metavar="ID", help="Under another id.")
@as_json_option
def import_(file: str, session_id: str, as_json: bool) -> None:
    """Take in an exported session; - reads the standard input."""
    from hermes.sessions.transfer import import_ as take_in

    try:
        data = sys.stdin.buffer.read() if file == "-" else read_file(file, max_bytes=_MOST).data
    except FileRefused as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    try:
        lines = data.decode().split("\n")  # not splitlines: JSON may hold other line ends as they are
    except UnicodeDecodeError:
        raise StoreError(f"{file} is no exported session: it is not UTF-8") from None
    name = use_store(lambda store: take_in(store, lines, session_id), changes=True)
    print_json({"session": name}) if as_json else click.echo(plain(name))


@click.command("rename")
@click.argument("session")
@click.argument("title")
@as_json_option
def rename(session: str, title: str, as_json: bool) -> None:
    """Give a session another title."""

    async def change(store: Store) -> str:
        name = await store.resolve(session)
        await store.rename(name, title)
        return name

    name = use_store(change, changes=True)
    print_json({"session": name, "title": title}) if as_json else click.echo(f"{plain(name)}  {plain(title)}")


@click.command("delete")
@click.argument("session")
@click.option("-y", "--yes", is_flag=True, help="Without asking.")
@as_json_option
def delete(session: str, yes: bool, as_json: bool) -> None:
    """Throw a session away, with all that was said and sent."""
    name = use_store(lambda store: store.resolve(session))
    if not yes:
        click.confirm(f"Throw away session {plain(name)}?", abort=True, err=True)
    use_store(lambda store: store.delete(name), changes=True)
    print_json({"deleted": [name]}) if as_json else click.echo(f"{plain(name)} is gone")


@click.command("prune")
@click.option(
    "--older-than", required=True, metavar="AGE", help="Not used for: 12h, 90d, 8w, 6m, 1y, or since a day."
)
@click.option("--keep", multiple=True, metavar="SESSION", help="But not this one; may be given again.")
@click.option("-y", "--yes", is_flag=True, help="Without asking.")
@as_json_option
def prune(older_than: str, keep: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Throw away sessions that were not used for long."""
    until = moment_of_age(older_than)

    async def throw(store: ScriptStore) -> tuple[str, ...]:
        kept = [await store.resolve(name) for name in keep]
        return await store.prune(until, kept)

    if not yes:
        click.confirm(f"Throw away every session last used before {until[:16]} UTC?", abort=True, err=True)
    gone = use_store(throw, changes=True)
    if as_json:
        return print_json({"deleted": gone})
    click.echo(f"{many(len(gone), 'session')} thrown away")
    return None


def moment_of_age(age: str) -> str:
    """The time that is meant by an age or a day, in UTC."""
    try:
        if found := _AGE.fullmatch(age):
            then = datetime.now(UTC) - timedelta(days=int(found[1]) * _DAYS[found[2]])
        else:
            then = datetime.fromisoformat(age).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"{age!r} is neither an age such as 90d nor a day such as 2026-01-31") from None
    return then.isoformat()
