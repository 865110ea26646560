"""The tools of a session: those that are on, in the one order in which every model is told of them."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hermes.config import Config
from hermes.contracts import ModelProfile
from hermes.memory.scope import MemoryFile
from hermes.messages import ToolSpec
from hermes.paths import Home, can_be_written
from hermes.provenance import Notice
from hermes.security.policy import Policies
from hermes.sessions.contract import Store
from hermes.tool_names import TOOL_NAMES, TOOLSETS, enabled_tools
from hermes.tooling import Plan, Tool, ToolContext


def builtin_tools(
    home: Home,
    config: Config,
    policies: Policies,
    store: Store,
    cwd: str,
    memory: Sequence[MemoryFile] = (),
    more: Iterable[Tool] = (),
) -> tuple[Tool, ...]:
    """The tools that come with Hermes and are wanted, made for one conversation in a working directory.

    `memory` are the memories that the conversation may see, `more` are tools that only it can make.
    """
    from hermes.tools.clarify_tool import clarify
    from hermes.tools.edit_tools import patch, write_file
    from hermes.tools.file_tools import read_file
    from hermes.tools.memory_tool import memory_tool
    from hermes.tools.search_tool import search_tool
    from hermes.tools.session_search_tool import session_search_tool
    from hermes.tools.skill_manage_tool import skill_manage_tool
    from hermes.tools.skill_tools import skill_tools
    from hermes.tools.terminal_tool import terminal_tool
    from hermes.tools.todo_tool import todo_tool

    on = enabled_tools(config.tools.enabled)
    shell = _shell_place(home, uuid.uuid4().hex[:12])
    skills = skill_tools(home, config, policies, on)
    made = (
        clarify,
        memory_tool(home, memory, policies),
        patch,
        read_file,
        search_tool(),
        session_search_tool(store),
        *skills,
        skill_manage_tool(home, config, policies),
        terminal_tool(shell, cwd, confine=config.tools.confine),
        todo_tool(store),
        write_file,
        *more,
    )
    return tuple(t for t in made if t.spec.name in on)


def _shell_place(home: Home, name: str) -> str:
    """Where a terminal keeps its files; in the system's place for it when the home cannot be written."""
    place = home.path("cache", "terminal", name)
    if can_be_written(place):
        return place
    import tempfile

    return os.path.join(tempfile.gettempdir(), f"hermes-terminal-{name}")


def unknown_tools(names: Iterable[str] | None, tools: Mapping[str, Tool]) -> tuple[Notice, ...]:
    """A word about each name in `tools.enabled` that is neither a tool nor a toolset."""
    known = {*TOOL_NAMES, *TOOLSETS, *tools}
    strange = [name for name in names or () if name not in known and not name.startswith("mcp__")]
    text = "tools.enabled names {!r}, which is no tool and no toolset; the toolsets are {}"
    return tuple(Notice("warning", text.format(name, ", ".join(TOOLSETS))) for name in strange)


def from_outside(tool: Tool) -> Tool:
    """A tool that plugins or servers brought: where it may change something, it needs approval."""
    if tool.plan is not None or not tool.effects:
        return tool

    def plan(context: ToolContext, **arguments: Any) -> Plan:  # noqa: ARG001
        return Plan(outside=True, detail=json.dumps(arguments, ensure_ascii=False, indent=1))

    return replace(tool, plan=plan)


def fitting(
    tools: Mapping[str, Tool], profile: ModelProfile, config: Config
) -> tuple[Mapping[str, Tool], tuple[Notice, ...]]:
    """The tools that a model has room for, and what is to be said of the others.

    A model with a small window is offered the toolset `small`, unless `tools.enabled` names others.
    """
    if not profile.small or config.tools.enabled is not None:
        return tools, ()
    kept = {name: tool for name, tool in tools.items() if name in enabled_tools(None, small=True)}
    left = ", ".join(name for name in tools if name not in kept)
    text = (
        f"the window of {profile.name} is small, so it is offered the toolset small and not {left}; "
        "tools.enabled in config.yaml names others"
    )
    return kept, (Notice("info", text),) if left else ()


def toolbox(tools: Iterable[Tool], enabled: frozenset[str] | None = None) -> Mapping[str, Tool]:
    """The tools by name, sorted; all of them, or those named in `enabled`."""
    wanted = [t for t in tools if enabled is None or t.spec.name in enabled]
    return {t.spec.name: t for t in sorted(wanted, key=lambda t: t.spec.name)}


def tool_definitions(tools: Mapping[str, Tool]) -> tuple[ToolSpec, ...]:
    """What the model is told of the tools; the same tools give the same bytes."""
    return tuple(tools[name].spec for name in sorted(tools))
