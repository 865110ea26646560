"""`hermes cache simulate`: what stored sessions would have cost under other ways to use the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.plots import CLASSES, check_plot, draw, plot_option
from hermes.cli.screen import plain
from hermes.cli.sessions_keep import moment_of_age
from hermes.cli.stored import known_profiles, pasts_of
from hermes.errors import UsageError
from hermes.text import many

if TYPE_CHECKING:
    from hermes.contracts import ModelProfile
    from hermes.prompt import SystemPrompt
    from hermes.wire.past import Past
    from hermes.wire.policies import Other, Policy
    from hermes.wire.simulate import Advice, Outcome


@click.command("simulate")
@click.argument("sessions", nargs=-1)
@click.option("--since", default="", metavar="AGE", help="Used since: 12h, 7d, 8w, or a day.")
@click.option(
    "-n", "--limit", default=20, show_default=True, type=click.IntRange(1), help="So many sessions."
)
@click.option("--model", "models", multiple=True, metavar="MODEL", help="As if this model had answered.")
@click.option("--pings", type=click.IntRange(0), help="At most so many between two calls, to keep warm.")
@plot_option
@as_json_option
def command(
    sessions: tuple[str, ...],
    since: str,
    limit: int,
    models: tuple[str, ...],
    pings: int | None,
    plot: str,
    as_json: bool,
) -> None:
    """Play SESSIONS again, or the last used, as if marks, lifetimes, prompt or model had been others.

    The bytes and the times of the calls are the real ones. Tokens of a call that was sent as it stands are
    those that the provider counted; how they fall into classes follows from the rules of its cache.
    """
    from hermes.wire.simulate import advise, compare

    path, profile_for = check_plot(plot), known_profiles()
    found = [p for p in pasts_of(sessions, moment_of_age(since) if since else "", limit) if p.calls]
    if not found:
        raise UsageError("no session has a call whose bytes are kept; hermes sessions list shows them")
    last = found[0].calls[-1]
    profile = profile_for(last.model, last.provider)
    outcomes = compare(found, _ways(found, profile, models, pings), profile_for)
    advice = advise(outcomes, found, profile)
    title = f"sessions: {len(found)}, calls: {outcomes[0].calls}, model: {profile.name}"
    _draw(path, title, outcomes, profile)
    if as_json:
        return print_json(_data(found, outcomes, advice, profile))
    for line in (*_table(outcomes), "", *_words(found, advice, profile)):
        click.echo(plain(line))
    return None


def _ways(
    found: Sequence[Past], profile: ModelProfile, models: Sequence[str], pings: int | None
) -> tuple[Policy, ...]:
    from hermes.wire.economics import pings_that_pay
    from hermes.wire.policies import Policy, policies

    ways = [*policies(profile.cache, pings_that_pay(profile) if pings is None else pings)]
    if any(texts for past in found for texts in past.said.values()):
        ways.append(Policy("changes rewrite the prompt", rewrites=True))
    if any(wire.epoch == "refresh" for past in found for wire in past.calls):
        ways.append(Policy("changes told at the tail", delta=_delta))
    for name in models:
        other = _other(name)
        ways.append(Policy(f"answered by {other.profile.name}", "all", other=other))
    return tuple(ways)


def _delta(before: SystemPrompt, after: SystemPrompt) -> str:
    """What is told of a changed prompt: the words that the agent would use."""
    from hermes.agent.changes import changed_since

    return "\n\n".join(overlay.annex.text for overlay in changed_since(before, after))


def _other(name: str) -> Other:
    from hermes.config import load_config
    from hermes.paths import get_hermes_home
    from hermes.providers.client import codec_for
    from hermes.providers.resolve import resolve
    from hermes.wire.policies import Other

    endpoint, profile = resolve(name, load_config(get_hermes_home()))
    return Other(profile, codec_for(endpoint))


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    from hermes.wire.economics import dollars

    head = ("uncached", "read", "written", "long", "output")
    lines = [f"{'policy':<28}" + "".join(f"{name:>12}" for name in head) + f"{'missed':>8}{'dollars':>12}"]
    for o in outcomes:
        figures = "".join(f"{count:>12,}" for count in o.tokens)
        missed = "" if o is outcomes[0] else str(o.misses)
        pings = f" ({many(o.pings, 'ping')})" if o.pings else ""
        money = dollars(o.cost) if not o.abstained else "not known"
        lines.append(f"{o.policy.name + pings:<28}{figures}{missed:>8}{money:>12}")
    return lines


def _words(found: Sequence[Past], advice: Advice, profile: ModelProfile) -> list[str]:
    from hermes.wire.economics import price_source, unpriced

    source = price_source(profile)
    lines = [f"prices of {profile.name}: {source}" if source else unpriced(profile)]
    if lost := sum(past.lost for past in found):
        lines.append(f"left out: {many(lost, 'call')}, since what was sent is kept no longer")
    lines += advice.arithmetic
    if advice.set:
        lines.append(f"recommended: {advice.set} in config.yaml")
    return lines


def _data(
    found: Sequence[Past], outcomes: Sequence[Outcome], advice: Advice, profile: ModelProfile
) -> dict[str, Any]:
    from hermes.wire.economics import Rates, price_source

    return {
        "sessions": [past.session for past in found],
        "lost": sum(past.lost for past in found),
        "model": profile.name,
        "rates": Rates.of(profile)._asdict(),
        "prices": price_source(profile),
        "policies": [
            {
                "policy": o.policy.name,
                "set": o.policy.set,
                "calls": o.calls,
                "pings": o.pings,
                "missed": o.misses,
                "tokens": o.tokens._asdict(),
                "cost": o.cost,
                "abstained": o.abstained,
            }
            for o in outcomes
        ],
        "advice": asdict(advice),
    }


def _draw(path: str, title: str, outcomes: Sequence[Outcome], profile: ModelProfile) -> None:
    from hermes.cli.plots import parts_of
    from hermes.wire.economics import Rates, dollars
    from hermes.wire.plot import Bar

    rates = Rates.of(profile) if Rates.of(profile).known else None
    rows = [
        Bar(
            o.policy.name,
            parts_of(o.tokens, Rates.of(o.policy.other.profile) if o.policy.other and rates else rates),
            dollars(o.cost) if rates else f"{o.tokens.input:,}",
        )
        for o in outcomes
    ]
    draw(path, title, CLASSES, rows)
