"""Sections that come from outside: those of plugins, and what MCP servers say of their tools."""

from __future__ import annotations

from hermes.frozen import frozen
from hermes.plugins.hooks import PluginSection
from hermes.plugins.plugins import Plugin, Plugins
from hermes.prompt import PromptFacts, PromptSlot, Tier
from hermes.provenance import Passage


@frozen
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


@frozen
class ServersSlot:
    """The instructions of the MCP servers, behind all that the owner and the project say.

    A server may be away; so they stand where their coming and going moves nothing stable.
    """

    text: Passage
    name: str = "mcp servers"
    tier: Tier = Tier.CONTEXT

    def passage(self, facts: PromptFacts) -> Passage:  # noqa: ARG002
        return self.text


def plugin_slots(plugins: Plugins) -> tuple[PromptSlot, ...]:
    """A slot for each section, in the order of the plugins' names."""
    return tuple(PluginSlot(plugins, plugin, section) for plugin, section in plugins.sections)
