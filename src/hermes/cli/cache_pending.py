"""`hermes cache pending`: what waits for the next boundary of a session, and when that comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.cli.sessions import use_store

if TYPE_CHECKING:
    from hermes.sessions.base import ScriptStore


@click.command("pending")
@click.argument("session", required=False)
@as_json_option
def command(session: str | None, as_json: bool) -> None:
    """What waits in SESSION, or in any of the last hundred, for a prompt that is written anew anyway."""

    async def look(store: ScriptStore) -> list[dict[str, Any]]:
        if session:
            return await _waiting(store, await store.resolve(session))
        found = await store.list(limit=100)
        return [entry for summary in found for entry in await _waiting(store, summary.id)]

    found = use_store(look)
    if as_json:
        return print_json(found)
    if not found:
        return click.echo("nothing waits for a boundary")
    for entry in found:
        click.echo(plain(f"{entry['session']}  {entry['waits']}, since {entry['since'][:16]}"))
        click.echo(plain(f"  comes {entry['comes']}; now: {entry['price']}"))
    return None


async def _waiting(store: ScriptStore, session_id: str) -> list[dict[str, Any]]:
    """What waits in one session, as JSON has it."""
    from datetime import datetime

    from hermes.agent.guard import price_of, staged, when
    from hermes.agent.session import Session
    from hermes.config import load_config
    from hermes.paths import get_hermes_home
    from hermes.providers.profiles import profile_for

    record = await store.get(session_id)
    entries = staged(record.state) if record else ()
    if record is None or not entries:
        return []
    config = load_config(get_hermes_home())
    now = datetime.now().astimezone()
    held = await Session.resume(store, session_id, lambda: now)
    profile = profile_for(record.model, record.provider, config.models)
    price = price_of(held, profile, now)
    return [
        {
            "session": session_id,
            "what": entry.what,
            "name": entry.name,
            "waits": str(entry),
            "since": entry.at,
            "comes": when(held.last_input, profile, config.compaction),
            "tokens": price.tokens,
            "cost": price.cost,
            "price": str(price),
        }
        for entry in entries
    ]
