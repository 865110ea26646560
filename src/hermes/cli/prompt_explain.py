"""`hermes prompt explain`."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict

import click

from hermes.cli.build import Asked, Built, build, prompt_options
from hermes.cli.screen import show_notices, wants_colour
from hermes.inspect.explain import Culprit, Explanation, Part, Row, explain, who_put
from hermes.provenance import as_data

_BAR = 12
_TIER_COLOURS = {"stable": "green", "context": "blue", "volatile": "magenta"}


@click.command("explain")
@prompt_options
@click.option("--text", default="", help="Who put this text there?", metavar="TEXT")
@click.option("--offset", type=int, default=None, help="Who put this character there?", metavar="N")
@click.option("--decisions", is_flag=True, help="List every candidate and what became of it.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def command(asked: Asked, text: str, offset: int | None, decisions: bool, as_json: bool) -> None:
    """A table of the prompt's sections: where each comes from and what it costs.

    With --text or --offset: the file, the line, what was done to it, and the commit that wrote it.
    """
    built = build(asked)
    if text or offset is not None:
        _show_culprits(who_put(built.prompt, text=text, offset=offset), as_json)
        return
    explanation = explain(built.prompt, built.facts.model)
    if as_json:
        _show_json(explanation, built)
        return
    for line in table(explanation, shutil.get_terminal_size((100, 24)).columns):
        click.echo(line, color=wants_colour(sys.stdout))
    if decisions:
        _show_decisions(built)
    show_notices(built.notices)


def _show_json(explanation: Explanation, built: Built) -> None:
    body = asdict(explanation)
    body["notices"] = [as_data(n) for n in built.notices]
    body["decisions"] = [as_data(d) for d in built.prompt.decisions]
    click.echo(json.dumps(body, ensure_ascii=False, indent=1))


def _show_culprits(culprits: tuple[Culprit, ...], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([asdict(c) for c in culprits], ensure_ascii=False, indent=1))
        return
    for c in culprits:
        place = f"{c.path}:{c.line}" if c.line else c.path or f"Hermes itself ({c.origin})"
        click.echo(f"{place}")
        click.echo(f"  stands at     {c.tier or '-'} / {c.section}, character {c.offset}")
        click.echo(f"  vouched for   {c.trust}")
        if c.transforms:
            click.echo(f"  was           {', '.join(c.transforms)}")
        if c.commit:
            click.echo(f"  written by    {c.commit}")


def _show_decisions(built: Built) -> None:
    click.echo()
    click.echo("Every candidate that was looked at:")
    for d in built.prompt.decisions:
        click.echo(f"  {d.verdict:<16} {d.path or '-'}" + (f"  ({d.detail})" if d.detail else ""))


def table(explanation: Explanation, width: int) -> list[str]:
    """The explanation as lines for a terminal of that width, styled."""
    width = max(60, min(width, 140))
    name = width - 36 - _BAR
    head = f"{'tier / section':<{name}}{'chars':>9}{'tokens':>9}{'share':>8}  "
    lines = [click.style(head.rstrip(), bold=True)]
    tier = ""
    for row in explanation.rows:
        if row.tier != tier:
            tier = row.tier
            lines.append(click.style(tier, fg=_TIER_COLOURS[tier], bold=True))
        lines.append(_row(row, name))
        lines += [_part(part, name) for part in row.parts if len(row.parts) > 1 or part.path]
    lines.append(f"{'total':<{name}}{explanation.chars:>9,}{explanation.tokens:>9,}{'100 %':>8}")
    lines.append(f"tokens: {explanation.method}")
    return lines


def _row(row: Row, name: int) -> str:
    bar = "█" * round(row.share * _BAR) or "▏"
    label = f"  {row.section}" + _count(len(row.notices))
    share = f"{row.share * 100:.1f} %"
    return f"{_fit(label, name)}{row.chars:>9,}{row.tokens:>9,}{share:>8}  {bar}"


def _count(notices: int) -> str:
    return f" ({notices} notice{'s' if notices > 1 else ''})" if notices else ""


def _part(part: Part, name: int) -> str:
    lines = f":{part.first_line}-{part.last_line}" if part.first_line else ""
    done = f" [{', '.join(part.transforms)}]" if part.transforms else ""
    label = _fit(f"    {_shorten(part.path + lines, name - 5 - len(done))}{done}", name)
    return click.style(f"{label}{part.chars:>9,}{part.tokens:>9,}", dim=True)


def _fit(text: str, width: int) -> str:
    return text[: width - 1].ljust(width) if len(text) >= width else text.ljust(width)


def _shorten(path: str, width: int) -> str:
    """A long path loses its head: the file's name is what people look for."""
    return path if len(path) <= width or width < 8 else "…" + path[-(width - 1) :]
