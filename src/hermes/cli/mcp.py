"""`hermes mcp`: the servers that are configured, and whether they answer."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain, show_notices
from hermes.config import load_config
from hermes.errors import UsageError
from hermes.mcp.settings import Server, servers
from hermes.paths import get_hermes_home
from hermes.provenance import Notice
from hermes.text import many

_NONE = "No MCP servers: mcp.servers in config.yaml names none that can be used."
_NONE_ON = "No MCP server is on; hermes mcp test NAME tries one all the same."


@click.group()
def group() -> None:
    """MCP servers, whose tools the agent can use; mcp.servers in config.yaml names them."""


@group.command("list")
@as_json_option
def listing(as_json: bool) -> None:
    """The servers that are configured. Nothing is started."""
    found, notices = _servers()
    rows = [_row(server) for server in found]
    if as_json:
        return print_json({"servers": rows, "notices": _plain_notices(notices)})
    show_notices(notices)
    if not found:
        click.echo(_NONE)
    width = max((len(s.name) for s in found), default=0)
    for row in rows:
        state = "on " if row["enabled"] else "off"
        click.echo(plain(f"{row['name']:{width}}  {state}  {row['kind']:5}  {row['place']}"))
    return None


@group.command("test")
@click.argument("name", required=False, default="")
@as_json_option
@click.pass_context
def test(ctx: click.Context, name: str, as_json: bool) -> None:
    """Start every server that is on, or the one of that NAME, and tell what it offers.

    Exit codes: 0 all answered, 1 one did not.
    """
    found, notices = _servers()
    if name and name not in {s.name for s in found}:
        show_notices(notices)
        there = ", ".join(s.name for s in found) or "none"
        raise UsageError(f"there is no MCP server {name!r} that can be used; there is: {there}")
    wanted = tuple(s for s in found if s.name == name or (not name and s.enabled))
    rows, told = asyncio.run(_tested(wanted)) if wanted else ([], ())
    if as_json:
        print_json({"servers": rows, "notices": _plain_notices((*notices, *told))})
    else:
        show_notices((*notices, *told))
        for row in rows:
            click.echo(plain(_line(row)))
            for tool in row["tools"]:
                click.echo(plain(f"  {tool}"))
        if not rows:
            click.echo(_NONE_ON if found else _NONE)
    ctx.exit(0 if all(row["answered"] for row in rows) else 1)


async def _tested(wanted: tuple[Server, ...]) -> tuple[list[dict[str, Any]], tuple[Notice, ...]]:
    from dataclasses import replace

    from hermes.agent.system_prompt import load_sources
    from hermes.mcp.fleet import Fleet

    sources = load_sources()
    on = tuple(replace(server, enabled=True) for server in wanted)
    fleet = Fleet(on, sources.config.mcp, sources.policies, sources.home)
    begun = time.monotonic()
    try:
        await fleet.start()
        seconds = round(time.monotonic() - begun, 2)
        names = [t.spec.name for t in fleet.tools]
        fleet.instructions()
        rows = []
        for server in on:
            up = fleet.connections[server.name].up
            own = [n for n in names if n.startswith(f"mcp__{server.name}__")]
            size = len(fleet.connections[server.name].instructions)
            rows.append({**_row(server), "answered": up, "tools": own, "instructions": size})
        return [{**row, "seconds": seconds} for row in rows], fleet.told()
    finally:
        await fleet.close()


def _line(row: dict[str, Any]) -> str:
    if not row["answered"]:
        return f"{row['name']}: no answer after {row['seconds']} s ({row['place']})"
    said = f", {many(row['instructions'], 'character')} of instructions" if row["instructions"] else ""
    return f"{row['name']}: {many(len(row['tools']), 'tool')}{said} ({row['place']})"


def _row(server: Server) -> dict[str, Any]:
    return {
        "name": server.name,
        "kind": server.kind,
        "place": server.place,
        "enabled": server.enabled,
    }


def _servers() -> tuple[tuple[Server, ...], tuple[Notice, ...]]:
    home = get_hermes_home()
    config = load_config(home)
    found, notices = servers(config.mcp, home)
    return found, (*config.notices, *notices)


def _plain_notices(notices: tuple[Notice, ...]) -> list[dict[str, str]]:
    return [{"level": n.level, "text": n.text} for n in dict.fromkeys(notices)]
