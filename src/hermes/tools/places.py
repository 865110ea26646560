"""Paths as a model writes them."""

from __future__ import annotations

import os

from hermes.tooling import ToolError


def absolute(cwd: str, path: str) -> str:
    """The absolute path that is meant, without `.` and `..`. ToolError for what can be no path."""
    if not path.strip():
        raise ToolError("the path is empty; name a file")
    if "\0" in path:
        raise ToolError("the path has a NUL character; leave it out")
    return os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
