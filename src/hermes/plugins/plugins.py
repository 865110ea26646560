"""Plugins at work: each call in the plugin's own thread, behind a time limit and the bulkhead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pluggy import HookImpl

from hermes.bulkhead import behind_bulkhead, behind_bulkhead_async
from hermes.lane import Lane
from hermes.platforms import Platform
from hermes.plugins.hooks import Asked, MakeProvider, PluginSection
from hermes.prompt import PromptFacts, Tier
from hermes.provenance import Notice, Origin, Passage, digest_of
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.text import many
from hermes.tooling import Tool
from hermes.turns import Event, TurnEnded

T = TypeVar("T")

MAX_CHARS = 8_000
"""The most characters of one plugin's text on a message, or in a section."""


@dataclass(frozen=True, slots=True, eq=False)
class Plugin:
    """One plugin that is loaded. `limit` in seconds, for each call."""

    name: str
    place: str
    lane: Lane
    impls: Mapping[str, HookImpl]
    settings: Mapping[str, Any]
    limit: float

    @property
    def who(self) -> str:
        return f"the plugin {self.name}"

    def part(self, hook: str) -> str:
        return f"{hook} of {self.who}"

    def work(self, hook: str, given: Mapping[str, Any]) -> Callable[[], Any]:
        """A call of one hook, with those of the arguments that it takes."""
        impl = self.impls[hook]
        return lambda: impl.function(*(given[name] for name in impl.argnames))


@dataclass(slots=True)
class Plugins:
    """The plugins that are enabled and could be loaded, by name, and what they brought."""

    plugins: tuple[Plugin, ...]
    policies: Policies
    notices: list[Notice] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    platforms: list[Platform] = field(default_factory=list)
    sections: list[tuple[Plugin, PluginSection]] = field(default_factory=list)
    providers: dict[str, tuple[Plugin, MakeProvider]] = field(default_factory=dict)
    _said: dict[tuple[object, ...], str] = field(default_factory=dict)

    def ask(self, plugin: Plugin, hook: str, fallback: T, check: Callable[[Any], T], **given: Any) -> T:
        """What a hook of one plugin gives; the fallback when it has none, fails or is late."""
        if hook not in plugin.impls:
            return fallback
        work = plugin.work(hook, given)

        def call() -> T:
            found = plugin.lane.call(work, plugin.limit)
            return fallback if found is None else check(found)

        found, notices = behind_bulkhead(plugin.part(hook), call, fallback)
        self.notices += notices
        return found

    def tell(self, plugin: Plugin, text: str) -> None:
        """Note something about a plugin for the person."""
        self.notices.append(Notice("warning", f"{plugin.who}: {text}", Origin("plugin", plugin.place)))

    def told(self) -> tuple[Notice, ...]:
        """What there is to tell since this was asked last."""
        notices, self.notices = self.notices, []
        return tuple(notices)

    # -- a turn -------------------------------------------------------------------------------------------

    async def pre_llm_call(self, asked: Asked) -> tuple[tuple[str, Passage], ...]:
        """The texts for this message, each with the name of its plugin."""
        texts = []
        for plugin in self.plugins:
            if "pre_llm_call" not in plugin.impls:
                continue
            work = plugin.work("pre_llm_call", {"asked": asked, "settings": plugin.settings})
            found, notices = await behind_bulkhead_async(
                plugin.part("pre_llm_call"), plugin.lane.wait(work, plugin.limit), None
            )
            self.notices += notices
            if text := self._admitted(plugin, "pre_llm_call", found):
                texts.append((plugin.name, text))
        return tuple(texts)

    def event(self, event: Event, session_id: str) -> None:
        """Tell of an event; nobody waits for who hears it."""
        for plugin in self.plugins:
            if "on_event" in plugin.impls:
                given = {"event": event, "session_id": session_id, "settings": plugin.settings}
                plugin.lane.post(plugin.work("on_event", given))
            if isinstance(event, TurnEnded):
                self._tell_failures(plugin)

    def _tell_failures(self, plugin: Plugin) -> None:
        if failed := plugin.lane.failures():
            last = failed[-1]
            times = f", {len(failed)} times" if len(failed) > 1 else ""
            self.tell(plugin, f"on_event failed{times} ({type(last).__name__}: {last})")
        if plugin.lane.left_out:
            self.tell(plugin, f"on_event is slow: it has missed {many(plugin.lane.left_out, 'event')}")
            plugin.lane.left_out = 0

    # -- a prompt -----------------------------------------------------------------------------------------

    def section(self, plugin: Plugin, section: PluginSection, facts: PromptFacts) -> Passage:
        """The text of a section for these facts, with a warning when a stable one has moved."""
        text = section.text
        before, self.notices = self.notices, []
        try:
            if callable(text):
                make = text
                found, failed = behind_bulkhead(
                    f"the section {section.name} of {plugin.who}",
                    lambda: plugin.lane.call(lambda: make(facts), plugin.limit),
                    "",
                )
                self.notices += failed
                text = found
            passage = self._admitted(plugin, section.name, text)
            if section.tier is Tier.STABLE:
                self._watch(plugin, section, passage, facts)
            return passage.with_notes(self.notices)
        finally:
            self.notices = before

    def _watch(self, plugin: Plugin, section: PluginSection, passage: Passage, facts: PromptFacts) -> None:
        # The model, the surface and the tools may shape a stable section; time, place and session may not.
        key = (plugin.name, section.name, facts.model.name, facts.platform, facts.tools)
        digest = digest_of(passage)
        if self._said.setdefault(key, digest) != digest:
            self._said[key] = digest
            text = (
                f"its section {section.name} stands in the stable tier but its text has changed: from "
                "there on no prompt finds a cache. Put what moves in the volatile tier"
            )
            self.tell(plugin, text)

    def _admitted(self, plugin: Plugin, what: str, text: object) -> Passage:
        """A plugin's text through the gate; what is no text, too long or poisoned leaves a notice."""
        if text is None or text == "":
            return Passage()
        if not isinstance(text, str):
            self.tell(plugin, f"{what} gave {type(text).__name__} in place of a text; it was left out")
            return Passage()
        if len(text) > MAX_CHARS:
            self.tell(plugin, f"{what} gave {len(text):,} characters; the first {MAX_CHARS:,} were taken")
            text = f"{text[:MAX_CHARS]} […]"
        origin = Origin("plugin", plugin.place, digest_of(text), trust="third_party")
        name = plugin.part(what)
        admitted = admit(Passage.quote(text, origin), name=name, policy=self.policies.of("plugin"))
        self.notices += admitted.passage.notices
        if admitted.outcome == "blocked":
            return Passage()
        return Passage(admitted.passage, admitted.passage.spans)

    async def close(self) -> None:
        """Let the plugins hear what has happened, within their limits, and end their threads."""
        for plugin in self.plugins:
            await plugin.lane.idle(plugin.limit)
            self._tell_failures(plugin)
            plugin.lane.close()
