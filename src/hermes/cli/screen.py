"""What is shown to a person: notices on stderr, colours only where they are wanted."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

import click

from hermes.config import environment
from hermes.provenance import Notice

_COLOURS = {"info": "cyan", "warning": "yellow", "error": "red"}
_OBEYED = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def show_notices(notices: Iterable[Notice], *, quiet: bool = False) -> None:
    """Print notices to stderr, each once; `quiet` leaves out what is only information."""
    for notice in dict.fromkeys(notices):
        if quiet and notice.level == "info":
            continue
        label = click.style(f"{notice.level}:", fg=_COLOURS[notice.level], bold=True)
        click.echo(f"{label} {plain_lines(notice.text)}", err=True, color=wants_colour(sys.stderr))


def plain(text: str) -> str:
    """A text from outside on one line, without anything that a terminal would obey."""
    return _OBEYED.sub("\ufffd", text)


def plain_lines(text: str) -> str:
    """The same, with its lines and tabs kept."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(map(plain, lines))


def wants_colour(stream: object) -> bool:
    """Whether a stream is a terminal that has colours, whose owner has not asked for none."""
    return obeys(stream) and not environment().no_color


def obeys(stream: object) -> bool:
    """Whether a stream is a terminal that does what escape sequences say."""
    is_terminal = getattr(stream, "isatty", lambda: False)()
    return bool(is_terminal) and not environment().dumb_terminal


def can_draw() -> bool:
    """Whether a person sits at a terminal that can move its cursor."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not environment().dumb_terminal
