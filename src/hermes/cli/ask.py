"""One turn for people and for scripts: the answer on stdout, as text or as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict
from typing import Any

import click

from hermes.cli.as_json import print_json_line
from hermes.cli.screen import obeys, plain, plain_lines, show_notices, wants_colour
from hermes.run_agent import AIAgent
from hermes.turns import (
    AnswerRestarted,
    Event,
    NoticeShown,
    PromptProgress,
    Question,
    ReasoningShown,
    TextShown,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnRequest,
)

EXIT_CODES = {"done": 0, "length": 0, "max_turns": 3, "refused": 4, "failed": 5, "cancelled": 130}


async def ask_once(agent: AIAgent, text: str, output: str = "text") -> int:
    """One turn, shown as it goes; the exit code. At its end all of it is stored, or said to be lost."""
    lines = InLines()
    if sys.stdin.isatty() and sys.stderr.isatty():
        agent.ask = lines.ask if output == "text" else ask_in_lines
    collected = Collected()
    tell = _show_line if output == "stream-json" else collected.take

    def show(event: Event) -> None:
        lines.show(event) if output == "text" else tell(described(event, agent))

    events: AsyncGenerator[Event, None] = agent.run(TurnRequest(text))
    reason, lost = "failed", 0
    try:
        async for event in events:
            if isinstance(event, TurnEnded):
                reason = event.reason
                for notice in await agent.save():
                    lost = 1
                    show(NoticeShown(notice))
            show(event)
    finally:
        await events.aclose()
    if output == "json":
        print_json_line(collected.body)
    return EXIT_CODES[reason] or lost


class InLines:
    """Shows a turn in lines: the answer on stdout, all else on stderr, and never in the midst of a line.

    A person sees it as it comes. A program gets what the model said once its call is over: an answer that
    broke off and began anew must not stand there twice.
    """

    def __init__(self) -> None:
        self._open = False
        self._reason = ""
        self._held: list[str] = []

    def show(self, event: Event) -> None:
        """One event for a person."""
        self._let_go(not isinstance(event, TextShown | AnswerRestarted | NoticeShown))
        match event:
            case TextShown(text):
                self._held.append(text)
                self._let_go(sys.stdout.isatty())
            case ToolStarted(call):
                self._aside(f"· {call.name} {_short(call.arguments)}")
            case ToolFinished(call, _, error, seconds):
                self._aside(f"  {call.name} {'failed' if error else 'done'} in {seconds:.1f} s")
            case ToolProgress(_, text):
                self._aside(f"  {text}")
            case AnswerRestarted(reason):
                self._held.clear()
                same, self._reason = reason == self._reason, reason
                self._aside("once more" if same else f"{reason}; the answer begins anew")
            case NoticeShown(notice):
                self._end_line()
                show_notices((notice,))
            case TurnEnded(text, _, _, reason):
                self._end_line()
                silent = "" if text.strip() else "the model said nothing"
                if told := silent if reason == "done" else f"ended: {reason}":
                    self._aside(f"({told})")
            case PromptProgress(read, total):
                _progress(read, total)
            case ReasoningShown():
                pass

    async def ask(self, question: Question) -> str:
        """Put a question; see `ask_in_lines`."""
        self._end_line()
        return await ask_in_lines(question)

    def _let_go(self, now: bool) -> None:
        if not now:
            return
        if text := "".join(self._held):
            sys.stdout.write(_for(sys.stdout)(text))
            sys.stdout.flush()
            self._open = not text.endswith("\n")
        self._held.clear()

    def _aside(self, text: str) -> None:
        self._end_line()
        _aside(text)

    def _end_line(self) -> None:
        if self._open:
            click.echo()
            self._open = False


def _for(stream: object) -> Callable[[str], str]:
    """A terminal is spared what it would obey; a file gets every character."""
    return plain_lines if getattr(stream, "isatty", lambda: False)() else str


def _progress(read: int, total: int) -> None:
    """On a terminal one line that counts; elsewhere a line at the beginning."""
    text = f"reading the prompt: {read:,} of {total:,} tokens"
    if obeys(sys.stderr):
        click.echo(f"\r\x1b[K{text if read < total else ''}", nl=False, err=True)
    elif read == 0:
        _aside(text)


def _aside(text: str) -> None:
    click.echo(click.style(plain(text), dim=True), err=True, color=wants_colour(sys.stderr))


def _short(arguments: str, width: int = 80) -> str:
    line = " ".join(arguments.split())
    return line if len(line) <= width else line[: width - 1] + "…"


# -- JSON: these names are promised in docs/chat.md ---------------------------------------------------------


EVENT_NAMES = {
    TextShown: "text",
    ReasoningShown: "reasoning",
    PromptProgress: "reading",
    AnswerRestarted: "restarted",
    ToolStarted: "tool_started",
    ToolFinished: "tool_finished",
    ToolProgress: "tool_progress",
    NoticeShown: "notice",
    TurnEnded: "ended",
}


def described(event: Event, agent: AIAgent) -> dict[str, Any]:
    """An event as JSON has it."""
    return {"event": EVENT_NAMES[type(event)], **_body(event, agent)}


def _body(event: Event, agent: AIAgent) -> dict[str, Any]:
    match event:
        case ToolStarted(call):
            return asdict(call)
        case ToolFinished(call, result, error, seconds):
            return {**asdict(call), "result": result, "error": error, "seconds": round(seconds, 3)}
        case ToolProgress(call, text):
            return {**asdict(call), "text": text}
        case NoticeShown(notice):
            return {"level": notice.level, "text": notice.text}
        case TurnEnded(_, usage, _, _):
            from hermes.wire.economics import cost

            profile = agent.model.profile
            spent = cost(usage, profile)
            return {**asdict(event), "dollars": spent, "session": agent.session_id, "model": profile.name}
        case _:
            return asdict(event)


def _show_line(body: dict[str, Any]) -> None:
    print_json_line(body)
    sys.stdout.flush()


class Collected:
    """A turn as one object: its end, with the tools that ran and the notices."""

    def __init__(self) -> None:
        self.body: dict[str, Any] = {"text": "", "reason": "failed", "tools": [], "notices": []}

    def take(self, event: dict[str, Any]) -> None:
        kind = event.pop("event")
        if kind == "tool_finished":
            self.body["tools"].append(event)
        elif kind == "notice":
            self.body["notices"].append(event)
        elif kind == "ended":
            self.body.update(event)


# -- questions ----------------------------------------------------------------------------------------------


async def ask_in_lines(question: Question) -> str:
    """Put a question on stderr and read a line; "" when nothing is said."""
    if question.detail:
        click.echo(plain_lines(question.detail), err=True)
    click.echo(f"? {plain(question.text)}", err=True)
    for n, choice in enumerate(question.choices, 1):
        click.echo(f"  {n}. {plain(choice)}", err=True)
    click.echo("? ", nl=False, err=True)
    said = (await _line()).strip()
    if said.isdigit() and 0 < int(said) <= len(question.choices):
        return question.choices[int(said) - 1]
    begun = [c for c in question.choices if said and c.lower().startswith(said.lower())]
    if len(begun) == 1:
        return begun[0]
    return said


async def _line() -> str:
    """A line of standard input, waited for without a thread that would go on waiting after a Ctrl-C."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), ready.set)
    except NotImplementedError:  # Windows
        return await asyncio.to_thread(sys.stdin.readline)
    try:
        await ready.wait()
        return sys.stdin.readline()
    finally:
        with contextlib.suppress(NotImplementedError):
            loop.remove_reader(sys.stdin.fileno())
