"""`hermes trust`: accept what the scanner stops, by its content, after seeing it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from difflib import unified_diff
from typing import Any

import click

from hermes.agent.workdir import find_project
from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.in_place import in_place, visible
from hermes.cli.screen import show_notices, wants_colour
from hermes.errors import FileRefused, UsageError
from hermes.files import read_file
from hermes.memory.entries import split_entries
from hermes.paths import Home, get_hermes_home
from hermes.provenance import Origin, Passage, digest_of
from hermes.security.found import keep_found
from hermes.security.gate import findings_in
from hermes.security.scan import Finding
from hermes.security.trust import (
    KEPT_CHARS,
    Acceptance,
    KnownProject,
    accept,
    accepted_text,
    forget_project,
    know_project,
    load_trust,
    revoke,
)
from hermes.text import decode, many

_DIFF_LINES = 120
_MEMORIES = frozenset({"MEMORY.md", "USER.md"})


class _FileFirst(click.Group):
    """A group whose first word may be a file: `hermes trust FILE` is `hermes trust add FILE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["add", *args]
        return super().parse_args(ctx, args)


@click.group("trust", cls=_FileFirst, no_args_is_help=True)
def group() -> None:
    """Accept a file that the scanner stopped, by its content; or a project, by its root.

    \b
    hermes trust FILE      show what was found in FILE, and ask
    hermes trust FOLDER    let the context files of a project in, where security.first_use denies them

    What is accepted is the content: any edit voids it. What is in trust.json of your home.
    """


@group.command("add")
@click.argument("path", metavar="FILE|FOLDER")
@click.option("-y", "--yes", is_flag=True, help="Accept without being asked.")
@as_json_option
def add(path: str, yes: bool, as_json: bool) -> None:
    """Show what was found in FILE, in its place, and accept it when you say so."""
    if as_json and not yes:
        raise UsageError("--json answers no question; say --yes when you have read what was found")
    home = get_hermes_home()
    keep_found(home.cache)
    path = os.path.abspath(path)
    if os.path.isdir(path):
        return _add_project(home, path, yes, as_json)
    data = _read(path)
    text, digest = decode(data).text, digest_of(data)
    known = load_trust(home)
    show_notices(known.notices)
    before = known.of_path(path)
    if any(entry.digest == digest for entry in before):
        if as_json:
            return print_json({"accepted": path, "digest": digest, "since": before[-1].date})
        return click.echo(f"{visible(path)} is accepted as it is, since {before[-1].date}")
    findings = findings_in(text) if text else ()
    for line in () if as_json else _shown(home, path, text, findings, before):
        click.echo(line, color=wants_colour(sys.stdout))
    if not yes:
        _ask("Accept this content?")
    found = tuple(dict.fromkeys(f.id for f in findings))
    entry = Acceptance(digest, path, _today(), found, _parts(path, text))
    show_notices(accept(home, entry, text))
    if as_json:
        return print_json({"accepted": path, "digest": digest, "findings": found})
    return click.echo(f"accepted {visible(path)} with the digest {digest[:12]}; any edit voids that")


def _ask(question: str) -> None:
    """Ask; where nobody answers, say how to accept without being asked."""
    answers = sys.stdin.isatty()
    try:
        agreed = click.confirm(question)
    except click.Abort:
        if answers:
            raise
        click.echo()
        raise UsageError("nobody is here to answer; --yes accepts what is shown above") from None
    if not agreed:
        raise click.Abort


def _read(path: str) -> bytes:
    try:
        return read_file(path).data
    except FileRefused as refused:
        raise UsageError(f"{visible(path)} cannot be accepted: {refused}") from None


def _shown(
    home: Home, path: str, text: str, findings: tuple[Finding, ...], before: tuple[Acceptance, ...]
) -> Iterator[str]:
    """What was found, and what changed since the content that was accepted last."""
    if before:
        last = before[-1]
        yield click.style(f"{visible(path)} has changed since it was accepted on {last.date}.", bold=True)
        old = accepted_text(home, last.digest)
        yield from ("The accepted text was not kept.",) if old is None else _diff(old, text[:KEPT_CHARS])
        yield ""
    yield from in_place(path, text, findings)
    if not findings:
        yield f"The scanner finds nothing in {visible(path)} as it stands on disk."


def _diff(old: str, new: str) -> Iterator[str]:
    lines = list(unified_diff(old.split("\n"), new.split("\n"), "accepted", "now", lineterm="", n=2))
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines[:_DIFF_LINES]:
        yield click.style(visible(line), fg=colours.get(line[:1]))
    if len(lines) > _DIFF_LINES:
        yield f"… and {many(len(lines) - _DIFF_LINES, 'more line')} of difference"


def _parts(path: str, text: str) -> tuple[str, ...]:
    """The digests of what passes the gate alone: of a memory, the entries in which something was found."""
    if os.path.basename(path) not in _MEMORIES:
        return ()
    entries = split_entries(Passage.quote(text, Origin("memory", path)))
    return tuple(dict.fromkeys(digest_of(entry) for entry in entries if findings_in(entry)))


def _add_project(home: Home, path: str, yes: bool, as_json: bool) -> None:
    """Show the context files of a project and record that its owner knows of them."""
    from hermes.agent.context_kinds import Finder, kinds_in_order
    from hermes.config import load_config

    project = find_project(os.path.realpath(path))
    kinds = kinds_in_order(load_config(home).context.kinds)
    finder = Finder(project, home.root)
    candidates = [c for kind in kinds if kind.scope != "home" for files in finder.groups(kind) for c in files]
    digests = []
    for candidate in candidates:
        try:
            data = read_file(candidate.path, inside=project.root).data
            findings = findings_in(decode(data).text)
        except FileRefused as refused:
            click.echo(f"  {visible(candidate.shown)}: {refused}", err=as_json)
            continue
        digests.append(digest_of(data))
        click.echo(
            f"  {visible(candidate.shown)}: {many(len(data), 'byte')}, {many(len(findings), 'finding')}",
            err=as_json,
        )
    if not yes:
        _ask(f"Let the context files of {visible(project.root)} in?")
    show_notices(know_project(home, KnownProject(project.root, _today(), tuple(sorted(set(digests))))))
    if as_json:
        return print_json({"project": project.root, "files": len(digests)})
    return click.echo(f"{visible(project.root)} is known now; what the gate finds in its files still counts")


@group.command("list")
@as_json_option
def list_(as_json: bool) -> None:
    """List what was accepted, and the projects that are known."""
    known = load_trust(get_hermes_home())
    if as_json:
        body: dict[str, Any] = {
            "accepted": [asdict(a) for a in known.accepted],
            "projects": [asdict(p) for p in known.projects],
        }
        print_json(body)
    else:
        for entry in known.accepted:
            found = f"  ({', '.join(entry.findings)})" if entry.findings else ""
            click.echo(f"{entry.digest[:12]}  {entry.date}  {visible(entry.path)}{found}")
        for project in known.projects:
            click.echo(f"project       {project.date}  {visible(project.root)}")
        if not known.accepted and not known.projects:
            click.echo("nothing was accepted yet")
    show_notices(known.notices)


@group.command("remove")
@click.argument("which", metavar="FILE|DIGEST|FOLDER")
@as_json_option
def remove(which: str, as_json: bool) -> None:
    """Take an acceptance back: all of FILE, the one of DIGEST (its first 8 characters do), or a project."""
    home = get_hermes_home()
    known = load_trust(home)
    path = os.path.abspath(which)
    entries = known.of_path(path)
    if not entries and len(which) >= 8:
        entries = tuple(a for a in known.accepted if a.digest.startswith(which.lower()))
    if entries:
        show_notices(revoke(home, entries))
        if as_json:
            return print_json({"removed": [asdict(entry) for entry in entries]})
        for entry in entries:
            click.echo(f"no longer accepted: {entry.digest[:12]}  {visible(entry.path)}")
        return None
    root = next((r for r in (path, os.path.realpath(path)) if known.knows(r)), "")
    if not root:
        show_notices(known.notices)
        raise UsageError(f"nothing was accepted as {visible(which)}; see: hermes trust list")
    show_notices(forget_project(home, root))
    if as_json:
        return print_json({"removed": [{"root": root}]})
    return click.echo(f"no longer known: {visible(root)}")


@group.command("check")
@as_json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Compare the accepted files with the disk; exit 1 when one has changed since."""
    known = load_trust(get_hermes_home())
    paths = sorted({entry.path for entry in known.accepted})
    states = {path: _state(path, {entry.digest for entry in known.of_path(path)}) for path in paths}
    changed = "changed" in states.values()
    if as_json:
        print_json({"ok": not changed and not known.notices, "files": states})
    else:
        for path, state in states.items():
            click.echo(f"{state:<9} {visible(path)}")
        if not states and not known.notices:
            click.echo("nothing was accepted yet")
    show_notices(known.notices)
    ctx.exit(1 if changed or known.notices else 0)


def _state(path: str, digests: set[str]) -> str:
    try:
        return "same" if digest_of(read_file(path).data) in digests else "changed"
    except FileRefused as refused:
        return str(refused.verdict)


def _today() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
