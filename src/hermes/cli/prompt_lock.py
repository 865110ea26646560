"""`hermes prompt lock`, `lock check` and `lock approve`."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict

import click

from hermes.agent.system_prompt import load_sources
from hermes.agent.workdir import find_project
from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, facts_asked, prompt_options
from hermes.cli.screen import plain, show_notices, wants_colour
from hermes.errors import HermesError, UsageError
from hermes.files import is_inside, replace_file
from hermes.inspect.drift import Drift, FileDrift, approve, compare
from hermes.inspect.lock import Lock, facts_of, take
from hermes.inspect.lock_file import NAME, read_lock, to_text
from hermes.provenance import Notice
from hermes.text import many

_COLOURS = {"-": "red", "+": "green"}
_FILE = click.option("--file", default="", help=f"The lock; {NAME} in the project's root by default.")
_CWD = click.option("--cwd", default="", help="The project, or a directory in it.", metavar="DIR")


@click.group("lock", invoke_without_command=True)
@prompt_options
@_FILE
@click.option("--home", is_flag=True, help="Lock the parts that the home gives, too.")
@click.option("--memory", is_flag=True, help="Lock the memory, too.")
@as_json_option
@click.pass_context
def group(ctx: click.Context, asked: Asked, file: str, home: bool, memory: bool, as_json: bool) -> None:
    """Pin the prompt in hermes.lock: digests of its sections and files, what is kept out, what it costs.

    The lock stands in the project's root and is meant to be committed. It holds the project's part and the
    version of Hermes' own texts; with --home also SOUL.md, skills and configuration.
    """
    if ctx.invoked_subcommand:
        return
    sources = load_sources()
    facts, notices = facts_asked(asked, sources)
    root = find_project(facts.cwd.path).root
    lock = take(facts_of(facts, sources.config, root, home=home, memory=memory), root, sources)
    path = file or os.path.join(root, NAME)
    notices = (*notices, *_other_facts(path, lock))
    _write(path, lock, root)
    show_notices(notices)
    if as_json:
        print_json({"path": path, "tokens": lock.tokens, "method": lock.method})
        return
    parts = f"{many(len(lock.sections), 'section')}, {many(len(lock.sources), 'file')}"
    click.echo(f"{plain(path)}: {parts}, ", nl=False)
    click.echo(f"{many(len(lock.kept_out), 'file')} kept out, {lock.tokens:,} tokens ({lock.method})")


@group.command("check")
@_CWD
@_FILE
@as_json_option
@click.pass_context
def check(ctx: click.Context, cwd: str, file: str, as_json: bool) -> None:
    """Tell what became different since the prompt was locked. Exit code 1 when something did.

    The prompt is built from the facts in the lock, so that every machine gets the same answer.
    """
    _, path, old, new = _both(cwd, file)
    drift = compare(old, new)
    if as_json:
        print_json({"path": path, "drift": bool(drift), **asdict(drift)})
    else:
        for line in told(drift, os.path.basename(path)):
            click.echo(line, color=wants_colour(sys.stdout))
    ctx.exit(1 if drift else 0)


@group.command("approve")
@click.argument("names", nargs=-1, metavar="[SECTION|FILE]...")
@_CWD
@_FILE
@as_json_option
def approve_command(names: tuple[str, ...], cwd: str, file: str, as_json: bool) -> None:
    """Accept the drift: all of it, or that of some sections and files, named as `lock check` names them."""
    root, path, old, new = _both(cwd, file)
    merged = approve(old, new, names)
    _write(path, merged, root)
    left = compare(merged, new).names
    done = sorted(compare(old, new).names - left)
    if as_json:
        print_json({"path": path, "approved": done, "left": sorted(left)})
        return
    click.echo(f"approved: {plain(', '.join(done) or 'nothing')}")
    if left:
        click.echo(f"left: {plain(', '.join(sorted(left)))}")


def _both(cwd: str, file: str) -> tuple[str, str, Lock, Lock]:
    """The project's root, the path of the lock, the lock, and what would be locked now."""
    sources = load_sources()
    root = find_project(facts_asked(Asked(cwd), sources)[0].cwd.path).root
    path = file or os.path.join(root, NAME)
    old = read_lock(path)
    return root, path, old, take(old.facts, root, sources)


def _write(path: str, lock: Lock, root: str) -> None:
    real = os.path.realpath(path)
    if os.path.islink(path) and not is_inside(real, root):
        raise UsageError(f"{path} is a link to {real}, out of the project; remove it, or name another --file")
    try:
        replace_file(path, to_text(lock).encode("utf-8"), mode=0o644)
    except OSError as error:
        raise UsageError(f"{path} could not be written: {(error.strerror or str(error)).lower()}") from None


def _other_facts(path: str, lock: Lock) -> tuple[Notice, ...]:
    """What the lock that is written over was built from, where it differs."""
    try:
        old = asdict(read_lock(path).facts)
    except HermesError:
        return ()
    new = asdict(lock.facts)
    changed = [f"{name} was {old[name]!r}, is {new[name]!r}" for name in new if old[name] != new[name]]
    return (Notice("warning", f"the lock is of another prompt now: {'; '.join(changed)}"),) if changed else ()


def told(drift: Drift, name: str) -> list[str]:
    """The drift as lines for a terminal."""
    if not drift:
        return [f"{name} fits: {drift.after:,} tokens ({drift.method})"]
    lines = [f"The prompt is not what {name} says: {_change(drift.before, drift.after)} ({drift.method})"]
    sections = {s.section: s for s in drift.sections}
    names = [*sections, *(f.section for f in drift.files), *(d.section for d in drift.decisions)]
    for section in dict.fromkeys(names):
        lines.append("")
        heading = section
        if (row := sections.get(section)) is not None:
            heading += f" ({row.change}): {_change(row.before, row.after)}"
            heading += f"; {row.cause}" if row.cause else ""
        lines.append(click.style(heading, bold=True))
        for file in drift.files:
            if file.section == section:
                lines += _file(file)
        for d in drift.decisions:
            if d.section == section:
                lines.append(
                    plain(f"  {d.path}: {d.before or 'not kept out'} -> {d.after or 'not kept out'}")
                )
    lines += ["", "Accept it with: hermes prompt lock approve [SECTION|FILE]..."]
    return lines


def _file(file: FileDrift) -> list[str]:
    note = f"; {file.note}" if file.note else ""
    lines = [plain(f"  {file.path} ({file.change}): {_change(file.before, file.after)}{note}")]
    for hunk in file.hunks:
        old = [line.number for line in hunk if line.sign == "-"]
        new = [line.number for line in hunk if line.sign == "+"]
        lines.append(click.style(f"    @@ {_range('-', old)} {_range('+', new)} @@", fg="cyan"))
        for line in hunk:
            text = f"    {line.sign}{line.number:>5} {plain(line.text)}".rstrip()
            lines.append(click.style(text, fg=_COLOURS.get(line.sign)) if line.sign != " " else text)
    return lines


def _range(sign: str, numbers: list[int]) -> str:
    if not numbers:
        return f"{sign}none"
    return f"{sign}{numbers[0]}" if len(numbers) == 1 else f"{sign}{numbers[0]}-{numbers[-1]}"


def _change(before: int, after: int) -> str:
    return f"{before:,} -> {after:,} tokens ({after - before:+,})" if before != after else f"{after:,} tokens"
