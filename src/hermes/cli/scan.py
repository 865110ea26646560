"""`hermes scan`: what the gate would say of files, before they are in a prompt."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict

import click

from hermes.agent.second_opinion import second_opinion
from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.in_place import in_place, visible
from hermes.cli.scan_files import POLICY_NAMES, PolicyName, Rules, Scanned, scan_bytes, scan_path
from hermes.cli.screen import show_notices, wants_colour
from hermes.config import load_config
from hermes.errors import FileRefused
from hermes.paths import get_hermes_home
from hermes.provenance import Notice
from hermes.security.found import keep_found
from hermes.security.gate import quoted
from hermes.security.policy import Policies
from hermes.security.scan import scanner_version
from hermes.security.trust import load_trust
from hermes.text import many

STDIN = "<stdin>"
_COLOURS = {"blocked": "red", "redacted": "red", "warned": "yellow"}


@click.command("scan")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option(
    "--policy",
    type=click.Choice(POLICY_NAMES),
    help="Whose text it is taken for; by default that depends on where a file lies.",
)
@click.option("--all", "everything", is_flag=True, help="In folders every file, not only texts for prompts.")
@as_json_option
@click.option("--sarif", "as_sarif", is_flag=True, help="For code hosts and editors (SARIF 2.1.0).")
@click.option("-q", "--quiet", is_flag=True, help="Only the exit code.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    policy: PolicyName | None,
    everything: bool,
    as_json: bool,
    as_sarif: bool,
    quiet: bool,
) -> None:
    """Look for prompt injection in files, folders and skills; - is the standard input.

    In a folder: context files, .md, .mdc and .txt, and every file of a skill.

    \b
    Exit codes: 0  nothing, or only warnings
                1  something would be kept out of a prompt
                2  a path cannot be read, or the options make no sense; other
                   paths are looked at all the same
    """
    if as_json and as_sarif:
        raise click.UsageError("--json and --sarif exclude each other", ctx)
    home = get_hermes_home()
    config, trusted = load_config(home), load_trust(home)
    keep_found(home.cache)
    policies = Policies.from_config(config.security.scan, trusted.digests, second_opinion(config, home))
    rules = Rules(home, policies, policy)
    results = [scanned for path in paths for scanned in _scan(path, rules, everything)]
    if as_json:
        print_json(_as_json(results))
    elif as_sarif:
        from hermes.cli.sarif import sarif

        print_json(sarif(results))
    elif not quiet:
        _show(results)
    if not quiet:
        unread = (
            Notice("warning", f"{visible(r.name)} was not read: {visible(r.problem)}")
            for r in results
            if r.outcome == "not read"
        )
        failed = {notice.text: notice for r in results for notice in r.notices}
        show_notices((*config.notices, *trusted.notices, *unread, *failed.values()))
    shut = [r for r in results if r.outcome == "no path"]
    for scanned in shut:
        name = visible(scanned.name) or "a path without a name"
        click.echo(f"Error: {name} cannot be scanned: {visible(scanned.problem)}", err=True)
    if shut:
        ctx.exit(2)
    ctx.exit(1 if any(r.kept_out for r in results) else 0)


def _scan(path: str, rules: Rules, everything: bool) -> list[Scanned]:
    try:
        if path == "-":
            return [scan_bytes(STDIN, sys.stdin.buffer.read(), rules)]
        return list(scan_path(path, rules, everything=everything))
    except FileRefused as refused:
        return [Scanned(path, "", "no path", problem=str(refused))]


def _show(results: list[Scanned]) -> None:
    colour = wants_colour(sys.stdout)
    for scanned in results:
        notes = ["" if done == "block" else done for done in scanned.done]
        for line in in_place(scanned.name, scanned.text, scanned.findings, notes):
            click.echo(line, color=colour)
        if scanned.findings:
            click.echo(_verdict(scanned), color=colour)
            click.echo()
    counted = Counter(scanned.outcome for scanned in results if scanned.outcome != "no path")
    parts = [f"{number} {outcome}" for outcome, number in sorted(counted.items())]
    if parts:
        click.echo(f"{many(counted.total(), 'file')} scanned: {', '.join(parts)}")
    elif not results:
        click.echo("no file to scan there")


def _verdict(scanned: Scanned) -> str:
    """What becomes of a file, and how its owner has it otherwise."""
    name = visible(scanned.name)
    what = {
        "blocked": f"{name} would be blocked",
        "redacted": f"{name} would lose these lines",
        "warned": f"{name} would be loaded with a warning",
        "accepted": f"{name} was accepted and would be loaded",
    }.get(scanned.outcome, f"{name} would be loaded")
    line = click.style(what, fg=_COLOURS.get(scanned.outcome), bold=True) + f" (policy: {scanned.policy})"
    if scanned.kept_out and scanned.name != STDIN:
        line += f"\nTo accept this content as it is: hermes trust {visible(quoted(scanned.name))}"
    return line


def _as_json(results: list[Scanned]) -> dict[str, object]:
    files = []
    for scanned in results:
        findings = [
            {**asdict(f), "done": done} for f, done in zip(scanned.findings, scanned.done, strict=True)
        ]
        files.append(
            {
                "path": scanned.name,
                "outcome": scanned.outcome,
                "policy": scanned.policy,
                "digest": scanned.digest,
                "findings": findings,
                **({"problem": scanned.problem} if scanned.problem else {}),
            }
        )
    ok = not any(r.kept_out or r.outcome == "no path" for r in results)
    return {"scanner": scanner_version(), "ok": ok, "files": files}
