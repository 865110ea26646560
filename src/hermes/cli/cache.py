"""`hermes cache`: what came from the provider's cache, what did not, and why."""

from __future__ import annotations

import click

from hermes.cli.lazy import LazyGroup

SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "cost": ("hermes.cli.cache_cost:command", "What calls have cost, by call, session, day or model."),
    "fleet": ("hermes.cli.cache_fleet:command", "Which sessions share what their prompts begin with."),
    "pending": ("hermes.cli.cache_pending:command", "What waits for the next boundary of a session."),
    "prune": ("hermes.cli.cache_prune:command", "Take away the bodies of old requests."),
    "report": ("hermes.cli.cache_report:command", "What came from the cache, and what did not."),
    "import": ("hermes.cli.cache_import:command", "What the cache made of another application's calls."),
    "simulate": ("hermes.cli.cache_simulate:command", "What other ways to use the cache would have cost."),
    "why": ("hermes.cli.cache_why:command", "Why a call did not come from the cache."),
}


@click.group(cls=LazyGroup, table=SUBCOMMANDS)
def group() -> None:
    """What the provider's prompt cache did for your sessions, and why it did no more."""
