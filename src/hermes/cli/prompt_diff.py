"""`hermes prompt diff`."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import asdict, replace
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
from hermes.prompt import SystemPrompt

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
    A directory, a kept name or a revision is also known without its prefix. What
    is built now is built as if begun with the prompt that was kept.
    Exit code 0 when the prompts are equal, 1 when they differ.
    """
    here = build(asked)
    meant = [_meant(name, here) for name in (a, b)]
    kept = [_kept(kind, value, here) for kind, value in meant]
    asked = _at_one_moment(asked, next((prompt for prompt in kept if prompt is not None), here.prompt))
    here = build(asked)
    sides = [
        _side(name, *what, asked, here) if prompt is None else _kept_side(name, prompt, here)
        for name, what, prompt in zip((a, b), meant, kept, strict=True)
    ]
    diff = diff_prompts(sides[0], sides[1], here.facts.model)
    if as_json:
        print_json(asdict(diff))
    else:
        _show(diff)
    ctx.exit(0 if diff.equal else 1)


def _meant(name: str, here: Built) -> tuple[str, str]:
    """The kind of a side, and what it names."""
    kind, colon, value = name.partition(":")
    known = colon and kind in ("model", "platform", "cwd", "rev", "saved", "session")
    return (kind, value) if known else _guess(name, here)


def _kept(kind: str, value: str, here: Built) -> SystemPrompt | None:
    """The prompt of a side that was made before; None for one that is built now."""
    match kind:
        case "session":
            return frozen_prompt(here.sources, value)
        case "saved":
            return load_saved(saved_path(here.sources.home, value))
        case "file":
            return load_saved(value)
        case _:
            return None


def _at_one_moment(asked: Asked, prompt: SystemPrompt) -> Asked:
    """What is asked for, in the session and at the moment of a prompt: that they differ is no news."""
    line = next((s.text for s in prompt.sections if s.slot == "session line"), "")
    facts = dict(entry.partition(": ")[::2] for entry in line.split("\n"))
    return replace(
        asked,
        at_time=asked.at_time or facts.get("Current time", ""),
        session=asked.session or facts.get("Session", ""),
    )


def _kept_side(name: str, prompt: SystemPrompt, here: Built) -> Side:
    root = find_project(here.facts.cwd.path).root
    made_here = any(span.origin.path.startswith(root + os.sep) for span in prompt.spans)
    return Side(name, prompt, root if made_here else "")


def _side(name: str, kind: str, value: str, asked: Asked, here: Built) -> Side:
    if kind == "here":
        return Side(name, here.prompt, find_project(here.facts.cwd.path).root)
    if kind == "rev":
        return _at_revision(name, value, asked, here)
    built = build(replace(asked, **{kind: value}))
    return Side(name, built.prompt, find_project(built.facts.cwd.path).root)


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
