"""Subjects to lint: real prompts built from real files, or documents alone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from hermes.agent.system_prompt import build_system_prompt, default_slots
from hermes.agent.workdir import find_project
from hermes.errors import Verdict
from hermes.inspect.lint.finding import Finding
from hermes.inspect.lint.markdown import parse
from hermes.inspect.lint.run import lint
from hermes.inspect.lint.subject import Source, Subject, look_at
from hermes.inspect.lint.tree import Tree
from hermes.paths import Home
from hermes.prompt import PromptKey, SystemPrompt
from hermes.provenance import digest_of
from hermes.security.policy import Policies
from tests.world import facts, sources, write

NO_PROMPT = SystemPrompt((), PromptKey("", "", "", "", ()), digest_of(""))


def count(text: str) -> int:
    """Words, so that a test can tell the number."""
    return len(text.split())


def project(root: Path, files: dict[str, str]) -> Path:
    """A repository with these files; one named `HOME/…` goes into the home beside it."""
    root = Path(os.path.realpath(root))
    write(root / "repo" / ".git" / "HEAD", "ref: refs/heads/main\n")
    write(root / "home" / "SOUL.md", "You are Bo.\n")
    for name, text in files.items():
        folder = root / "home" if name.startswith("HOME/") else root / "repo"
        write(folder / name.removeprefix("HOME/"), text)
    return root / "repo"


def subject(
    repo: Path, cwd: str = "", window: int | None = None, policies: Policies | None = None
) -> Subject:
    """What lint sees when the agent starts in a folder of the repository."""
    home = Home(str(repo.parent / "home"))
    parts = sources(home)
    parts = replace(parts, policies=policies) if policies else parts
    prompt = build_system_prompt(default_slots(parts), facts(repo / cwd, tools=frozenset()))
    root = find_project(os.path.realpath(repo / cwd)).root
    return look_at(prompt, root=root, home=home.root, window=window, count=count)


def findings(root: Path, files: dict[str, str], cwd: str = "") -> tuple[Finding, ...]:
    return lint(subject(project(root, files), cwd))


def told(found: tuple[Finding, ...], *families: str) -> list[str]:
    """`place rule` of the findings of some families, or of all."""
    return [f"{f.place} {f.rule}" for f in found if not families or f.rule.partition("-")[0] in families]


def documents(root: Path, *texts: str, verdict: Verdict = "loaded") -> Subject:
    """A subject of rule files that need no disk: `1.md`, `2.md`, …"""
    sources = tuple(
        Source(f"/p/{n}.md", f"{n}.md", "agents", verdict, "", parse(text)) for n, text in enumerate(texts, 1)
    )
    return Subject(NO_PROMPT, sources, Tree.of(str(root)), None, count)
