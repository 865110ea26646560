"""Write what is made from the commands: src/hermes/cli/help.txt and docs/cli.md.

    python scripts/update_help.py

The first is the text of `hermes --help` for an 80 column terminal, the second the help of every command.
`scripts/check_docs.py` holds both against the commands as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from hermes.cli.app import hermes

ROOT = Path(__file__).resolve().parents[1]
HELP = ROOT / "src" / "hermes" / "cli" / "help.txt"
REFERENCE = ROOT / "docs" / "cli.md"
_HEAD = """\
# Commands

Made from the commands themselves by `scripts/update_help.py`. `hermes` alone at a terminal is `hermes chat`.

Every command ends with one of these exit codes; a few have more, which their help names:

| code | means |
|---|---|
| 0 | done; the answer is yes; nothing is wrong |
| 1 | the answer is no, or problems were found, or it failed |
| 2 | it was used wrongly, or a name is not known: a command, an option, a value, a session, a file to read |
| 130 | stopped by Ctrl-C, or by an answer of no |

A command or option that is not there is answered with the one that was probably meant.
"""


def quick_help() -> str:
    """The text of `hermes --help`."""
    return _help(hermes, click.Context(hermes, info_name="hermes", terminal_width=80)) + "\n"


def reference() -> str:
    """A page with the help of every command."""
    context = click.Context(hermes, info_name="hermes", terminal_width=90)
    pages = [f"## {name}\n\n```text\n{text}\n```\n" for name, text in _pages(hermes, context)]
    return "\n".join([_HEAD, *pages])


def _pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    yield context.command_path, _help(command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            sub = command.get_command(context, name)
            if sub is not None and not sub.hidden:
                yield from _pages(sub, click.Context(sub, context, name, terminal_width=90))


def _help(command: click.Command, context: click.Context) -> str:
    context.help_option_names = ["-h", "--help"]
    return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


def main() -> None:
    HELP.write_text(quick_help(), encoding="utf-8", newline="\n")
    REFERENCE.write_text(reference(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
