"""`--plot FILE.svg` of the commands that count."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hermes.errors import UsageError
from hermes.files import replace_file

if TYPE_CHECKING:
    from hermes.wire.economics import Rates, Tokens
    from hermes.wire.plot import Bar

CLASSES = ("uncached", "read", "written", "written long", "output")

plot_option = click.option("--plot", default="", metavar="FILE", help="Draw it into this SVG file too.")


def check_plot(path: str) -> str:
    """The absolute path of a plot; UsageError when it is no SVG file, before anything is counted."""
    if path and not path.lower().endswith(".svg"):
        raise UsageError(
            f"plots are drawn as SVG, so {path} must end in .svg; a browser can make a PNG of it"
        )
    return os.path.abspath(path) if path else ""


def draw(path: str, title: str, legend: Sequence[str], rows: Sequence[Bar]) -> None:
    """Write a chart of bars; nothing without a path."""
    from hermes.wire.plot import bars

    if not path:
        return
    try:
        replace_file(path, bars(title, legend, rows).encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
    click.echo(f"drawn into {path}", err=True)


def parts_of(tokens: Tokens, rates: Rates | None) -> tuple[float, ...]:
    """What a bar is made of: dollars by class, or tokens where prices are not known."""
    if rates is None:
        return tuple(float(count) for count in tokens)
    return tuple(count * (rate or 0.0) / 1e6 for count, rate in zip(tokens, rates, strict=True))
