"""`hermes cache cost`: what stored calls have cost, by call, session, day or model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.plots import CLASSES, check_plot, draw, plot_option
from hermes.cli.screen import plain
from hermes.cli.sessions import use_store
from hermes.cli.sessions_keep import moment_of_age
from hermes.cli.stored import known_profiles
from hermes.text import many

if TYPE_CHECKING:
    from hermes.contracts import ModelProfile
    from hermes.sessions.base import ScriptStore
    from hermes.sessions.records import CallRecord
    from hermes.wire.economics import Bill


class Paid(NamedTuple):
    """A call, whose it is and which model answered."""

    session: str
    call: CallRecord
    profile: ModelProfile


KEYS: dict[str, Callable[[Paid], str]] = {
    "call": lambda paid: f"{paid.session} {paid.call.n}",
    "session": lambda paid: paid.session,
    "day": lambda paid: paid.call.started[:10],
    "model": lambda paid: f"{paid.profile.provider}:{paid.profile.name}".lstrip(":"),
}


@click.command("cost")
@click.argument("session", required=False)
@click.option(
    "--by", type=click.Choice(tuple(KEYS)), default="session", show_default=True, help="A line for each."
)
@click.option("--since", default="", metavar="AGE", help="Used since: 12h, 7d, 8w, or a day.")
@click.option(
    "-n", "--limit", default=100, show_default=True, type=click.IntRange(1), help="So many sessions."
)
@plot_option
@as_json_option
def command(session: str | None, by: str, since: str, limit: int, plot: str, as_json: bool) -> None:
    """What the calls of SESSION, or of the last sessions, have cost: tokens by class, at dated prices."""
    from hermes.wire.economics import Bill, added

    path, until = check_plot(plot), moment_of_age(since) if since else ""
    paid = use_store(lambda store: _paid(store, session, until, limit))
    found: dict[str, Bill] = {}
    for one in paid:
        key = KEYS[by](one)
        found[key] = added(found.get(key, Bill()), one.call.usage, one.profile)
    _draw(path, by, found)
    sources = sorted({source for one in paid if (source := _source(one.profile))})
    if as_json:
        return print_json({"by": by, "rows": [_data(k, b) for k, b in found.items()], "prices": sources})
    for line in (*_table(by, found), *(f"prices: {source}" for source in sources)):
        click.echo(plain(line))
    return None


async def _paid(store: ScriptStore, session: str | None, until: str, limit: int) -> list[Paid]:
    """The calls, the oldest session first, each with the profile of the model that answered."""
    names = [await store.resolve(session)] if session else []
    if not session:
        names = [s.id for s in await store.list(limit=limit) if s.updated >= until][::-1]
    profile_for = known_profiles()
    found = []
    for name in names:
        record = await store.get(name)
        provider = record.provider if record else ""
        asked: dict[str, str] = {}
        for call in await store.calls(name):
            provider = call.provider or provider
            if call.tail not in asked:
                asked[call.tail] = await _model(store, name, call)
            found.append(Paid(name, call, profile_for(asked[call.tail], provider)))
    return found


async def _model(store: ScriptStore, session: str, call: CallRecord) -> str:
    """The model that was asked; where the body is kept no longer, the one that answered."""
    from hermes.errors import StoreError
    from hermes.wire.ledger import split_tail
    from hermes.wire.request import settings_of

    try:
        settings = settings_of(split_tail(await store.blob(session, call.tail))[1])
    except StoreError:
        settings = {}
    return str(settings.get("model", call.model))


def _source(profile: ModelProfile) -> str:
    from hermes.wire.economics import price_source, unpriced

    source = price_source(profile)
    return f"{profile.name}: {source}" if source else unpriced(profile)


def _data(name: str, bill: Bill) -> dict[str, object]:
    return {
        "name": name,
        "calls": bill.calls,
        "tokens": bill.tokens._asdict(),
        "cost": bill.spent,
        "without_cache": bill.without,
        "unpriced": bill.unpriced,
    }


def _table(by: str, found: dict[str, Bill]) -> list[str]:
    from hermes.wire.economics import dollars

    if not found:
        return ["no session has made a call"]
    width = max(12, *(len(name) for name in found)) + 2
    head = ("uncached", "read", "written", "long", "output")
    lines = [
        f"{by:<{width}}{'calls':>7}" + "".join(f"{h:>12}" for h in head) + f"{'dollars':>12}{'no cache':>12}"
    ]
    for name, bill in found.items():
        figures = "".join(f"{count:>12,}" for count in bill.tokens)
        money = f"{dollars(bill.spent):>12}{dollars(bill.without):>12}"
        missing = f"  {many(bill.unpriced, 'call')} without a price" if bill.unpriced else ""
        lines.append(f"{name:<{width}}{bill.calls:>7}{figures}{money}{missing}")
    return lines


def _draw(path: str, by: str, found: dict[str, Bill]) -> None:
    from hermes.wire.economics import dollars
    from hermes.wire.plot import Bar

    rows = [Bar(name, tuple(map(float, bill.tokens)), dollars(bill.spent)) for name, bill in found.items()]
    draw(path, f"tokens by {by}", CLASSES, rows)
