"""The names of the tools that come with Hermes, for those who need no more than a name."""

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
