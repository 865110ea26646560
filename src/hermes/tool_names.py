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
"""Every tool that the documents name."""

BUILTIN = ("read_file", "session_search", "skill_view", "skills_list", "terminal")
"""Those that are here so far, and on unless the configuration says otherwise."""
