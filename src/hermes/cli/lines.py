"""A conversation line by line, for pipes, plain terminals and whoever prefers it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Coroutine
from typing import Any

import click

from hermes.cli.ask import ask_once
from hermes.cli.screen import plain_lines
from hermes.commands import Conversation, answer
from hermes.run_agent import AIAgent


async def converse_in_lines(agent: AIAgent, output: str = "text") -> int:
    """Line by line until the person leaves; the exit code."""
    conversation = Conversation(agent)
    click.echo("Say something; /help lists the commands, Ctrl-D leaves.", err=True)
    while not conversation.ended:
        line = conversation.take_said()
        if not line:
            try:
                line = await asyncio.to_thread(input, "> ")
            except EOFError:
                break
        if line.startswith("/"):
            click.echo(plain_lines(await answer(conversation, line)))
        elif line.strip():
            await _stoppable(ask_once(agent, line, output))
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
