"""`hermes prompt cost`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, Built, build, prompt_options
from hermes.cli.plots import check_plot, draw, plot_option
from hermes.cli.screen import plain, show_notices
from hermes.cli.stored import listed_tools
from hermes.provenance import as_data
from hermes.text import many

if TYPE_CHECKING:
    from hermes.inspect.cost import PromptCost, Row


@click.command("cost")
@prompt_options
@click.option("--calls", default=100, show_default=True, type=click.IntRange(1), help="Over so many calls.")
@plot_option
@as_json_option
def command(asked: Asked, calls: int, plot: str, as_json: bool) -> None:
    """What every section of the prompt costs, over 100 turns of one call each that find it cached."""
    from hermes.inspect.cost import prompt_cost

    path, built = check_plot(plot), build(asked)
    found = prompt_cost(built.prompt, listed_tools(built), built.facts.model, calls)
    _draw(path, found)
    if as_json:
        return _show_json(found, built)
    for line in _table(found):
        click.echo(plain(line))
    return show_notices(built.notices)


def _draw(path: str, found: PromptCost) -> None:
    from hermes.wire.economics import dollars
    from hermes.wire.plot import Bar

    known = found.total.total is not None

    def bar(row: Row) -> Bar:
        if row.first is None or row.total is None:
            return Bar(row.section, (float(row.tokens), 0.0), f"{row.tokens:,} tokens")
        return Bar(row.section, (row.first, row.total - row.first), dollars(row.total))

    title = f"{many(found.calls, 'call')} of {found.model}" if known else "tokens by section"
    draw(
        path,
        title,
        ("first call", "all others") if known else ("tokens",),
        [bar(row) for row in found.rows],
    )


def _show_json(found: PromptCost, built: Built) -> None:
    body = asdict(found)
    body["rates"] = found.rates._asdict()
    body["pays_from"] = dict(found.pays_from)
    body["notices"] = [as_data(n) for n in built.notices]
    print_json(body)


def _table(found: PromptCost) -> list[str]:
    head = ("tokens", "first call", "each cached", many(found.calls, "call"), "uncached", "a change")
    lines = [f"{'section':<24}" + "".join(f"{name:>13}" for name in head)]

    def line(row: Row) -> str:
        amounts = (row.first, row.cached, row.total, row.plain, row.change)
        figures = "".join(f"{_money(amount):>13}" for amount in amounts)
        return f"{row.section[:24]:<24}{row.tokens:>13,}{figures}"

    lines += [line(row) for row in (*found.rows, found.total)]
    return [*lines, "", *_words(found)]


def _money(amount: float | None) -> str:
    """An amount that may be very small."""
    if amount is None:
        return "-"
    return f"${amount:.6f}" if amount < 0.01 else f"${amount:,.4f}"


def _words(found: PromptCost) -> list[str]:
    lines = [f"model: {found.model or 'none named'}; tokens: {found.method}"]
    lines.append(
        f"prices: {found.prices}"
        if found.prices
        else f"no prices are known for {found.model}; models: in config.yaml can name them"
    )
    if found.kind == "unknown":
        lines.append("how this model is cached is not known")
    elif found.kind == "none":
        lines.append("this model has no prompt cache: every call pays for the whole prompt")
    elif not found.reached and found.minimum is not None:
        lines.append(
            f"the prompt alone is shorter than the {found.minimum:,} tokens from which this model's cache "
            "begins; it is cached once the conversation reaches that, and paid in full until then"
        )
    for name, call in found.pays_from:
        says = "never pays" if call is None else f"pays from call {call} on"
        lines.append(f"break-even: written for {name}, caching {says}" if found.prices else "")
    lines.append(
        "a change: what is written again, with all behind it, when the section changes in mid-session"
    )
    return [text for text in lines if text]
