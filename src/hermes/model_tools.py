"""The tools of a session: those that are on, in the one order in which every model is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hermes.messages import ToolSpec
from hermes.tooling import Tool


def toolbox(tools: Iterable[Tool], enabled: frozenset[str] | None = None) -> Mapping[str, Tool]:
    """The tools by name, sorted; all of them, or those named in `enabled`."""
    wanted = [t for t in tools if enabled is None or t.spec.name in enabled]
    return {t.spec.name: t for t in sorted(wanted, key=lambda t: t.spec.name)}


def tool_definitions(tools: Mapping[str, Tool]) -> tuple[ToolSpec, ...]:
    """What the model is told of the tools; the same tools give the same bytes."""
    return tuple(tools[name].spec for name in sorted(tools))
