"""What a tool is. For now: the names of the tools that come with Hermes."""

from __future__ import annotations

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
SKILL_TOOLS = frozenset({"skill_manage", "skill_view", "skills_list"})
