"""The proof that a file is what it was: cheap to take, and all that an unchanged library needs."""

from __future__ import annotations

import os

Stamp = tuple[int, int, int, int]
"""What a stat says of a file: modification and change time (ns), size, inode."""

_NOTHING: Stamp = (-1, -1, -1, -1)


def stamp_of(path: str) -> Stamp:
    """The stamp of a path, links followed; always the same one where there is nothing to stat."""
    try:
        s = os.stat(path)
    except OSError:
        return _NOTHING
    return s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino
