"""What plugins bring to one conversation. Nothing of it is imported until it is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes.messages import Annex
from hermes.prompt import PromptSlot
from hermes.provenance import Notice, Passage
from hermes.turns import EphemeralOverlay, Event

if TYPE_CHECKING:
    from hermes.agent.prompt_builder import Sources
    from hermes.contracts import Whose
    from hermes.plugins.plugins import Plugins
    from hermes.tooling import Tool


class Extensions:
    """Plugins at work in one conversation. `block` and `slots` go into its prompt."""

    def __init__(self, plugins: Plugins | None = None) -> None:
        self.plugins = plugins
        self.block = Passage()
        self.slots: tuple[PromptSlot, ...] = ()

    @classmethod
    def of(cls, sources: Sources) -> Extensions:
        """Those that the configuration asks for."""
        return cls(sources.plugins)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that are there now."""
        return tuple(self.plugins.tools) if self.plugins else ()

    async def overlays(self, asked: str, whose: Whose, model: str) -> tuple[EphemeralOverlay, ...]:
        """What is added to a person's message of this turn."""
        if self.plugins is None:
            return ()
        from hermes.agent.overlays import fenced
        from hermes.plugins.hooks import Asked

        texts = await self.plugins.pre_llm_call(Asked(asked, whose.session_id, whose.platform, model))
        return tuple(EphemeralOverlay(Annex("plugin", fenced("plugin", text, name))) for name, text in texts)

    def event(self, event: Event, session_id: str) -> None:
        """Tell plugins of something that happened."""
        if self.plugins is not None:
            self.plugins.event(event, session_id)

    def told(self) -> tuple[Notice, ...]:
        """What a person must be told since this was asked last."""
        return self.plugins.told() if self.plugins else ()

    async def close(self) -> None:
        """Let go of everything."""
        if self.plugins is not None:
            await self.plugins.close()
