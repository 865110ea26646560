"""`hermes prompt diff`."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

import click

from hermes.agent.workdir import find_project
from hermes.cli.as_json import as_json_option, print_json
from hermes.cli.build import Asked, Built, build, prompt_options
from hermes.cli.screen import plain_lines, wants_colour
from hermes.cli.stored import frozen_prompt
from hermes.errors import UsageError
from hermes.inspect.diff import PromptDiff, Side, diff_prompts
from hermes.inspect.revision import check_out, is_revision
from hermes.inspect.saved import load_saved, saved_names, saved_path

_LINE_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("diff")
@click.argument("a")
@click.argument("b", default="here")
@prompt_options
@as_json_option
@click.pass_context
def command(ctx: click.Context, asked: Asked, a: str, b: str, as_json: bool) -> None:
    """Compare prompt A with prompt B (default: the one a session would get here now).

    \b
    Each is one of
      here                  the prompt of the other options
      model:NAME            the same for another model
      platform:NAME         ... for another surface
      cwd:DIR               ... in another directory
      rev:REVISION          ... with the context files of a git revision
      session:ID            the frozen prompt of a stored session
      saved:NAME            a prompt kept with `hermes prompt save`
      FILE.json             an exported prompt (`hermes prompt show --json`, `save -o`)
    A directory, a kept name or a revision is also known without its prefix.
    Exit code 0 when the prompts are equal, 1 when they differ.
    """
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    asked = replace(asked, at_time=asked.at_time or now)  # both sides begin at one moment
    here = build(asked)
    sides = [_side(name, asked, here) for name in (a, b)]
    diff = diff_prompts(sides[0], sides[1], here.facts.model)
    if as_json:
        print_json(asdict(diff))
    else:
        _show(diff)
    ctx.exit(0 if diff.equal else 1)


def _side(name: str, asked: Asked, here: Built) -> Side:
    kind, colon, value = name.partition(":")
    if not colon or kind not in ("model", "platform", "cwd", "rev", "saved", "session"):
        kind, value = _guess(name, here)
    root = find_project(here.facts.cwd.path).root
    if kind == "here":
        return Side(name, here.prompt, root)
    if kind in ("model", "platform"):
        return Side(name, build(replace(asked, **{kind: value})).prompt, root)
    if kind == "cwd":
        built = build(replace(asked, cwd=value))
        return Side(name, built.prompt, find_project(built.facts.cwd.path).root)
    if kind == "rev":
        return _at_revision(name, value, asked, here)
    if kind == "session":
        saved = frozen_prompt(here.sources, value)
    else:
        saved = load_saved(value if kind == "file" else saved_path(here.sources.home, value))
    made_here = any(span.origin.path.startswith(root + os.sep) for span in saved.spans)
    return Side(name, saved, root if made_here else "")


def _guess(name: str, here: Built) -> tuple[str, str]:
    if name == "here":
        return "here", ""
    if os.path.isfile(name):
        return "file", name
    if os.path.isdir(name):
        return "cwd", name
    if name in saved_names(here.sources.home):
        return "saved", name
    project = find_project(here.facts.cwd.path)
    if project.in_git and is_revision(project.root, name):
        return "rev", name
    raise UsageError(
        f"{name!r} is no exported prompt, directory, kept prompt or git revision; "
        "see hermes prompt diff --help"
    )


def _at_revision(name: str, revision: str, asked: Asked, here: Built) -> Side:
    project = find_project(here.facts.cwd.path)
    if not project.in_git:
        raise UsageError(f"{project.cwd} is in no git repository")
    with tempfile.TemporaryDirectory(prefix="hermes-revision-") as folder:
        target = os.path.realpath(folder)
        check_out(project.root, revision, target)
        cwd = os.path.normpath(os.path.join(target, os.path.relpath(project.cwd, project.root)))
        os.makedirs(cwd, exist_ok=True)
        return Side(name, build(replace(asked, cwd=cwd)).prompt, target)


def _show(diff: PromptDiff) -> None:
    if diff.equal:
        _say(f"{diff.a} and {diff.b} are equal: {diff.total_a:,} characters")
        return
    share = diff.shared / max(diff.total_b, 1) * 100
    _say(
        f"{diff.a} and {diff.b} share their first {diff.shared:,} characters "
        f"({share:.1f} % of {diff.b}); they part in {diff.parts_at}"
    )
    for cause in diff.causes:
        _say(f"  {cause}")
    for s in diff.sections:
        if s.change == "same":
            continue
        tokens = f"{s.tokens_before:,} → {s.tokens_after:,} tokens"
        _say("")
        _say(f"{s.tier} / {s.section}: {s.change}, {tokens}", bold=True)
        for cause in s.causes:
            _say(f"  because {cause}")
        for line in s.lines[2:]:
            _say(line, fg=_LINE_COLOURS.get(line[:1]))


def _say(line: str, **style: Any) -> None:
    click.echo(click.style(plain_lines(line), **style), color=wants_colour(sys.stdout))
