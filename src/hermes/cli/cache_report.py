"""`hermes cache report`: what came from the cache, session by session or call by call, and what did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.screen import plain
from hermes.cli.sessions_keep import moment_of_age
from hermes.cli.stored import review_session, review_sessions

if TYPE_CHECKING:
    from hermes.wire.report import Report, Sum
    from hermes.wire.review import Entry


@click.command("report")
@click.argument("session", required=False)
@click.option("--since", default="", metavar="AGE", help="Used since: 12h, 7d, 8w, or a day.")
@click.option(
    "-n", "--limit", default=20, show_default=True, type=click.IntRange(1), help="So many sessions."
)
@as_json_option
def command(session: str | None, since: str, limit: int, as_json: bool) -> None:
    """The cache, call by call for one SESSION, or session by session; sums by cause of what missed."""
    from hermes.wire.report import by_cause, report, totals

    if session:
        entries = review_session(session)
        if as_json:
            return print_json([e.to_data() for e in entries])
        _calls(entries)
        return _causes(by_cause(entries))
    until = moment_of_age(since) if since else ""
    found = [report(s.id, s.title, entries) for s, entries in review_sessions(until, limit) if entries]
    if as_json:
        causes = {cause: asdict(total) for cause, total in totals(found)}
        return print_json({"sessions": [asdict(r) for r in found], "causes": causes})
    _sessions(found)
    return _causes(totals(found))


def _calls(entries: Sequence[Entry]) -> None:
    from hermes.wire.report import hit_shares, spark

    if not entries:
        return click.echo("this session has made no call yet")
    click.echo(spark(hit_shares(entries)))
    click.echo(f"{'call':>5} {'in':>9} {'read':>9} {'':5} {'written':>9} {'missed':>9}  verdict")
    for entry, share in zip(entries, hit_shares(entries), strict=True):
        v = entry.verdict
        told = v.cause if v.is_calm else f"{v.cause}: {v.because}"
        click.echo(
            f"{v.call:5} {v.input:9,} {v.read:9,} {share:5.0%} {v.written:9,} {v.missed:9,}  {plain(told)}"
        )
    return None


def _sessions(found: Sequence[Report]) -> None:
    from hermes.wire.report import spark

    if not found:
        return click.echo("no session has made a call")
    width = max(len(r.session) for r in found)
    for r in found:
        calls = f"{r.calls:5} {'call ' if r.calls == 1 else 'calls'}"
        line = f"{plain(r.session):{width}} {calls} {r.input:11,} in {r.share:5.0%} cached"
        click.echo(f"{line}  {spark(r.shares, 20)}  {plain(r.title)}".rstrip())
    return None


def _causes(causes: Sequence[tuple[str, Sum]]) -> None:
    if not causes:
        return click.echo("nothing missed the cache")
    click.echo()
    click.echo(f"{'cause':10} {'calls':>6} {'tokens paid again':>18} {'dollars':>9}")
    for cause, total in causes:
        cost = "unknown" if total.cost is None else f"{total.cost:.4f}"
        click.echo(f"{cause:10} {total.calls:6} {total.missed:18,} {cost:>9}")
    return None
