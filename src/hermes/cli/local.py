"""`hermes local`: the engine of the model that runs on this machine."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain, plain_lines
from hermes.config import load_config
from hermes.errors import UsageError
from hermes.paths import get_hermes_home
from hermes.providers.local.engine import Engine
from hermes.providers.local.model import local_engine
from hermes.providers.local.weights import find_weights
from hermes.providers.resolve import resolve
from hermes.text import many

_model = click.argument("model", required=False, default="local")


@click.group()
def group() -> None:
    """The engine of the model that runs on this machine.

    It is started by whoever asks the model and ends when nobody has for a while (local.idle_minutes).
    MODEL is the name of a model file of yours; without it, the one that comes with Hermes is meant.
    """


@group.command("status")
@_model
@as_json_option
def status(model: str, as_json: bool) -> None:
    """Is it running, what does it serve, and how much is kept?"""
    engine = _engine(model)
    body = asyncio.run(_state(engine))
    if as_json:
        print_json(body)
        return
    running = f"yes, process {body['pid']} at {body['url']}" if body["running"] else "no"
    click.echo(plain(f"running  {running}"))
    click.echo(plain(f"model    {body['model']}"))
    click.echo(f"window   {body['window']:,} tokens")
    click.echo(f"kept     {many(body['states'], 'prompt')}, {body['states_mb']:,.1f} MB")
    click.echo(plain(f"log      {body['log']}"))


async def _state(engine: Engine) -> dict[str, Any]:
    import os

    sizes: list[int] = []
    with suppress(OSError), os.scandir(os.path.join(engine.folder, "states")) as entries:
        sizes = [entry.stat().st_size for entry in entries]
    address = engine.known() if engine.is_running() else None
    return {
        "running": address is not None,
        "pid": address.pid if address else None,
        "url": address.url if address else None,
        "seconds": round(time.time() - address.began) if address else None,
        "model": engine.settings.model,
        "window": engine.settings.window,
        "states": len(sizes),
        "states_mb": round(sum(sizes) / 1e6, 1),
        "log": engine.log,
    }


@group.command("stop")
@_model
@as_json_option
def stop(model: str, as_json: bool) -> None:
    """End it; the next question starts it again."""
    stopped = asyncio.run(_engine(model).stop())
    if as_json:
        return print_json({"stopped": stopped})
    return click.echo("Ended." if stopped else "It was not running.")


@group.command("log")
@click.option("-n", "lines", type=click.IntRange(1), default=40, show_default=True, help="So many lines.")
@as_json_option
def log(lines: int, as_json: bool) -> None:
    """The end of its log."""
    path = get_hermes_home().path("logs", "local.log")
    told: list[str] = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            told = file.readlines()[-lines:]
    except FileNotFoundError:
        click.echo("There is no log yet.", err=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    if as_json:
        return print_json({"path": path, "lines": [line.rstrip("\n") for line in told]})
    return click.echo(plain_lines("".join(told)), nl=False)


def _engine(model: str) -> Engine:
    home = get_hermes_home()
    config = load_config(home)
    endpoint, profile = resolve(model, config, home)
    if not endpoint.gguf:
        raise UsageError(f"{model} does not run in an engine of Hermes")
    return local_engine(find_weights(endpoint.gguf, config, home), config, home, profile)
