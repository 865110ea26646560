"""Import the plugins that are enabled, and gather what they bring."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pluggy
from pluggy import HookImpl

from hermes.bulkhead import behind_bulkhead
from hermes.config import Config
from hermes.errors import HermesError
from hermes.lane import Lane
from hermes.paths import Home
from hermes.platforms import Platform
from hermes.plugins.find import NAME, Candidate, candidates
from hermes.plugins.hooks import Hooks, MakeProvider, PluginSection
from hermes.plugins.plugins import Plugin, Plugins
from hermes.provenance import Notice, Origin, Passage, digest_of
from hermes.security.foreign_tools import admitted_spec
from hermes.security.policy import Policies
from hermes.tool_names import TOOL_NAMES
from hermes.tooling import Tool

HOOKS = tuple(name for name in vars(Hooks) if not name.startswith("_"))


class PluginRefused(HermesError):
    """A plugin that cannot be used; the message says why."""


def load_plugins(home: Home, config: Config, policies: Policies) -> Plugins:
    """The enabled plugins, by name. Never raises: one that cannot be had is left out with a notice."""
    found, notices = candidates(home)
    by_name = {c.name: c for c in found}
    told = [n for n in notices if any(f" {name} " in n.text for name in config.plugins.enabled)]
    limit = config.plugins.timeout
    plugins = []
    for name in sorted(config.plugins.enabled):
        if name not in by_name:
            there = ", ".join(by_name) or "none"
            text = f"there is no plugin {name!r} in {home.path('plugins')} or installed; there is: {there}"
            told.append(Notice("error", text, Origin("plugins.enabled", home.config)))
            continue
        candidate, lane = by_name[name], Lane(f"the plugin {name}")
        impls, failed = behind_bulkhead(
            f"the plugin {name}",
            lambda c=candidate, on=lane: on.call(lambda: _hooks_of(c), limit),  # type: ignore[misc]
            None,
        )
        told += failed
        if impls is None:
            lane.close()
            continue
        settings = config.plugins.settings.get(name, {})
        plugins.append(Plugin(name, candidate.place, lane, impls, settings, limit))
    return _gathered(Plugins(tuple(plugins), policies, list(told)), home)


def _hooks_of(candidate: Candidate) -> Mapping[str, HookImpl]:
    """Import a plugin and look which hooks it has. PluginRefused when it has none, or wrong ones."""
    made = candidate.entry.load() if candidate.entry else _imported(candidate)
    if inspect.isclass(made):
        made = made()
    register = pluggy.PluginManager("hermes")
    register.add_hookspecs(Hooks)
    try:
        register.register(made, candidate.name)
        register.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginRefused(" ".join(str(error).split())) from None
    impls = {name: impl for name in HOOKS for impl in getattr(register.hook, name).get_hookimpls()}
    if not impls:
        raise PluginRefused(f"it has none of the hooks; mark one with @hook: {', '.join(HOOKS)}")
    return impls


def _imported(candidate: Candidate) -> Any:
    name = f"hermes_plugin_{candidate.name.replace('-', '_')}_{digest_of(candidate.place)[:8]}"
    spec = importlib.util.spec_from_file_location(name, candidate.place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _gathered(plugins: Plugins, home: Home) -> Plugins:
    """With the tools, platforms, memories and sections that the plugins bring."""
    for plugin in plugins.plugins:
        given = {"home": home, "settings": plugin.settings}
        tools: list[Tool] = plugins.ask(plugin, "register_tools", [], _list_of(Tool), **given)
        for tool in tools:
            _take_tool(plugins, plugin, tool)
        platforms: list[Platform] = plugins.ask(plugin, "register_platforms", [], _list_of(Platform), **given)
        plugins.platforms += (_with_origin(plugin, platform) for platform in platforms)
        sections: list[PluginSection] = plugins.ask(
            plugin, "register_sections", [], _list_of(PluginSection), **given
        )
        plugins.sections += ((plugin, section) for section in sections)
        none: Mapping[str, MakeProvider] = {}
        providers = plugins.ask(plugin, "register_memory_providers", none, _providers, **given)
        for name in sorted(providers):
            first = plugins.providers.setdefault(name, (plugin, providers[name]))[0]
            if first is not plugin:
                plugins.tell(plugin, f"its memory provider {name} stands behind that of {first.who}")
    return plugins


def _take_tool(plugins: Plugins, plugin: Plugin, tool: Tool) -> None:
    taken = {t.spec.name for t in plugins.tools}
    if tool.spec.name in TOOL_NAMES or tool.spec.name in taken:
        plugins.tell(plugin, f"its tool {tool.spec.name} was left out: there is one of that name")
        return
    spec, notices = admitted_spec(tool.spec, owner=plugin.who, policy=plugins.policies.of("plugin"))
    plugins.notices += notices
    if spec is not None:
        plugins.tools.append(replace(tool, spec=spec))


def _with_origin(plugin: Plugin, platform: Platform) -> Platform:
    """A hint that is a plain text gets its origin; the gate sees it when it is used."""
    hint: Passage | str | None = platform.hint  # an author who writes no types may give a text
    if hint is None or isinstance(hint, Passage):
        return platform
    origin = Origin("plugin", plugin.place, digest_of(hint), trust="third_party")
    return replace(platform, hint=Passage.quote(hint, origin))


def _list_of(kind: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if not isinstance(value, Iterable) or isinstance(value, str | Mapping):
            raise PluginRefused(f"expected a list of {kind.__name__}, not {type(value).__name__}")
        items = list(value)
        for item in items:
            if not isinstance(item, kind):
                raise PluginRefused(
                    f"expected a list of {kind.__name__}; one of them is {type(item).__name__}"
                )
        return items

    return check


def _providers(value: Any) -> Mapping[str, MakeProvider]:
    if not isinstance(value, Mapping) or not all(_names(n) and callable(m) for n, m in value.items()):
        raise PluginRefused("expected a mapping from names, as of plugins, to what makes a memory provider")
    return value


def _names(name: object) -> bool:
    return isinstance(name, str) and NAME.fullmatch(name) is not None
