"""`hermes cache why`: the verdict on a call."""

from __future__ import annotations

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.cli.stored import review_session
from hermes.errors import UsageError


@click.command("why")
@click.argument("session")
@click.argument("call", required=False, type=click.IntRange(1))
@as_json_option
def command(session: str, call: int | None, as_json: bool) -> None:
    """Why CALL (from 1) of SESSION did not come from the cache; the last that did not, without CALL."""
    from hermes.wire.words import explained, worth_telling

    entries = review_session(session)
    found = worth_telling(entries) if call is None else next((e for e in entries if e.wire.n == call), None)
    if found is None and call is not None:
        raise UsageError(f"session {session} has no call {call}; it has {len(entries)}")
    if as_json:
        return print_json(found.to_data() if found else None)
    if found is None:
        return click.echo("this session has made no call yet")
    if call is None and found.verdict.is_calm:
        click.echo(f"no call of {len(entries)} missed the cache; the last one:")
    for line in explained(found):
        click.echo(plain(line))
    return None
