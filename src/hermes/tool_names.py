"""The names of the tools that come with Hermes, for those who need no more than a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TOOL_NAMES = (
    "clarify",
    "delegate_task",
    "memory",
    "patch",
    "read_file",
    "search_files",
    "session_search",
    "skill_manage",
    "skill_view",
    "skills_list",
    "terminal",
    "todo",
    "write_file",
)
"""Every tool that comes with Hermes; all are on unless the configuration says otherwise."""

TOOLSETS: Mapping[str, tuple[str, ...]] = {
    "files": ("patch", "read_file", "search_files", "write_file"),
    "looking": ("read_file", "search_files", "session_search", "skill_view", "skills_list"),
    "planning": ("clarify", "delegate_task", "todo"),
    "remembering": ("memory", "session_search"),
    "shell": ("terminal",),
    "small": ("read_file", "search_files", "terminal", "write_file"),
    "skills": ("skill_manage", "skill_view", "skills_list"),
}
"""Groups of tools that go by one name, wherever tools are named."""


def tools_of(names: Iterable[str]) -> frozenset[str]:
    """The tools that names mean, where a name is that of a tool or of a toolset."""
    return frozenset(tool for name in names for tool in TOOLSETS.get(name, (name,)))


def enabled_tools(names: Iterable[str] | None, *, small: bool = False) -> frozenset[str]:
    """The tools that are on with `tools.enabled`; the usual ones when it says nothing.

    Of those a model with a `small` window is offered the toolset `small`.
    """
    if names is not None:
        return tools_of(names)
    return frozenset(TOOL_NAMES) & tools_of(["small"]) if small else frozenset(TOOL_NAMES)
