"""Sections that plugins bring, and those that only a running agent has."""

from __future__ import annotations

from dataclasses import dataclass

from hermes.plugins.hooks import PluginSection
from hermes.plugins.plugins import Plugin, Plugins
from hermes.prompt import PromptFacts, PromptSlot, Tier
from hermes.provenance import Passage


@dataclass(frozen=True, slots=True)
class PluginSlot:
    """A section of a plugin, at the end of its tier but before the session line."""

    plugins: Plugins
    plugin: Plugin
    section: PluginSection

    @property
    def name(self) -> str:
        return f"plugin {self.plugin.name}: {self.section.name}"

    @property
    def tier(self) -> Tier:
        return self.section.tier

    def passage(self, facts: PromptFacts) -> Passage:
        return self.plugins.section(self.plugin, self.section, facts)


def plugin_slots(plugins: Plugins) -> tuple[PromptSlot, ...]:
    """A slot for each section, in the order of the plugins' names."""
    return tuple(PluginSlot(plugins, plugin, section) for plugin, section in plugins.sections)
