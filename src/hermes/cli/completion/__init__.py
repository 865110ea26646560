"""`hermes completion`: the shell completes commands, options and their values."""

from __future__ import annotations

import os

import click

from hermes.cli.as_json import as_json_option, print_json

SHELLS = ("bash", "fish", "zsh")


@click.command("completion")
@click.argument("shell", type=click.Choice((*SHELLS, "words")), metavar="[bash|fish|zsh]")
@click.argument("given", nargs=-1, type=click.UNPROCESSED, metavar="")
@as_json_option
@click.pass_context
def command(ctx: click.Context, shell: str, given: tuple[str, ...], as_json: bool) -> None:
    """Print the lines that teach a shell to complete hermes.

    \b
    bash: eval "$(hermes completion bash)" in ~/.bashrc
    zsh:  eval "$(hermes completion zsh)" in ~/.zshrc
    fish: hermes completion fish | source in ~/.config/fish/config.fish
    """
    if shell != "words":
        if given:
            raise click.UsageError(f"one shell is enough; {given[0]!r} is one word too many")
        script = _script(shell)
        if as_json:
            return print_json({"shell": shell, "script": script})
        return click.echo(script, nl=False)
    root = ctx.find_root().command
    rows = (f"{kind}\t{value}\t{meaning}\n" for kind, value, meaning in words(root, list(given)))
    return click.echo("".join(rows), nl=False)


def words(root: click.Command, given: list[str]) -> list[tuple[str, str, str]]:
    """What may stand in place of the last of the words `given`: its kind, the word, its meaning."""
    from click.shell_completion import ShellComplete

    *before, incomplete = given or [""]
    found = ShellComplete(root, {}, "hermes", "").get_completions(before, incomplete)
    return [(item.type, item.value, " ".join((item.help or "").split())) for item in found]


def _script(shell: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), f"hermes.{shell}"), encoding="utf-8") as file:
        return file.read()
