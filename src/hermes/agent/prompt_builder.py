"""The slots: each gives one passage of the prompt and holds its own source.

`load_soul_md` and `build_context_files_prompt` are for everyone; the slots call them too. What is remembered
has slots in `memory_slots.py`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from hermes.agent.environment import Host, working_directory_lines
from hermes.agent.prompt_files import build_context_files_prompt, load_soul_md
from hermes.agent.workdir import find_project
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.platforms import Platforms, resolve_hint
from hermes.prompt import PromptFacts, Tier
from hermes.prompts import prompt_text
from hermes.provenance import Decision, Notice, Origin, Passage, Span, digest_of
from hermes.providers.profiles import context_limit_chars, enforcement_needed
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.skills.budget import index_budget
from hermes.skills.kept_index import home_index
from hermes.skills.known import directories

if TYPE_CHECKING:
    from hermes.config import Config
    from hermes.plugins.plugins import Plugins

__all__ = [
    "DEFAULT_AGENT_IDENTITY",
    "EnvironmentSlot",
    "IdentitySlot",
    "ModelGuidanceSlot",
    "PlatformSlot",
    "ProjectContextSlot",
    "SessionLineSlot",
    "SkillsSlot",
    "Sources",
    "SystemMessageSlot",
    "ToolGuidanceSlot",
    "WorkingDirectorySlot",
    "build_context_files_prompt",
    "load_soul_md",
]

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
            ("Provider", facts.model.provider.partition("@")[0]),
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
