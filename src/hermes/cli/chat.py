"""`hermes chat`: ask once, or talk line by line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

import click

from hermes.cli.screen import show_notices, wants_colour
from hermes.commands import Conversation, answer
from hermes.provenance import as_data
from hermes.run_agent import AIAgent
from hermes.turns import (
    AnswerRestarted,
    Event,
    NoticeShown,
    ReasoningShown,
    TextShown,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnRequest,
)

EXIT_CODES = {"done": 0, "length": 0, "max_turns": 3, "refused": 4, "failed": 5, "cancelled": 130}


@click.command("chat")
@click.option("-q", "--query", default="", help="Ask this, print the answer, and end.", metavar="TEXT")
@click.option("--model", default="", help="The model, as provider:name or name.", metavar="MODEL")
@click.option("--cwd", default="", help="Work in this directory.", metavar="DIR")
@click.option("--resume", default="", help="Go on with this session.", metavar="ID")
@click.option("--personality", default="", help="Take on a personality.", metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="Every event as a line of JSON.")
@click.pass_context
def command(
    ctx: click.Context, query: str, model: str, cwd: str, resume: str, personality: str, as_json: bool
) -> None:
    """Talk with the agent.

    With -q, or with text on standard input, one question is asked and its answer printed; without,
    a conversation begins, in which lines with a slash are commands (/help).

    Exit codes: 0 answered, 3 out of steps, 4 refused, 5 failed, 130 stopped.
    """
    if not query and not sys.stdin.isatty():
        query = sys.stdin.read()
        if not query.strip():
            raise click.UsageError("there is nothing to ask: standard input is empty and -q is not given")

    async def talk() -> int:
        agent = AIAgent(model=model, cwd=cwd, session_id=resume)
        try:
            if personality:
                agent.set_personality(personality)
            conversation = Conversation(agent)
            show_notices(agent.notices, quiet=True)
            if query:
                return await _turn(conversation, query, as_json)
            return await _converse(conversation, as_json)
        finally:
            await agent.close()

    try:
        ctx.exit(asyncio.run(talk()))
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
        ctx.exit(130)


async def _converse(conversation: Conversation, as_json: bool) -> int:
    """Line by line until the person leaves."""
    click.echo("Say something; /help lists the commands, Ctrl-D leaves.", err=True)
    while not conversation.ended:
        try:
            line = await asyncio.to_thread(input, "> ")
        except EOFError:
            break
        if line.startswith("/"):
            click.echo(await answer(conversation, line))
        elif line.strip():
            await _stoppable(_turn(conversation, line, as_json))
    return 0


async def _stoppable(turn: Coroutine[Any, Any, int]) -> None:
    """A turn that Ctrl-C stops, and only the turn: the conversation goes on."""
    task, loop = asyncio.create_task(turn), asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):  # Windows has no such handlers; there it ends the program
        loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        click.echo("\nStopped; what was said is kept.", err=True)
    finally:
        with contextlib.suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)


async def _turn(conversation: Conversation, text: str, as_json: bool) -> int:
    show = _show_json if as_json else _show
    events: AsyncGenerator[Event, None] = conversation.agent.run(TurnRequest(text))
    reason = "failed"
    try:
        async for event in events:
            show(event)
            if isinstance(event, TurnEnded):
                reason = event.reason
    finally:
        await events.aclose()
    return EXIT_CODES[reason]


def _show(event: Event) -> None:
    """One event on the screen: the answer on stdout, everything else on stderr."""
    match event:
        case TextShown(text):
            click.echo(text, nl=False)
        case ToolStarted(call):
            _aside(f"· {call.name} {_short(call.arguments)}")
        case ToolFinished(call, _, error, seconds):
            _aside(f"  {call.name} {'failed' if error else 'done'} in {seconds:.1f} s")
        case AnswerRestarted(reason):
            _aside(f"\n{reason}; the answer begins anew")
        case NoticeShown(notice):
            show_notices((notice,))
        case TurnEnded(_, _, _, reason):
            click.echo()
            if reason != "done":
                _aside(f"(ended: {reason})")
        case ReasoningShown():
            pass


def _aside(text: str) -> None:
    click.echo(click.style(text, dim=True), err=True, color=wants_colour(sys.stderr))


def _short(arguments: str, width: int = 80) -> str:
    line = " ".join(arguments.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _show_json(event: Event) -> None:
    body = {"event": type(event).__name__, **as_data(event)}
    click.echo(json.dumps(body, ensure_ascii=False))
