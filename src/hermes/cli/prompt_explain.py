"""`hermes prompt explain`."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict

import click

from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, Built, build, prompt_options
from hermes.cli.screen import plain, show_notices, wants_colour
from hermes.errors import UsageError
from hermes.inspect.explain import Culprit, Explanation, explain, who_put
from hermes.inspect.table import Line, table
from hermes.provenance import as_data

_TIER_COLOURS = {"stable": "green", "context": "blue", "volatile": "magenta"}


@click.command("explain")
@prompt_options
@click.option("--text", default=None, help="Who put this text there?", metavar="TEXT")
@click.option("--offset", type=int, default=None, help="Who put this character there?", metavar="N")
@click.option("--decisions", is_flag=True, help="List every candidate and what became of it.")
@as_json_option
def command(asked: Asked, text: str | None, offset: int | None, decisions: bool, as_json: bool) -> None:
    """A table of the prompt's sections: where each comes from and what it costs.

    With --text or --offset: the file, the line, what was done to it, and the commit that wrote it.
    """
    built = build(asked)
    if text is not None and offset is not None:
        raise UsageError("--text and --offset ask two questions; give one")
    if text is not None or offset is not None:
        _show_culprits(who_put(built.prompt, text=text or "", offset=offset), as_json)
        return
    explanation = explain(built.prompt, built.facts.model)
    if as_json:
        _show_json(explanation, built)
        return
    for line in table(explanation, shutil.get_terminal_size((100, 24)).columns):
        click.echo(_styled(line), color=wants_colour(sys.stdout))
    if decisions:
        _show_decisions(built)
    show_notices(built.notices)


def _show_json(explanation: Explanation, built: Built) -> None:
    body = asdict(explanation)
    body["notices"] = [as_data(n) for n in built.notices]
    body["decisions"] = [as_data(d) for d in built.prompt.decisions]
    print_json(body)


def _show_culprits(culprits: tuple[Culprit, ...], as_json: bool) -> None:
    if as_json:
        print_json([asdict(c) for c in culprits])
        return
    for c in culprits:
        place = f"{c.path}:{c.line}" if c.line else c.path or f"Hermes itself ({c.origin})"
        click.echo(plain(place))
        click.echo(f"  stands at     {c.tier or '-'} / {c.section}, character {c.offset}")
        click.echo(f"  vouched for   {c.trust}")
        if c.transforms:
            click.echo(plain(f"  was           {', '.join(c.transforms)}"))
        if c.commit:
            click.echo(plain(f"  written by    {c.commit}"))


def _show_decisions(built: Built) -> None:
    click.echo()
    click.echo("Every candidate that was looked at:")
    for d in built.prompt.decisions:
        click.echo(plain(f"  {d.verdict:<16} {d.path or '-'}" + (f"  ({d.detail})" if d.detail else "")))


def _styled(line: Line) -> str:
    text = plain(line.text)
    if line.kind == "tier":
        return click.style(text, fg=_TIER_COLOURS[line.tier], bold=True)
    return click.style(text, bold=line.kind == "head" or None, dim=line.kind == "part" or None)
