"""Folders that are never asked for hints, by their names."""

from __future__ import annotations

import os

_VENDOR = frozenset(
    [
        ".cache",
        ".eggs",
        ".git",
        ".gradle",
        ".hg",
        ".mypy_cache",
        ".next",
        ".nox",
        ".pnpm-store",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".terraform",
        ".tox",
        ".venv",
        ".yarn",
        "__pycache__",
        "bower_components",
        "node_modules",
        "site-packages",
        "third_party",
        "vendor",
        "venv",
    ]
)
_OTHERS = frozenset(
    [
        ".agents",
        ".aider",
        ".claude",
        ".clinerules",
        ".codeium",
        ".codex",
        ".continue",
        ".cursor",
        ".gemini",
        ".hermes",
        ".kiro",
        ".opencode",
        ".roo",
        ".windsurf",
    ]
)


def kept_out(below: str) -> str:
    """Why a folder is not asked for hints, by its path below the project; "" when it may be."""
    for part in below.split(os.sep):
        if part in _VENDOR:
            return f"what lies under {part} is by others, or made by a tool"
        if part in _OTHERS:
            return f"{part} is the folder of another agent"
    return ""
