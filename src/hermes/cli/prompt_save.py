"""`hermes prompt save`."""

from __future__ import annotations

import re

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, build, prompt_options
from hermes.cli.screen import plain, show_notices
from hermes.errors import UsageError
from hermes.files import replace_file
from hermes.inspect.saved import saved_path

_NAME = re.compile(r"[\w][\w.-]{0,99}")


@click.command("save")
@click.argument("name")
@prompt_options
@click.option("-o", "--output", default="", help="Write to this file instead.", metavar="FILE")
@as_json_option
def command(asked: Asked, name: str, output: str, as_json: bool) -> None:
    """Keep the prompt under NAME in the home (or in a file), to compare with later."""
    if not output and not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be a name; use letters, digits, dots, dashes and underscores")
    built = build(asked)
    show_notices(built.notices, quiet=True)
    path = output or saved_path(built.sources.home, name)
    try:
        if not output:
            import os

            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        replace_file(path, built.prompt.to_json(indent=1).encode("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} could not be written: {(error.strerror or str(error)).lower()}") from None
    if as_json:
        return print_json({"path": path, "digest": built.prompt.digest})
    return click.echo(plain(path))
