"""`hermes prompt lint`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import click

from hermes.agent.workdir import find_project
from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, Built, build, prompt_options
from hermes.cli.screen import plain, show_notices, wants_colour
from hermes.errors import FileRefused, HermesError, UsageError
from hermes.files import read_file, replace_file
from hermes.inspect.lint import baseline
from hermes.inspect.lint.finding import LEVELS, RULES, Finding, Level
from hermes.inspect.lint.report import body, lines, summary
from hermes.inspect.lint.run import choose, lint, reaches
from hermes.inspect.lint.subject import Subject, look_at
from hermes.provenance import Notice
from hermes.providers.tokens import count_tokens
from hermes.text import many

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


class _Misused(click.ClickException):
    """Exit code 2 tells CI that nothing was judged; 1 is for findings."""

    exit_code = 2


@click.command("lint")
@prompt_options
@click.option("--select", default="", help="Only these rules or families, with commas.", metavar="RULES")
@click.option("--ignore", default="", help="Not these rules or families, with commas.", metavar="RULES")
@click.option("--baseline", "known", default="", help="Leave out the findings in FILE.", metavar="FILE")
@click.option("--write-baseline", "write", default="", help="Write all findings to FILE.", metavar="FILE")
@click.option(
    "--max-level",
    type=click.Choice(LEVELS),
    default="warning",
    show_default=True,
    help="Exit code 1 from this level up.",
)
@click.option("--rules", "list_rules", is_flag=True, help="List the rules.")
@as_json_option
@click.option("--sarif", "as_sarif", is_flag=True, help="SARIF 2.1.0, for code hosts and editors.")
@click.pass_context
def command(
    ctx: click.Context,
    asked: Asked,
    select: str,
    ignore: str,
    known: str,
    write: str,
    max_level: Level,
    list_rules: bool,
    as_json: bool,
    as_sarif: bool,
) -> None:
    """Look through every file behind the prompt, those that never load too.

    Finds rules that repeat or contradict one another, paths and commands that do not exist, files that
    never load, secrets, invisible characters, and what costs too much. Exit codes: 0 nothing at --max-level
    or above, 1 something, 2 it could not be done.
    """
    if list_rules:
        _list_rules(as_json)
        return
    try:
        if as_json and as_sarif:
            raise UsageError("--json and --sarif are two forms of the same; choose one")
        rules = choose(_names(select), _names(ignore))
        entries = baseline.from_text(_read(known), known) if known else ()
        built = build(asked)
        subject, root = _subject(built)
        findings = lint(subject, rules)
        if write:
            _write(write, findings)
            return
    except HermesError as error:
        raise _Misused(str(error)) from None
    judged = baseline.judge(findings, entries, rules)
    if as_json:
        print_json(body(judged, len(subject.sources)))
    elif as_sarif:
        from hermes.inspect.lint.sarif import sarif

        log = sarif(judged, root=root, home=built.sources.home.root)
        print_json(log)
    else:
        _show(judged, subject)
    # What the prompt itself gives notice of is a finding here; the rest (home, configuration) still is news.
    show_notices((n for n in built.notices if n not in built.prompt.notices), quiet=True)
    show_notices(_stale(judged, known))
    ctx.exit(int(reaches(judged.new, max_level)))


def _subject(built: Built) -> tuple[Subject, str]:
    root = find_project(built.facts.cwd.path).root
    model = built.facts.model
    subject = look_at(
        built.prompt,
        root=root,
        home=built.sources.home.root,
        window=model.context_window,
        count=lambda text: count_tokens(text, model).tokens,
    )
    return subject, root


def _show(judged: baseline.Judged, subject: Subject) -> None:
    colour = wants_colour(sys.stdout)
    for place, level, told in lines(judged):
        label = click.style(level, fg=_COLOURS[level], bold=True)
        click.echo(f"{plain(place)}: {label}: {plain(told)}", color=colour)
    click.echo(summary(judged, len(subject.sources)))


def _list_rules(as_json: bool) -> None:
    if as_json:
        print_json([{"id": r.id, "level": r.level, "title": r.title} for r in RULES.values()])
        return
    for rule in RULES.values():
        click.echo(f"{rule.id:<24}{rule.level:<9}{rule.title}")


def _stale(judged: baseline.Judged, name: str) -> Iterable[Notice]:
    if judged.stale:
        named = "; ".join(plain(f"{e.file}: {e.message}") for e in judged.stale[:3])
        more = f"; and {len(judged.stale) - 3} more" if len(judged.stale) > 3 else ""
        entries = many(len(judged.stale), "entry", "entries")
        yield Notice("info", f"{name} has {entries} that nothing answers to any more: {named}{more}")


def _names(given: str) -> tuple[str, ...]:
    return tuple(name for part in given.split(",") if (name := part.strip()))


def _read(path: str) -> str:
    try:
        return read_file(os.path.abspath(path)).data.decode("utf-8", "replace")
    except FileRefused as error:
        raise UsageError(f"the baseline {path} cannot be read: {error}") from None


def _write(path: str, findings: tuple[Finding, ...]) -> None:
    try:
        replace_file(path, baseline.to_text(findings).encode("utf-8"), mode=0o644)
    except OSError as error:
        raise UsageError(f"{path} could not be written: {(error.strerror or str(error)).lower()}") from None
    click.echo(f"{path}: {many(len(findings), 'finding')}")
