"""`hermes sessions list|show|search|replay|check`: looking, without changing anything."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain, wants_colour
from hermes.cli.sessions import use_store
from hermes.errors import UsageError
from hermes.messages import Role
from hermes.sessions.base import ScriptStore
from hermes.sessions.records import Hit, SessionFilter, SessionSummary, StoredMessage
from hermes.text import many

_COLOURS = {"user": "green", "assistant": "cyan", "tool": "yellow", "system": "magenta"}
_SHOWN = 12
"""Lines that are shown of one message."""


@click.command("list")
@click.option("-n", "--limit", default=20, show_default=True, type=click.IntRange(1), help="So many.")
@click.option("--before", default="", metavar="ID", help="Go on after this one.")
@click.option("--platform", default="", help="Only of this platform.")
@click.option("--model", default="", help="Only with this model.")
@click.option("--title", default="", help="Only with this in the title.")
@as_json_option
def listing(limit: int, before: str, platform: str, model: str, title: str, as_json: bool) -> None:
    """The sessions, the last used first."""
    only = SessionFilter(platform=platform, model=model, title=title)

    async def look(store: ScriptStore) -> tuple[SessionSummary, ...]:
        return await store.list(only, limit, await store.resolve(before) if before else "")

    found = use_store(look)
    if as_json:
        return print_json([asdict(s) for s in found])
    for line in _table(found):
        click.echo(line)
    if not found:
        click.echo("no sessions")
    return None


def _table(found: tuple[SessionSummary, ...]) -> list[str]:
    width = max((len(s.id) for s in found), default=0)
    return [
        f"{plain(s.id):{width}}  {s.updated[:16].replace('T', ' ')}  {many(s.messages, 'message'):>14}  "
        f"{plain(s.model) or '-'}  {plain(s.title)}".rstrip()
        for s in found
    ]


@click.command("show")
@click.argument("session")
@click.option("--full", is_flag=True, help="Every line of every message.")
@as_json_option
def show(session: str, full: bool, as_json: bool) -> None:
    """A session's messages, calls and epochs."""

    async def look(store: ScriptStore) -> None:
        name = await store.resolve(session)
        record = await store.get(name)
        messages, calls = await store.messages(name), await store.calls(name)
        epochs = await store.epochs(name)
        assert record is not None
        if as_json:
            return print_json(
                {
                    "session": asdict(record),
                    "epochs": [asdict(e) for e in epochs],
                    "messages": [{"seq": m.seq, **asdict(m.message)} for m in messages],
                    "calls": [asdict(c) for c in calls],
                }
            )
        click.echo(f"{plain(record.id)}  {plain(record.title)}".rstrip())
        click.echo(f"{plain(record.provider)}:{plain(record.model)} on {plain(record.platform)}")
        click.echo(
            f"{many(len(messages), 'message')}, {many(len(calls), 'call')}, begun {plain(record.created)}"
        )
        for epoch in epochs[1:]:
            click.echo(f"epoch {epoch.n} since {plain(epoch.at)}: {plain(epoch.reason)}")
        for stored in messages:
            click.echo()
            _show_message(stored, full)
        return None

    use_store(look)


def _show_message(stored: StoredMessage, full: bool) -> None:
    message = stored.message
    colour = wants_colour(sys.stdout)
    label = click.style(message.role, fg=_COLOURS[message.role], bold=True)
    name = f" {plain(message.name)}" if message.name else ""
    click.echo(f"{stored.seq} {label}{name}  {plain(message.time)}", color=colour)
    lines = message.text.split("\n") if message.text else []
    lines += [f"-> {call.name} {call.arguments}" for call in message.tool_calls]
    for line in lines if full else lines[:_SHOWN]:
        click.echo(f"  {plain(line)}")
    if len(lines) > _SHOWN and not full:
        click.echo(f"  … {many(len(lines) - _SHOWN, 'more line')}; --full shows them")


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--limit", default=20, show_default=True, type=click.IntRange(1), help="So many.")
@click.option("--newest", is_flag=True, help="The newest first, instead of the best.")
@click.option("--session", default="", help="Only in this session.")
@click.option(
    "--role", "roles", multiple=True, type=click.Choice(("user", "assistant", "tool")), help="Who said it."
)
@as_json_option
def search(
    query: tuple[str, ...], limit: int, newest: bool, session: str, roles: tuple[Role, ...], as_json: bool
) -> None:
    """Find what was said.

    All words must occur: "words in a row", begin*, this OR that.
    """

    from hermes.sessions.search import parse

    asked = " ".join(query)
    if not parse(asked):
        raise UsageError(f"{plain(asked)!r} has no word to look for; signs and emoji alone are not found")

    async def look(store: ScriptStore) -> tuple[Hit, ...]:
        name = await store.resolve(session) if session else ""
        return await store.search(asked, limit, newest=newest, session=name, roles=roles)

    hits = use_store(look)
    if as_json:
        return print_json([asdict(hit) for hit in hits])
    for hit in hits:
        title = f"  {plain(hit.title)}" if hit.title else ""
        click.echo(f"{plain(hit.session)} {hit.seq} {hit.role}  {plain(hit.time[:16])}{title}")
        click.echo(f"  {_marked(hit)}", color=wants_colour(sys.stdout))
    if not hits:
        click.echo("nothing was found")
    return None


def _marked(hit: Hit) -> str:
    shown, at = "", 0
    for start, end in hit.marks:
        shown += plain(hit.snippet[at:start]) + click.style(plain(hit.snippet[start:end]), bold=True)
        at = end
    return shown + plain(hit.snippet[at:])


@click.command("replay")
@click.argument("session")
@click.argument("call", type=click.IntRange(1))
@as_json_option
def replay(session: str, call: int, as_json: bool) -> None:
    """Print the request of CALL (from 1) as it was sent, byte for byte."""
    from hermes.sessions.replay import request_body

    async def again(store: ScriptStore) -> bytes:
        return await request_body(store, await store.resolve(session), call)

    body = use_store(again)
    if as_json:
        return print_json({"body": body.decode("utf-8", "replace"), "bytes": len(body)})
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()
    return None


@click.command("check")
@as_json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Look for damage in the whole store; exit code 1 when there is any."""
    from hermes.sessions.replay import verify

    async def look(store: ScriptStore) -> tuple[str, ...]:
        told = list(await store.check())
        before = ""
        while not told and (page := await store.list(limit=100, before=before)):
            for summary in page:
                told += await verify(store, summary.id)
            before = page[-1].id
        return tuple(told)

    told = use_store(look)
    if as_json:
        print_json({"ok": not told, "problems": told})
    else:
        click.echo("\n".join(map(plain, told)) or "everything is as it was stored")
    ctx.exit(1 if told else 0)
