"""`hermes sessions`: what was said, searched, moved, thrown away, and sent again byte for byte."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from hermes.cli.lazy import LazyGroup
from hermes.cli.screen import can_draw, show_notices
from hermes.config import load_config
from hermes.errors import StoreError, UsageError
from hermes.paths import get_hermes_home
from hermes.sessions.base import ScriptStore

T = TypeVar("T")

SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "check": ("hermes.cli.sessions_look:check", "Look for damage in the whole store."),
    "delete": ("hermes.cli.sessions_keep:delete", "Throw a session away."),
    "export": ("hermes.cli.sessions_keep:export", "Write a session as JSON lines, with all that was sent."),
    "import": ("hermes.cli.sessions_keep:import_", "Take in an exported session."),
    "list": ("hermes.cli.sessions_look:listing", "The sessions, the last used first."),
    "prune": ("hermes.cli.sessions_keep:prune", "Throw away sessions that were not used for long."),
    "rename": ("hermes.cli.sessions_keep:rename", "Give a session another title."),
    "replay": ("hermes.cli.sessions_look:replay", "Print a past request, byte for byte."),
    "search": ("hermes.cli.sessions_look:search", "Find what was said."),
    "show": ("hermes.cli.sessions_look:show", "A session's messages, calls and epochs."),
}


@click.group(cls=LazyGroup, table=SUBCOMMANDS, invoke_without_command=True)
@click.pass_context
def group(ctx: click.Context) -> None:
    """List, search, move and replay sessions. A SESSION is an id, a title, or the beginning of one.

    Alone, on a terminal: pick one and go on with it.
    """
    if ctx.invoked_subcommand:
        return
    if not can_draw():
        raise click.exceptions.NoArgsIsHelpError(ctx)
    if name := use_store(_picked):
        from hermes.cli.chat import command as chat

        ctx.invoke(chat, query="", resume=name)


async def _picked(store: ScriptStore) -> str:
    from hermes.cli.repl.pick import Choice, pick

    found = await store.list(limit=200)
    if not found:
        raise UsageError("there are no sessions yet; hermes chat begins one")
    lines = [
        Choice(s.id, f"{s.updated[:16].replace('T', ' ')}  {s.messages:4}  {s.title or s.id}") for s in found
    ]
    return await pick("Go on with which session? Type to narrow, Enter to pick, Esc to leave.", lines)


def use_store(use: Callable[[ScriptStore], Awaitable[T]], *, changes: bool = False) -> T:
    """Do something with the store of the home. StoreError where it `changes` what cannot be written."""
    from hermes.sessions.open import open_store, store_notices

    home = get_hermes_home()
    config = load_config(home)
    show_notices(config.notices, quiet=True)

    async def go() -> T:
        store = open_store(home, config)
        try:
            if changes and store_notices(store):
                raise StoreError(f"{home.root} cannot be written; nothing was changed")
            return await use(store)
        finally:
            await store.close()

    return asyncio.run(go())
