"""`hermes cache fleet`: sessions grouped by what their prompts begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.plots import check_plot, draw, plot_option
from hermes.cli.screen import plain
from hermes.cli.sessions import use_store
from hermes.cli.sessions_keep import moment_of_age
from hermes.cli.stored import known_profiles
from hermes.text import many

if TYPE_CHECKING:
    from hermes.sessions.base import ScriptStore
    from hermes.sessions.records import SessionRecord
    from hermes.wire.fleet import Group


@click.command("fleet")
@click.option("--since", default="", metavar="AGE", help="Used since: 12h, 7d, 8w, or a day.")
@click.option(
    "-n", "--limit", default=100, show_default=True, type=click.IntRange(1), help="So many sessions."
)
@plot_option
@as_json_option
def command(since: str, limit: int, plot: str, as_json: bool) -> None:
    """Which sessions share the beginning of their prompts, what parts the others, what moving saves."""
    from hermes.wire.economics import price_source
    from hermes.wire.fleet import fleet

    path, until = check_plot(plot), moment_of_age(since) if since else ""

    async def look(store: ScriptStore) -> list[SessionRecord]:
        found = [await store.get(s.id) for s in await store.list(limit=limit) if s.updated >= until]
        return [record for record in found if record is not None]

    profile_for = known_profiles()
    groups = fleet(use_store(look), profile_for)
    sources = {g.model: price_source(profile_for(g.model, g.provider)) for g in groups}
    _draw(path, groups)
    if as_json:
        return print_json({"groups": [asdict(group) for group in groups], "prices": sources})
    told = [f"prices of {model}: {source}" for model, source in sources.items() if source]
    for line in (*_lines(groups), *told):
        click.echo(plain(line))
    return None


def _lines(groups: Sequence[Group]) -> list[str]:
    from hermes.wire.economics import dollars

    if not groups:
        return ["there are no sessions yet"]
    lines = []
    for number, group in enumerate(groups, 1):
        asked = f"{group.provider}:{group.model}" if group.provider else group.model
        count = len(group.sessions)
        ids = ", ".join(group.sessions[:4]) + (f" and {count - 4} more" if count > 4 else "")
        lines.append(f"group {number}: {many(count, 'session')} of {asked} ({ids})")
        lines.append(
            f"  they share {group.shared:,} of {group.whole:,} tokens; the cache can share {group.cached:,}"
        )
        if split := group.split:
            lines.append(f"  what parts them: {split.section}, {split.source or 'made by Hermes itself'}")
            lines += [f"    {text!r}" for text in split.texts]
            if split.behind:
                money = f", {dollars(split.saving)}" if split.saving is not None else ""
                lines.append(
                    f"  behind it {split.behind:,} tokens are the same in all: moved behind them, it would "
                    f"save writing those {many(len(group.sessions) - 1, 'time')}{money}"
                )
    return lines


def _draw(path: str, groups: Sequence[Group]) -> None:
    from hermes.wire.plot import Bar

    rows = [
        Bar(
            f"{n}: {len(g.sessions)} of {g.model}",
            (g.cached, g.shared - g.cached, g.whole - g.shared),
            f"{g.shared:,} of {g.whole:,}",
        )
        for n, g in enumerate(groups, 1)
    ]
    draw(path, "What sessions share", ("cached", "shared", "of their own"), rows)
