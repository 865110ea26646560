"""`hermes prompt as`."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict

import click

from hermes.agent.system_prompt import build_system_prompt, default_slots, load_sources
from hermes.agent.workdir import find_project
from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, facts_asked
from hermes.cli.screen import plain, show_notices, wants_colour
from hermes.inspect.rivals import NOT_ITS_OWN, Survey, names, survey
from hermes.text import many

_MARKS = {"loaded": "+", "on demand": "o", "ignored": "-"}
_COLOURS = {"loaded": "green", "on demand": "yellow", "ignored": None}


class _AgentName(click.ParamType[str]):
    name = "agent"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in (*names(), "all"):
            self.fail(f"{value!r} is not known; expected all or any of {', '.join(names())}", param, ctx)
        return value


@click.command("as")
@click.argument("agents", nargs=-1, required=True, type=_AgentName(), metavar="AGENT...")
@click.option("--cwd", default="", help="Work in this directory.", metavar="DIR")
@click.option("--model", default="", help="The model whose tokens are counted.", metavar="MODEL")
@as_json_option
def command(agents: tuple[str, ...], cwd: str, model: str, as_json: bool) -> None:
    """Which instruction files AGENT would load here: codex, claude, gemini, cursor, copilot, cline, windsurf,
    hermes, or all of them side by side.

    It lists, by documented rules with a date and a source; nothing is executed.
    """
    wanted = names() if "all" in agents else tuple(dict.fromkeys(agents))
    sources = load_sources()
    facts, notices = facts_asked(Asked(cwd, model=model), sources)
    project = find_project(facts.cwd.path)
    prompt = build_system_prompt(default_slots(sources), facts, config_digest=sources.config.digest)
    user_home = os.path.realpath(os.path.expanduser("~"))
    found = survey(wanted, project, user_home, prompt, facts.model)
    if as_json:
        print_json(asdict(found))
        return
    show_notices(notices)
    for line in table(found) if len(wanted) > 1 else listing(found):
        click.echo(line, color=wants_colour(sys.stdout))


def table(found: Survey) -> list[str]:
    """Files against agents: a mark each, the totals, and the reasons below."""
    totals = {
        "files": [f"{c.files:,}" for c in found.columns],
        "bytes": [f"{c.bytes:,}" for c in found.columns],
        "tokens": [f"{c.tokens:,}" for c in found.columns],
    }
    widths = [max(len(c.name), *(len(t[at]) for t in totals.values())) for at, c in enumerate(found.columns)]
    left = max((len(plain(r.path)) for r in found.rows), default=0)
    left = max(left, len("tokens"))
    head = " " * left + "".join(f"  {c.name:>{w}}" for c, w in zip(found.columns, widths, strict=True))
    lines = [click.style(head, bold=True)]
    for row in found.rows:
        cells = [
            click.style(
                f"  {'.' if load.reason == NOT_ITS_OWN else _MARKS[load.state]:>{w}}", fg=_COLOURS[load.state]
            )
            for load, w in zip(row.loads, widths, strict=True)
        ]
        lines.append(f"{plain(row.path):<{left}}{''.join(cells)}")
    for name, values in totals.items():
        cells = [f"  {v:>{w}}" for v, w in zip(values, widths, strict=True)]
        lines.append(f"{name:<{left}}{''.join(cells)}")
    lines += ["", f"+ loaded at the start   o on demand   - passed over   . {NOT_ITS_OWN}"]
    lines.append(f"tokens: {found.method}")
    return [*lines, *_reasons(found), "", *_sources(found)]


def _reasons(found: Survey) -> list[str]:
    lines = []
    for row in found.rows:
        said: dict[tuple[str, str], list[str]] = {}
        for column, load in zip(found.columns, row.loads, strict=True):
            if load.reason and load.reason != NOT_ITS_OWN:
                said.setdefault((load.state, load.reason), []).append(column.name)
        if said:
            lines += ["", plain(row.path)]
        lines += [plain(f"  {', '.join(who)}: {state}, {reason}") for (state, reason), who in said.items()]
    return lines


def listing(found: Survey) -> list[str]:
    """What one agent does with each file."""
    column = found.columns[0]
    lines = []
    for row in found.rows:
        load = row.loads[0]
        size = f"{load.bytes:,} bytes, {load.tokens:,} tokens" if load.state == "loaded" else ""
        about = "; ".join(filter(None, (size, load.reason)))
        state = click.style(f"{load.state:<9}", fg=_COLOURS[load.state])
        lines.append(f"{state}  {plain(row.path)}" + (f"  ({plain(about)})" if about else ""))
    total = (
        f"{column.product}: {many(column.files, 'file')}, {column.bytes:,} bytes, {column.tokens:,} tokens"
    )
    return [*lines, "", f"{total} ({found.method})", *_sources(found)]


def _sources(found: Survey) -> list[str]:
    return [
        f"{c.product}: "
        + (f"our reading of {c.as_of}, not tried on it; see {c.source}" if c.as_of else c.source)
        for c in found.columns
    ]
