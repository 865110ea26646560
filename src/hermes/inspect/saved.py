"""Prompts kept under a name in the home, or exported to a file."""

from __future__ import annotations

import os

from hermes.errors import FileRefused, PromptError
from hermes.files import read_file
from hermes.paths import Home
from hermes.prompt import SystemPrompt

_MAX_BYTES = 64 * 1024 * 1024


def saved_path(home: Home, name: str) -> str:
    """Where a prompt of that name is kept."""
    return home.path("prompts", f"{name}.json")


def saved_names(home: Home) -> tuple[str, ...]:
    """The names of all kept prompts, sorted."""
    try:
        names = os.listdir(home.path("prompts"))
    except OSError:
        return ()
    return tuple(sorted(n.removesuffix(".json") for n in names if n.endswith(".json")))


def load_saved(path: str) -> SystemPrompt:
    """Read an exported prompt; PromptError when it cannot be."""
    try:
        data = read_file(path, max_bytes=_MAX_BYTES).data
    except FileRefused as error:
        raise PromptError(f"{path}: {error}") from None
    return SystemPrompt.from_json(data.decode("utf-8", "replace"))
