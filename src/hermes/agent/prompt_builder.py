"""The slots: each gives one passage of the prompt and holds its own source.

`load_soul_md` and `build_context_files_prompt` are for everyone; the slots call them too.
"""

from __future__ import annotations

import os
from dataclasses import field
from typing import TYPE_CHECKING

from hermes.agent.context_files import Loader, Reading
from hermes.agent.context_kinds import kinds_in_order
from hermes.agent.environment import Host, working_directory_lines
from hermes.agent.workdir import find_project, resolve_cwd
from hermes.errors import FileRefused
from hermes.files import read_file
from hermes.frozen import frozen
from hermes.memory.scope import OWNER, MemoryScope, Target, memory_files
from hermes.memory.snapshot import snapshot
from hermes.paths import Home, get_hermes_home
from hermes.platforms import Platforms, resolve_hint
from hermes.prompt import PromptFacts, Tier, WorkDir
from hermes.prompts import prompt_text
from hermes.provenance import Decision, Notice, Origin, Passage, Span, digest_of
from hermes.providers.profiles import context_limit_chars, enforcement_needed
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.skills.budget import index_budget
from hermes.skills.kept_index import home_index
from hermes.skills.known import directories
from hermes.text import decode

if TYPE_CHECKING:
    from hermes.config import Config
    from hermes.plugins.plugins import Plugins

DEFAULT_AGENT_IDENTITY = str(prompt_text("identity"))

_GUIDANCE: tuple[tuple[str, frozenset[str]], ...] = (
    ("memory", frozenset({"memory"})),
    ("session_search", frozenset({"session_search"})),
    ("skills", frozenset({"skill_manage"})),
    ("read_file", frozenset({"read_file"})),
    ("write_file", frozenset({"write_file"})),
    ("patch", frozenset({"patch"})),
    ("search_files", frozenset({"search_files"})),
    ("terminal", frozenset({"terminal"})),
    ("delegate_task", frozenset({"delegate_task"})),
    ("todo", frozenset({"todo"})),
    ("clarify", frozenset({"clarify"})),
)


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


@frozen
class Sources:
    """What the slots read from: the home, its configuration, the gate's policies, the host, the plugins.

    `plugins` None: none is enabled. `notices` tell what of it could not be used.
    """

    home: Home
    config: Config
    policies: Policies = field(default_factory=Policies)
    host: Host = field(default_factory=Host)
    platforms: Platforms = field(default_factory=Platforms)
    notices: tuple[Notice, ...] = ()
    plugins: Plugins | None = None

    def limit(self, facts: PromptFacts) -> int:
        """The most characters of one file for a model.

        In a small window the usual least, 20,000, would leave no room to talk: there it is a quarter of it.
        """
        model, configured = facts.model, self.config.context_file_max_chars
        usual = context_limit_chars(model, configured)
        if configured is None and model.small and model.context_window:
            return min(usual, int(model.context_window * model.chars_per_token / 4))
        return usual


@frozen
class _FromSources:
    """A slot that needs nothing but the sources. One record for all: records are what an import costs."""

    sources: Sources


class IdentitySlot(_FromSources):
    """SOUL.md, or the default identity."""

    __slots__ = ()
    name = "identity"
    tier = Tier.STABLE

    def passage(self, facts: PromptFacts) -> Passage:
        default, home = prompt_text("identity"), self.sources.home
        if not facts.switches.identity:
            decision = Decision(home.soul, "identity", "off", "identity is switched off for this prompt")
            return default.with_notes((), (decision,))
        soul = load_soul_md(home, limit=self.sources.limit(facts), policies=self.sources.policies)
        if soul is None:
            notice = Notice("info", f"there is no {home.soul}; the default identity stands")
            return default.with_notes((notice,), (Decision(home.soul, "identity", "missing"),))
        return soul if soul else default.with_notes(soul.notices, soul.decisions)


class ToolGuidanceSlot(_FromSources):
    """How to use the tools that are on, a short text each."""

    __slots__ = ()
    name = "tool guidance"
    tier = Tier.STABLE

    def passage(self, facts: PromptFacts) -> Passage:
        wanted = [name for name, tools in _GUIDANCE if tools & facts.tools]
        return _guidance(wanted, self.sources.config)


class ModelGuidanceSlot(_FromSources):
    """What this model family needs to be told; nothing without tools."""

    __slots__ = ()
    name = "model guidance"
    tier = Tier.STABLE

    def passage(self, facts: PromptFacts) -> Passage:
        setting = self.sources.config.agent.tool_use_enforcement
        wanted = ["tool_use"] if facts.tools and enforcement_needed(facts.model, setting) else []
        return _guidance(wanted, self.sources.config)


def _guidance(names: list[str], config: Config) -> Passage:
    parts = []
    for name in names:
        if config.agent.guidance.get(name, True):
            parts.append(prompt_text(f"guidance_{name}"))
        else:
            off = Decision(f"guidance_{name}.md", "guidance", "off", f"agent.guidance.{name} is false")
            parts.append(Passage("", (), (), (off,)))
    return Passage.joined("\n\n", parts)


class SkillsSlot(_FromSources):
    """The index of skills, only when the tool that loads them is on: the index names it."""

    __slots__ = ()
    name = "skills index"
    tier = Tier.STABLE

    def passage(self, facts: PromptFacts) -> Passage:
        if "skill_view" not in facts.tools:
            return Passage()
        skills = self.sources.config.skills
        budget = skills.index_tokens or index_budget(facts.model.context_window)
        return home_index(
            self.sources.home,
            directories(skills),
            policies=self.sources.policies,
            tools=facts.tools,
            disabled=frozenset(skills.disabled),
            pinned=tuple(skills.pinned),
            budget_tokens=budget,
        )


class EnvironmentSlot(_FromSources):
    """Facts of the host that outlast a session."""

    __slots__ = ()
    name = "environment"
    tier = Tier.STABLE

    def passage(self, facts: PromptFacts) -> Passage:  # noqa: ARG002  the host is the same for all facts
        return self.sources.host.passage(self.sources.policies)


class PlatformSlot(_FromSources):
    """The hint for the surface, after the overrides of config.yaml."""

    __slots__ = ()
    name = "platform hint"
    tier = Tier.STABLE

    def passage(self, facts: PromptFacts) -> Passage:
        sources = self.sources
        return resolve_hint(
            facts.platform,
            sources.config.platform_hints,
            sources.platforms,
            sources.policies,
            sources.home.config,
            sources.config.lines,
        )


class SystemMessageSlot(_FromSources):
    """`agent.system_prompt` of config.yaml, then the message of the caller."""

    __slots__ = ()
    name = "system message"
    tier = Tier.CONTEXT

    def passage(self, facts: PromptFacts) -> Passage:
        place = self.sources.config.lines.get("agent.system_prompt", (0, 0))
        config = Origin("config", self.sources.home.config, "", *place, trust="caller")
        given = (
            ("agent.system_prompt", self.sources.config.agent.system_prompt, config),
            ("the caller's system message", facts.system_message, Origin("caller", trust="caller")),
        )
        policy = self.sources.policies.of("caller")
        return Passage.joined(
            "\n\n",
            [admit(_given(text, origin), name=name, policy=policy).passage for name, text, origin in given],
        )


def _given(text: str, origin: Origin) -> Passage:
    decoded = text.replace("\r\n", "\n").replace("\r", "\n")
    return Passage.quote(decoded, origin._replace(digest=digest_of(decoded)))


class ProjectContextSlot(_FromSources):
    """The context files of the project."""

    __slots__ = ()
    name = "project context"
    tier = Tier.CONTEXT

    def passage(self, facts: PromptFacts) -> Passage:
        if not facts.switches.project_context:
            return Passage()
        return build_context_files_prompt(
            workdir=facts.cwd,
            skip_soul=True,
            home=self.sources.home,
            config=self.sources.config,
            limit=self.sources.limit(facts),
            policies=self.sources.policies,
        )


@frozen
class WorkingDirectorySlot:
    """Where the agent works: what differs from checkout to checkout, after what does not."""

    policies: Policies = field(default_factory=Policies)
    name: str = "working directory"
    tier: Tier = Tier.CONTEXT

    def passage(self, facts: PromptFacts) -> Passage:
        return working_directory_lines(find_project(facts.cwd.path), self.policies)


def memory_project(home: Home, cwd: WorkDir, *, new: bool = False) -> str:
    """The root of the project whose memory counts, "" for none.

    Before anything was remembered of any project there is none to read; `new` asks all the same, to write.
    """
    if not cwd.authority or not (new or os.path.isdir(home.path("memories", "projects"))):
        return ""
    return find_project(cwd.path).root


@frozen
class MemorySlot:
    """The snapshots of the memory files of one kind that a conversation may see."""

    sources: Sources
    target: Target
    name: str
    scope: MemoryScope = OWNER
    tier: Tier = Tier.VOLATILE

    def passage(self, facts: PromptFacts) -> Passage:
        if not facts.switches.memory:
            return Passage()
        sources = self.sources
        files = memory_files(sources.config.memory, self.scope, memory_project(sources.home, facts.cwd))
        shown = [
            snapshot(sources.home, f, sources.policies.of("owner")) for f in files if f.target == self.target
        ]
        return shown[0] if len(shown) == 1 else Passage.joined("\n\n", shown)


@frozen
class ExternalMemorySlot:
    """The static block of the active external memory provider."""

    block: Passage = field(default_factory=Passage)
    policies: Policies = field(default_factory=Policies)
    name: str = "external memory"
    tier: Tier = Tier.VOLATILE

    def passage(self, facts: PromptFacts) -> Passage:
        if not facts.switches.memory:
            return Passage()
        policy = self.policies.of("third_party")
        return admit(self.block, name="external memory", policy=policy).passage


_HEX = frozenset("0123456789abcdef-")


@frozen
class SessionLineSlot:
    """The tail of everything: when the session began, which it is, who answers."""

    policies: Policies = field(default_factory=Policies)
    name: str = "session line"
    tier: Tier = Tier.VOLATILE

    def passage(self, facts: PromptFacts) -> Passage:
        given = (
            ("Session", facts.session_id),
            ("Model", facts.model.name),
            ("Provider", facts.model.provider),
        )
        time = Passage.own(f"Current time: {facts.now.isoformat(timespec='seconds')}", "session")
        return Passage.joined("\n", [time, *(self._named(name, value) for name, value in given if value)])

    def _named(self, name: str, value: str) -> Passage:
        """A name that the caller chose, on one line."""
        line = f"{name}: {' '.join(value.split())}"
        passage = Passage(line, (Span(0, len(line), Origin("session", trust="caller")),))
        if name == "Session" and _HEX.issuperset(value) and len(value) <= 40:
            return passage  # an id as they are made here: it says nothing, and is new each time
        return admit(passage, name=f"the {name.lower()}", policy=self.policies.of("caller")).passage
