"""`hermes cache prune`: take away what old requests were made of."""

from __future__ import annotations

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.cli.sessions import use_store
from hermes.cli.sessions_keep import moment_of_age
from hermes.errors import ConfigError, UsageError
from hermes.sessions.base import ScriptStore
from hermes.text import many


@click.command("prune")
@click.option("--older-than", default="", metavar="AGE", help="Made before: 12h, 90d, 8w, or a day.")
@click.option("--calls", type=click.IntRange(1), help="All but the last so many calls of each session.")
@click.option("--session", default="", help="Only of this session.")
@as_json_option
def command(older_than: str, calls: int | None, session: str, as_json: bool) -> None:
    """Take away the bodies of old requests, as cache.keep_bodies says or as given here.

    Messages, usage and digests stay; a session that is continued goes on with its messages sent anew.
    """
    before = moment_of_age(older_than) if older_than else ""
    if not before and calls is None:
        before, calls = _configured()

    async def drop(store: ScriptStore) -> int:
        name = await store.resolve(session) if session else ""
        return await store.drop_bodies(before, calls, name)

    freed = use_store(drop, changes=True)
    if as_json:
        return print_json({"bytes": freed})
    click.echo(plain(f"{many(freed, 'byte')} of old requests were taken away; their digests stay"))
    return None


def _configured() -> tuple[str, int | None]:
    """The policy of config.yaml: the time before which, the number of calls beyond which, none is kept."""
    from datetime import UTC, datetime

    from hermes.config import load_config
    from hermes.paths import get_hermes_home
    from hermes.sessions.bodies import Retention

    value = load_config(get_hermes_home()).cache.keep_bodies
    kept = Retention.read(value)
    if kept is None:
        raise ConfigError(f"cache.keep_bodies is 30 days, or a number of calls, not {value!r}")
    if kept == Retention():
        raise UsageError(
            "nothing says what is to be kept: set cache.keep_bodies, or say --older-than or --calls"
        )
    return kept.before(datetime.now(UTC)), kept.calls
