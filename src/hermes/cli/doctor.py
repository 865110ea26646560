"""`hermes doctor`."""

from __future__ import annotations

import locale
import sys
import time
from dataclasses import asdict

import click

from hermes.agent.system_prompt import build_system_prompt, default_slots, load_sources
from hermes.agent.workdir import find_project
from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, facts_asked
from hermes.cli.screen import plain, wants_colour
from hermes.inspect.doctor import Patient, Result, Terminal, examine, remove
from hermes.text import many

_COLOURS = {"info": "cyan", "warning": "yellow", "error": "red", None: "green"}


@click.command("doctor")
@click.option("--cwd", default="", help="Look at the project in this directory.", metavar="DIR")
@click.option("--fix", is_flag=True, help="Delete damaged caches and left-over temporary files.")
@as_json_option
@click.pass_context
def command(ctx: click.Context, cwd: str, fix: bool, as_json: bool) -> None:
    """Look for problems in the home, its files, the project and the machine, and say how to mend each.

    Exit code 1 when there is an error. Only --fix changes anything: it deletes what is made anew.
    """
    patient = _patient(cwd)
    results = examine(patient)
    removed = remove(patient, results) if fix else ()
    if as_json:
        body = {"checks": [asdict(r) for r in results], "removed": [list(r) for r in removed]}
        print_json(body)
    else:
        for line in told(results):
            click.echo(line, color=wants_colour(sys.stdout))
        for path, reason in removed:
            click.echo(plain(f"not deleted: {path} ({reason})" if reason else f"deleted: {path}"))
    ctx.exit(1 if any(r.worst == "error" for r in results) else 0)


def _patient(cwd: str) -> Patient:
    sources = load_sources()
    facts, _ = facts_asked(Asked(cwd), sources)
    prompt = build_system_prompt(default_slots(sources), facts, config_digest=sources.config.digest)
    terminal = Terminal(sys.stdout.encoding or "ascii", locale.getpreferredencoding(False))
    return Patient(sources, prompt, find_project(facts.cwd.path), terminal, time.time())


def told(results: tuple[Result, ...]) -> list[str]:
    """The results as lines for a terminal, each problem followed by its remedy."""
    width = max(len(r.check) for r in results)
    lines = []
    for result in results:
        state = click.style(result.worst or "ok", fg=_COLOURS[result.worst])
        facts = [p.text for p in result.problems if p.level == "info"]
        lines.append(f"{result.check:<{width}}  {state}" + (f"  {plain('; '.join(facts))}" if facts else ""))
        for p in result.problems:
            if p.level != "info":
                lines.append(f"  {click.style(p.level, fg=_COLOURS[p.level])}: {plain(p.text)}")
                lines.append(f"    -> {plain(p.remedy)}")
    return [*lines, "", _summary(results)]


def _summary(results: tuple[Result, ...]) -> str:
    levels = [p.level for r in results for p in r.problems]
    errors, warnings = levels.count("error"), levels.count("warning")
    if not errors and not warnings:
        return "All is well."
    counts = [many(n, what) for n, what in ((errors, "error"), (warnings, "warning")) if n]
    return f"{' and '.join(counts)}."
