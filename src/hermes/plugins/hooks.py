"""Everything a plugin can do, on one page.

A plugin is a module, or an object, with functions of these names marked `@hook`. Each takes those of the
arguments that it wants, may be `async`, and runs in a thread of the plugin's own with a time limit: one that
is slow or fails is left out with a notice. Of several plugins the one whose name sorts first comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pluggy

from hermes.contracts import MemoryProvider
from hermes.frozen import frozen
from hermes.paths import Home
from hermes.platforms import Platform
from hermes.prompt import PromptFacts, Tier
from hermes.tooling import Tool
from hermes.turns import Event

__all__ = ["Asked", "Hooks", "MakeProvider", "PluginSection", "hook"]

spec = pluggy.HookspecMarker("hermes")
hook = pluggy.HookimplMarker("hermes")

Settings = Mapping[str, Any]
"""What config.yaml has under `plugins.settings.NAME`."""


@frozen
class Asked:
    """A person's message before it goes to the model."""

    text: str
    session_id: str = ""
    platform: str = "cli"
    model: str = ""


@frozen
class PluginSection:
    """A section of the prompt. In the stable tier its text must be the same for every session."""

    name: str
    tier: Tier
    text: str | Callable[[PromptFacts], str]


MakeProvider = Callable[[], MemoryProvider]


class Hooks:
    """The hooks."""

    @spec
    def pre_llm_call(self, asked: Asked, settings: Settings) -> str | None:
        """Text to ride on the person's message of this turn; None or "" for nothing."""

    @spec
    def register_tools(self, home: Home, settings: Settings) -> Iterable[Tool]:
        """Tools of yours."""
        return ()

    @spec
    def register_platforms(self, home: Home, settings: Settings) -> Iterable[Platform]:
        """Surfaces of yours, with their hints."""
        return ()

    @spec
    def register_memory_providers(self, home: Home, settings: Settings) -> Mapping[str, MakeProvider]:
        """External memories by the name that `memory.provider` calls them; each made when it is chosen."""
        return {}

    @spec
    def register_sections(self, home: Home, settings: Settings) -> Iterable[PluginSection]:
        """Sections of the prompt, each at the end of its tier."""
        return ()

    @spec
    def on_event(self, event: Event, session_id: str, settings: Settings) -> None:
        """Everything that happens in a turn, in order. Nobody waits for you."""
