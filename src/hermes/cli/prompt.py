"""`hermes prompt`: see, explain, compare and guard the system prompt."""

from __future__ import annotations

import click

from hermes.cli.lazy import LazyGroup

SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "as": ("hermes.cli.prompt_as:command", "Which files other agents would load here, side by side."),
    "cost": ("hermes.cli.prompt_cost:command", "What every section of the prompt costs."),
    "diff": ("hermes.cli.prompt_diff:command", "Compare two prompts, by layer and with the cause."),
    "explain": ("hermes.cli.prompt_explain:command", "What the prompt is made of, and who put it there."),
    "lint": ("hermes.cli.prompt_lint:command", "Find rules that repeat, contradict or never load."),
    "lock": ("hermes.cli.prompt_lock:group", "Pin the prompt in hermes.lock, and check it in CI."),
    "refresh": ("hermes.cli.prompt_refresh:command", "Build the prompt of a stored session anew."),
    "save": ("hermes.cli.prompt_save:command", "Keep a prompt under a name, to compare with later."),
    "show": ("hermes.cli.prompt_show:command", "Print the exact bytes of the prompt."),
    "where": ("hermes.cli.prompt_where:command", "Did this line reach the model? If not, why?"),
}


@click.group(cls=LazyGroup, table=SUBCOMMANDS)
def group() -> None:
    """See the system prompt and explain every byte of it."""
