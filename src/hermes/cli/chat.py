"""`hermes chat`: ask once, or talk."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Callable
from typing import Any

import click

from hermes.cli.screen import can_draw, show_notices, wants_colour
from hermes.errors import UsageError
from hermes.frozen import frozen
from hermes.providers.offers import offer_notices
from hermes.run_agent import AIAgent

MODES = ("ask", "auto", "yolo")
FORMATS = ("text", "json", "stream-json")


@frozen
class Wanted:
    """What the options ask for. `tools` is `None` for all."""

    query: str
    model: str
    cwd: str
    resume: str
    latest: bool
    personality: str
    tools: tuple[str, ...] | None
    max_turns: int | None
    approval: str
    output: str
    plain: bool


_OPTIONS = (
    click.option("-q", "--query", default="", help="Ask this and end; - reads it.", metavar="TEXT"),
    click.option("--model", default="", help="The model, as provider:name or name.", metavar="MODEL"),
    click.option("--cwd", default="", help="Work in this directory.", metavar="DIR"),
    click.option("--resume", default="", help="Go on with this session.", metavar="ID"),
    click.option("-c", "--continue", "latest", is_flag=True, help="Go on with the last session here."),
    click.option("--personality", default="", help="Take on a personality.", metavar="NAME"),
    click.option("--tools", default=None, help="Only these, with commas; none for none.", metavar="NAMES"),
    click.option("--max-turns", type=click.IntRange(1), help="So many calls of the model.", metavar="N"),
    click.option("--approval", type=click.Choice(MODES), help="When you are asked first."),
    click.option("--yes", is_flag=True, help="Never ask; the same as --approval yolo."),
    click.option("--output-format", type=click.Choice(FORMATS), default="text", help="Of the answer."),
    click.option("--json", "as_json", is_flag=True, help="The same as --output-format stream-json."),
    click.option("--plain", is_flag=True, help="Talk line by line, without colours and status line."),
)


def _with_options(function: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@click.command("chat")
@_with_options
@click.pass_context
def command(
    ctx: click.Context, /, tools: str | None, output_format: str, as_json: bool, yes: bool, **given: Any
) -> None:
    """Talk with the agent.

    With -q, or with text on standard input, one question is asked and its answer printed. What comes
    on standard input beside -q is put behind the question. Without either a conversation begins, in
    which lines with a slash are commands (/help).

    Exit codes: 0 answered, 1 an error, 2 a mistake in the command, 3 out of steps, 4 refused, 5 failed,
    130 stopped.
    """
    mode = given.pop("approval") or ""
    wanted = Wanted(
        query=_asked(given.pop("query")),
        approval="yolo" if yes else mode,
        tools=None if tools is None else _names(tools),
        output="stream-json" if as_json else output_format,
        **given,
    )
    try:
        ctx.exit(asyncio.run(_talk(wanted)))
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
        ctx.exit(130)


def _asked(query: str) -> str:
    """The question: what -q says, what comes on standard input, or both; "" for a conversation."""
    if query and query != "-" and not _is_fed(sys.stdin.fileno()):
        return query
    if not query and sys.stdin.isatty():
        return ""
    said = sys.stdin.read()
    if query in ("", "-"):
        if not said.strip():
            raise click.UsageError("there is nothing to ask: standard input is empty and -q is not given")
        return said
    return f"{query}\n\n{said}" if said.strip() else query


def _is_fed(descriptor: int) -> bool:
    """Whether someone may write to standard input: a pipe or a file, not a terminal or nothing."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _names(given: str) -> tuple[str, ...]:
    names = tuple(name for part in given.split(",") if (name := part.strip()))
    return () if names == ("none",) else names


async def _talk(wanted: Wanted) -> int:
    if not wanted.model and sys.stdin.isatty() and sys.stderr.isatty():
        from hermes.cli.choose import choose

        choose()
    agent = AIAgent(model=wanted.model, cwd=wanted.cwd, session_id=wanted.resume, approval=wanted.approval)
    try:
        await _prepare(agent, wanted)
        if wanted.query:
            from hermes.cli.ask import ask_once

            show_notices(agent.notices, quiet=True)
            return await ask_once(agent, wanted.query, wanted.output)
        code = await _conversation(agent, wanted)
        lost = await agent.save()
        show_notices(lost)
        return code or int(bool(lost))
    finally:
        await agent.close()
        show_notices(agent.extensions.told())  # of what went wrong at the end nobody else would tell


async def _conversation(agent: AIAgent, wanted: Wanted) -> int:
    """Talk until the person leaves; the exit code."""
    if wanted.plain or wanted.output != "text" or not can_draw():
        from hermes.cli.lines import converse_in_lines

        show_notices(agent.notices, quiet=True)
        return await converse_in_lines(agent, wanted.output)
    from hermes.cli.repl.talk import converse

    return await converse(agent, colour=wants_colour(sys.stdout))


async def _prepare(agent: AIAgent, wanted: Wanted) -> None:
    """Set the agent up as the options ask. UsageError for what does not exist."""
    if not wanted.model:
        agent.notices = (*agent.notices, *offer_notices(agent.sources.config))
    if wanted.tools is not None:
        agent.only_tools(wanted.tools)
    if wanted.max_turns:
        from dataclasses import replace

        agent.limits = replace(agent.limits, max_turns=wanted.max_turns)
    if wanted.latest and not wanted.resume:
        from hermes.sessions.places import last_of_place

        agent.session_id = await last_of_place(agent.store, agent.workdir.path)
        if not agent.session_id:
            raise UsageError(f"no session was begun in {agent.workdir.path} yet; leave --continue out")
    if agent.session_id:
        agent.session_id = await agent.store.resolve(agent.session_id)
    if wanted.personality:
        agent.set_personality(wanted.personality)
