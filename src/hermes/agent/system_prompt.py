"""The order of the prompt, and the one function that builds it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from hermes.agent.environment import host_facts
from hermes.agent.memory_slots import ExternalMemorySlot, MemorySlot
from hermes.agent.prompt_builder import (
    EnvironmentSlot,
    IdentitySlot,
    ModelGuidanceSlot,
    PlatformSlot,
    ProjectContextSlot,
    SessionLineSlot,
    SkillsSlot,
    Sources,
    SystemMessageSlot,
    ToolGuidanceSlot,
    WorkingDirectorySlot,
)
from hermes.agent.second_opinion import second_opinion
from hermes.agent.workdir import resolve_cwd
from hermes.bulkhead import behind_bulkhead
from hermes.memory.scope import OWNER, MemoryScope
from hermes.paths import Home, get_hermes_home
from hermes.platforms import PLATFORM_HINTS, Platforms
from hermes.prompt import PromptFacts, PromptSlot, Section, SystemPrompt, WorkDir
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Passage
from hermes.providers.profiles import profile_for
from hermes.security.found import keep_found
from hermes.security.policy import Policies
from hermes.tool_names import enabled_tools

if TYPE_CHECKING:
    from hermes.config import Config
    from hermes.contracts import ModelProfile

__all__ = [
    "PLATFORM_HINTS",
    "build_system_prompt",
    "default_slots",
    "load_sources",
    "new_facts",
    "working_directory",
]


def default_slots(
    sources: Sources,
    external_memory: Passage | None = None,
    more: Iterable[PromptSlot] = (),
    scope: MemoryScope = OWNER,
) -> tuple[PromptSlot, ...]:
    """The cached prompt, from top to bottom. The slots of plugins, then `more`, end their tiers.

    `scope` says whose memory it may show.
    """
    if sources.plugins is not None:
        from hermes.agent.plugin_slots import plugin_slots

        more = (*plugin_slots(sources.plugins), *more)
    return (
        IdentitySlot(sources),
        ToolGuidanceSlot(sources),
        ModelGuidanceSlot(sources),
        SkillsSlot(sources),
        EnvironmentSlot(sources),
        PlatformSlot(sources),
        SystemMessageSlot(sources),
        ProjectContextSlot(sources),
        WorkingDirectorySlot(sources.policies),
        MemorySlot(sources, "memory", "memory", scope),
        MemorySlot(sources, "user", "user profile", scope),
        ExternalMemorySlot(external_memory or Passage(), sources.policies),
        *more,
        SessionLineSlot(sources.policies),
    )


def build_system_prompt(
    slots: Iterable[PromptSlot] | None = None,
    facts: PromptFacts | None = None,
    *,
    config_digest: str = "",
) -> SystemPrompt:
    """Build and freeze a prompt. Never raises: a slot that fails is left out with a notice.

    Without arguments: the prompt of a new session here and now, with the home's configuration.
    """
    if slots is None or facts is None:
        sources = load_sources()
        slots = default_slots(sources) if slots is None else slots
        facts = new_facts(sources.config) if facts is None else facts
        config_digest = config_digest or sources.config.digest
    return SystemPrompt.assemble((_section(slot, facts) for slot in slots), facts, config_digest)


def _section(slot: PromptSlot, facts: PromptFacts) -> Section:
    # A prompt without an identity is no prompt: where the owner's fails, the default one stands.
    fallback = prompt_text("identity") if slot.name == "identity" else Passage()
    passage, notices = behind_bulkhead(f"prompt section {slot.name}", lambda: slot.passage(facts), fallback)
    return Section.of(slot.name, slot.tier, passage.with_notes(notices) if notices else passage)


def working_directory(config: Config, argument: str = "") -> tuple[WorkDir, tuple[Notice, ...]]:
    """The one choice of a working directory: the argument, the environment, the configuration, here."""
    from hermes.config import environment

    return resolve_cwd(argument, environment().cwd or config.agent.cwd)


def load_sources(home: Home | None = None, config: Config | None = None) -> Sources:
    """What the slots read from, for a home."""
    from hermes.config import environment, load_config

    home = home or get_hermes_home()
    config = config or load_config(home)
    accepted, notices = _accepted(home)
    policies = Policies.from_config(config.security.scan, accepted, second_opinion(config, home))
    keep_found(home.cache)
    host = host_facts(environment().host)
    if not config.plugins.enabled:
        return Sources(home, config, policies, host, notices=notices)
    from hermes.plugins.load import load_plugins

    plugins = load_plugins(home, config, policies)
    platforms = Platforms(tuple(plugins.platforms))
    return Sources(home, config, policies, host, platforms, (*notices, *plugins.told()), plugins)


def _accepted(home: Home) -> tuple[frozenset[str], tuple[Notice, ...]]:
    """The digests of what the owner accepted; whoever accepted nothing does without the reader of it."""
    try:
        os.stat(home.trust)
    except (FileNotFoundError, NotADirectoryError):
        return frozenset(), ()
    except OSError:
        pass  # its reader says why
    from hermes.security.trust import load_trust

    trusted = load_trust(home)
    return trusted.digests, trusted.notices


def new_facts(
    config: Config,
    *,
    cwd: str | os.PathLike[str] | WorkDir = "",
    platform: str = "cli",
    model: str = "",
    provider: str = "",
    profile: ModelProfile | None = None,
    session_id: str = "",
    now: datetime | None = None,
    tools: Iterable[str] | None = None,
    system_message: str = "",
) -> PromptFacts:
    """The facts of a new session; what is not given comes from the configuration, the clock, the process.

    A `profile` stands in place of `model` and `provider`.
    """
    chosen = cwd if isinstance(cwd, WorkDir) else working_directory(config, os.fspath(cwd))[0]
    name, maker = model or config.model.default, provider or ("" if model else config.model.provider)
    enabled = tools if tools is not None else config.tools.enabled
    window = None if model else config.model.context_window
    profile = profile or _of_a_file(name, maker, config) or profile_for(name, maker, config.models, window)
    return PromptFacts(
        cwd=chosen,
        now=now or datetime.now().astimezone(),
        session_id=session_id,
        platform=platform,
        model=profile,
        tools=enabled_tools(enabled, small=profile.small),
        system_message=system_message,
    )


def _of_a_file(name: str, provider: str, config: Config) -> ModelProfile | None:
    """The profile of a model that runs on this machine; None for others, and where its file is not here."""
    own = config.free.get("providers")
    row = own.get(provider or name) if isinstance(own, Mapping) else None
    gguf = row.get("gguf") if isinstance(row, Mapping) else None
    if not gguf and "local" not in (name, provider):
        return None
    from hermes.errors import ConfigError
    from hermes.providers.local.weights import EMBEDDED, find_weights, local_profile

    try:
        return local_profile(find_weights(str(gguf or EMBEDDED), config, get_hermes_home()), config)
    except ConfigError:
        return None
