"""What plugins, an external memory and MCP servers bring to one conversation; imported when configured."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING

from hermes.config import Config
from hermes.contracts import Exchange, Whose
from hermes.memory.scope import MemoryScope
from hermes.messages import Annex, Message
from hermes.prompt import PromptSlot
from hermes.provenance import Notice, Origin, Passage
from hermes.turns import EphemeralOverlay, Event

if TYPE_CHECKING:
    from hermes.agent.prompt_builder import Sources
    from hermes.agent.session import Clock, Session
    from hermes.agent.telemetry import Telemetry
    from hermes.contracts import ModelProfile
    from hermes.mcp.fleet import Fleet
    from hermes.memory.active import ActiveMemory
    from hermes.messages import ToolSpec
    from hermes.plugins.plugins import Plugins
    from hermes.sessions.contract import Store
    from hermes.tooling import Tool


class Extensions:
    """Plugins, a memory and servers at work in one conversation. `block` and `slots` go into its prompt."""

    def __init__(
        self,
        plugins: Plugins | None = None,
        memory: ActiveMemory | None = None,
        fleet: Fleet | None = None,
        notices: Iterable[Notice] = (),
        telemetry: Telemetry | None = None,
    ) -> None:
        self.plugins = plugins
        self.memory = memory
        self.fleet = fleet
        self.telemetry = telemetry
        self.block = Passage()
        self.slots: tuple[PromptSlot, ...] = ()
        self._notices = list(notices)
        self._memory_tools: tuple[Tool, ...] | None = None

    @classmethod
    def of(cls, sources: Sources, store: Store) -> Extensions:
        """Those that the configuration asks for."""
        config, plugins = sources.config, sources.plugins
        telemetry, unmade = _telemetry(config)
        memory: ActiveMemory | None = None
        notices = unmade
        if config.memory.provider:
            from hermes.memory.choose import active_memory

            others = {name: make for name, (_, make) in plugins.providers.items()} if plugins else {}
            memory, told = active_memory(sources.home, config, sources.policies, store, others)
            notices = (*notices, *told)
        if not config.mcp.servers:
            return cls(plugins, memory, None, notices, telemetry)
        from hermes.mcp.fleet import Fleet
        from hermes.mcp.settings import servers

        known, told = servers(config.mcp, sources.home)
        fleet = Fleet(known, config.mcp, sources.policies, sources.home)
        return cls(plugins, memory, fleet, (*notices, *told), telemetry)

    def tools(self, whose: Whose) -> tuple[Tool, ...]:
        """The tools that are there now."""
        if self.memory is not None and self._memory_tools is None:
            self._memory_tools = self.memory.tools(whose)
        own = (*(self.plugins.tools if self.plugins else ()), *(self._memory_tools or ()))
        return (*own, *self.fleet.tools) if self.fleet else own

    def late(self, spec: ToolSpec) -> Tool | None:
        """A tool of a frozen list that is not there yet; a call of it waits for its server."""
        return self.fleet.late(spec) if self.fleet else None

    async def begin(self, whose: Whose) -> None:
        """Before a prompt is built on purpose: what stands in it for as long as it does."""
        if self.memory is not None:
            self.memory.send_waiting()
            self.block = await self.memory.block(whose)
        if self.fleet is not None:
            from hermes.agent.plugin_slots import ServersSlot

            await self.fleet.start()
            self.slots = (ServersSlot(self.fleet.instructions()),)

    async def resume(self) -> None:
        """Before a stored session goes on, whose prompt and tools are there already."""
        if self.memory is not None:
            self.memory.send_waiting()
        if self.fleet is not None:
            await self.fleet.start(wait=False)

    async def overlays(
        self, asked: str, whose: Whose, model: str, visible: Iterable[Message] = ()
    ) -> tuple[EphemeralOverlay, ...]:
        """What is added to a person's message of this turn. `visible` are the messages so far."""
        if self.plugins is None and self.memory is None:
            return ()
        from hermes.agent.overlays import fenced

        found = []
        if self.memory is not None:
            sent = [a.text for m in visible for a in m.annex if a.kind == "recall"]
            text = await self.memory.recall(asked, whose, sent)
            found.append(EphemeralOverlay(Annex("recall", fenced("recall", text), "before")))
        if self.plugins is not None:
            from hermes.plugins.hooks import Asked

            texts = await self.plugins.pre_llm_call(Asked(asked, whose.session_id, whose.platform, model))
            found += [EphemeralOverlay(Annex("plugin", fenced("plugin", text, name))) for name, text in texts]
        return tuple(found)

    def watched(
        self, events: AsyncGenerator[Event, None], session: Session, profile: ModelProfile
    ) -> AsyncGenerator[Event, None]:
        """The events of a turn, seen by telemetry where it is on."""
        return self.telemetry.watch(events, session, profile) if self.telemetry else events

    def event(self, event: Event, session_id: str) -> None:
        """Tell plugins of something that happened."""
        if self.plugins is not None:
            self.plugins.event(event, session_id)

    def ended(self, whose: Whose, asked: str, answered: str, clock: Clock) -> None:
        """Have a turn remembered, however it ended."""
        if self.memory is not None:
            self.memory.remember(Exchange(whose, asked, answered, clock().isoformat()))

    def told(self) -> tuple[Notice, ...]:
        """What a person must be told since this was asked last."""
        own, self._notices = self._notices, []
        return (*own, *(notice for part in self._parts for notice in part.told()))

    @property
    def _parts(self) -> tuple[Plugins | ActiveMemory | Fleet | Telemetry, ...]:
        parts = (self.plugins, self.memory, self.fleet, self.telemetry)
        return tuple(part for part in parts if part is not None)

    async def close(self) -> None:
        """Let go of everything."""
        for part in self._parts:
            await part.close()


def whose_of(scope: MemoryScope, session_id: str, platform: str) -> Whose:
    """Whose external memory a conversation has. Several people, or one who is not known, have none."""
    if scope.chat == "owner":
        return Whose(session_id, platform)
    who = scope.user if scope.chat == "direct" else scope.room
    private = scope.chat == "direct" and bool(who)
    return Whose(session_id, platform, f"{scope.chat}:{scope.platform}:{who}", private)


def _telemetry(config: Config) -> tuple[Telemetry | None, tuple[Notice, ...]]:
    """Telemetry where it is on; without its libraries a word about how to get them."""
    if not config.telemetry.enabled:
        return None, ()
    try:
        from hermes.agent.telemetry_export import telemetry_of
    except ImportError:
        text = "telemetry is on, and its libraries are not there: pip install 'hermes-lucid[otel]'"
        return None, (Notice("warning", text, Origin("telemetry")),)
    return telemetry_of(config), ()
