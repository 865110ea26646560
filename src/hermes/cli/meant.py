"""What was probably meant by a command or option that is not there, sought in the whole tree of commands."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

import click

_NAMED = 3
"""Places of one word that are named."""


def told(error: click.UsageError) -> str:
    """What is wrong, and what was probably meant."""
    if isinstance(error, click.NoSuchCommand) and error.ctx:
        return f"there is no command {error.command_name!r}. {_command(error.command_name, error.ctx)}"
    if isinstance(error, click.NoSuchOption) and error.ctx:
        path = error.ctx.command_path
        return f"{path} has no option {error.option_name!r}. {_option(error.option_name, error.ctx)}"
    return error.format_message()


def _command(name: str, ctx: click.Context) -> str:
    if isinstance(ctx.command, click.Group) and (near := _near(name, ctx.command.list_commands(ctx))):
        return f"Did you mean {near}?"
    if " " in name.strip():
        return f"To ask something: {_root(ctx)} chat -q {name[:60]!r}"
    places: dict[str, list[str]] = {}
    for below in _commands(ctx.find_root()):
        places.setdefault(str(below.info_name), []).append(below.command_path)
    near = name if name in places else _near(name, list(places))
    return f"Did you mean {_either(places[near])}?" if near else f"{ctx.command_path} --help lists them."


def _option(name: str, ctx: click.Context) -> str:
    if near := _near(name, _options(ctx.command)):
        return f"Did you mean {near}?"
    for start in dict.fromkeys((ctx, ctx.find_root())):
        places: dict[str, list[str]] = {}
        for below in _commands(start):
            for option in _options(below.command):
                places.setdefault(option, []).append(f"{below.command_path} {option}")
        near = name if name in places else _near(name, list(places))
        if near:
            return f"Did you mean {_either(places[near])}?"
    return f"{ctx.command_path} --help lists them."


def _commands(ctx: click.Context) -> Iterator[click.Context]:
    """The commands below one, hidden ones left out; their modules are imported for it."""
    if not isinstance(ctx.command, click.Group):
        return
    for name in ctx.command.list_commands(ctx):
        command = ctx.command.get_command(ctx, name)
        if command is not None and not command.hidden:
            below = click.Context(command, ctx, name)
            yield below
            yield from _commands(below)


def _options(command: click.Command) -> list[str]:
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    return [name for option in options for name in (*option.opts, *option.secondary_opts)]


def _near(name: str, choices: list[str]) -> str:
    """The choice most like a word; letters alone are like no other."""
    return next(iter(get_close_matches(name[:80], choices, 1, 0.65)), "") if len(name) > 2 else ""


def _either(places: list[str]) -> str:
    more = len(places) - _NAMED
    shown = places[:_NAMED] + ([f"{more} more"] if more > 0 else [])
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _root(ctx: click.Context) -> str:
    return ctx.find_root().command_path
