"""The files of the owner and of the project, as they go into a prompt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hermes.agent.context_files import Loader, Reading
from hermes.agent.context_kinds import kinds_in_order
from hermes.agent.workdir import find_project, resolve_cwd
from hermes.errors import FileRefused
from hermes.files import read_file
from hermes.paths import Home, get_hermes_home
from hermes.prompt import WorkDir
from hermes.prompts import prompt_text
from hermes.provenance import Decision, Notice, Origin, Passage, digest_of
from hermes.providers.profiles import context_limit_chars
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.text import decode

if TYPE_CHECKING:
    from hermes.config import Config


def load_soul_md(
    home: Home | None = None, *, limit: int | None = None, policies: Policies | None = None
) -> Passage | None:
    """The text of SOUL.md as it goes into the prompt; None when there is no such file.

    Empty when the file is blank, unreadable or blocked: the reason is in its notices and decisions, and
    the default identity stands. `limit` in characters.
    """
    home = home or get_hermes_home()
    path = home.soul
    try:
        contents = read_file(path)
        decoded = decode(contents.data)
    except FileRefused as error:
        if error.verdict == "missing" and not os.path.islink(path):
            return None
        verdict = "unreadable" if error.verdict == "missing" else error.verdict
        text = f"SOUL.md was not loaded: {error}; the default identity stands"
        notice = Notice("warning", text, Origin("identity", path))
        return Passage("", (), (notice,), (Decision(path, "identity", verdict, str(error)),))
    origin = Origin("identity", path, digest_of(contents.data), trust="owner")
    soul = Passage.quote(decoded.text, origin, decoded.transforms)
    policy = (policies or Policies()).of("owner")
    admitted = admit(soul, name="SOUL.md", policy=policy, limit=limit, shown=path)
    notices = list(admitted.passage.notices)
    if decoded.problem:
        notices.append(Notice("warning", f"SOUL.md is {decoded.problem}", origin))
    if contents.torn:
        notices.append(Notice("warning", "SOUL.md changed while it was read", origin))
    if admitted.outcome in ("empty", "blocked"):
        text = f"SOUL.md is {admitted.outcome}; the default identity stands"
        notices.append(Notice("warning", text, origin))
    decision = Decision(path, "identity", admitted.outcome, admitted.detail)
    if admitted.outcome == "blocked":
        return Passage("", (), tuple(notices), (decision,))
    return Passage(admitted.passage, admitted.passage.spans, tuple(notices), (decision,))


def build_context_files_prompt(
    cwd: str | os.PathLike[str] | None = None,
    skip_soul: bool = False,
    *,
    workdir: WorkDir | None = None,
    home: Home | None = None,
    config: Config | None = None,
    limit: int | None = None,
    policies: Policies | None = None,
) -> Passage:
    """The section `# Project Context` for a directory, or an empty passage; never raises on any file.

    `limit` is the most characters of one file; by default the smallest limit, as for an unknown model.
    """
    from hermes.config import load_config

    home = home or get_hermes_home()
    config = config or load_config(home)
    policies = policies or Policies()
    limit = limit or context_limit_chars_of(config)
    notes: tuple[Notice, ...] = ()
    if workdir is None:
        workdir, notes = resolve_cwd(os.fspath(cwd) if cwd is not None else "", config.agent.cwd)
    parts = [_project_files(workdir, home, config, limit, policies).with_notes(notes)]
    if not skip_soul and (soul := load_soul_md(home, limit=limit, policies=policies)) is not None:
        parts.append(soul)
    sections = Passage.joined("\n\n", parts)
    if not sections:
        return sections
    return Passage.joined("\n\n", [prompt_text("project_context"), sections])


def context_limit_chars_of(config: Config) -> int:
    """The limit of one file when no model is known."""
    from hermes.contracts import ModelProfile

    return context_limit_chars(ModelProfile(), config.context_file_max_chars)


def _project_files(workdir: WorkDir, home: Home, config: Config, limit: int, policies: Policies) -> Passage:
    kinds = kinds_in_order(config.context.kinds)
    project = find_project(workdir.path)
    reason, notices = "", tuple[Notice, ...]()
    if config.security.first_use == "deny":
        from hermes.agent.first_use import kept_out

        reason, notices = kept_out(project, home, config, kinds)
    if not workdir.authority:
        reason, notices = f"chosen by the {workdir.chosen_by}", ()
    note = Passage()
    if reason:
        kinds = tuple(kind for kind in kinds if kind.scope == "home")
        note = Passage("", (), notices, (Decision(workdir.path, "project", "not trusted", reason),))
    expand = None
    if config.context.imports:
        from hermes.agent.imports import importer

        expand = importer(project, tuple(config.context.import_roots))
    loader = Loader(project, home.root, Reading(limit, policies, expand))
    return Passage.joined("\n\n", [loader.load(kinds).with_notes(project.notices), note])
