"""The tools of one conversation: what it can do, what of it is off, what came after its list was frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from hermes.errors import UsageError
from hermes.model_tools import fitting, from_outside, toolbox
from hermes.provenance import Notice
from hermes.tool_names import TOOLSETS, tools_of
from hermes.tooling import Tool, absent_tool

if TYPE_CHECKING:
    from hermes.agent.extensions import Extensions
    from hermes.agent.session import Session
    from hermes.config import Config
    from hermes.contracts import ModelProfile, Whose


class Hands:
    """`tools` are all that there are now, by name; those in `off` stay listed and answer so.

    With `fits`, tools that are too many for a small window are left out.
    """

    def __init__(self, tools: Iterable[Tool], config: Config, *, fits: bool = False) -> None:
        self.tools: Mapping[str, Tool] = toolbox(tools)
        self.off: set[str] = set()
        self._config, self._fits = config, fits
        self._only: frozenset[str] | None = None
        self._brought: frozenset[str] = frozenset()
        self._told_late: list[str] = []

    def extend(self, extensions: Extensions, whose: Whose, profile: ModelProfile) -> tuple[Notice, ...]:
        """Take in the tools that the extensions offer now; a list that is frozen stays as it is."""
        offered = {t.spec.name: from_outside(t) for t in extensions.tools(whose)}
        kept = {name: tool for name, tool in self.tools.items() if name not in self._brought}
        self._brought = frozenset(offered)
        self.tools = toolbox({**offered, **kept}.values(), self._only)
        if not self._fits:
            return ()
        self.tools, told = fitting(self.tools, profile, self._config)
        return told

    def switch(self, name: str, on: bool, listed: frozenset[str] | None) -> str:
        """Switch a tool or toolset off or on; what that means where these are `listed`, None for no list yet.

        The list that the model was given is frozen: a tool that is off stays listed and answers so, and one
        that was not there when the session began is staged for the next boundary. UsageError when unknown.
        """
        names = sorted(tools_of([name]) & self.tools.keys())
        if not names:
            raise self._unknown(name)
        (self.off.difference_update if on else self.off.update)(names)
        one = len(names) == 1
        told = f"{', '.join(names)} {'is' if one else 'are'}"
        if not on:
            stays = "it stays listed and answers" if one else "they stay listed and answer"
            return f"{told} off: {stays} so."
        late = [] if listed is None else [n for n in names if n not in listed]
        if not late:
            return f"{told} on."
        return (
            f"{', '.join(late)} {'come' if len(late) > 1 else 'comes'} at the next boundary: a new session, "
            "/refresh (it tells the price) or /compress."
        )

    def only(self, names: Iterable[str]) -> None:
        """Have only these tools and toolsets, in the order they have anyway. UsageError when unknown."""
        named = sorted(set(names))
        if unknown := [n for n in named if n not in TOOLSETS and n not in self.tools]:
            raise self._unknown(unknown[0])
        self._only = frozenset(tools_of(named))
        self.tools = {name: tool for name, tool in self.tools.items() if name in self._only}

    def callable(self, session: Session, extensions: Extensions) -> dict[str, Tool]:
        """The tools of the session's frozen list, as they are now."""
        found = {}
        for spec in session.tools:
            tool = self.tools.get(spec.name)
            if spec.name in self.off:
                tool = absent_tool(spec, f"the tool {spec.name} is switched off; do without it")
            elif tool is None and (late := extensions.late(spec)):
                tool = from_outside(late)
            elif tool is None:
                tool = absent_tool(spec, f"the tool {spec.name} is no longer available; do without it")
            found[spec.name] = tool
        return found

    def late(self, session: Session) -> str:
        """The tools that came after the session's list was frozen, when they were not named yet; else ""."""
        listed = {t.name for t in session.tools}
        late = [name for name in self.tools if name not in listed and name not in self.off]
        if late == self._told_late:
            return ""
        self._told_late = late
        return ", ".join(late)

    async def close(self) -> None:
        """End what tools left running."""
        for tool in self.tools.values():
            if tool.close is not None:
                await tool.close()

    def _unknown(self, name: str) -> UsageError:
        return UsageError(f"there is no tool {name!r}; the tools are {', '.join(self.tools)}")
