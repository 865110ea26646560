"""The proof that files are what they were: cheap to take, and all that an unchanged library needs."""

from __future__ import annotations

import hashlib
import marshal
import os
from collections.abc import Iterable, Sequence
from operator import attrgetter

Stamp = tuple[int, int, int, int]
"""What a stat says of a file: modification and change time (ns), size, inode."""

NOTHING: Stamp = (-1, -1, -1, -1)
stamp = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")


def stamps_of(paths: Sequence[str] | Sequence[bytes]) -> tuple[Stamp, ...]:
    """The stamps of paths, links followed; always the same one where there is nothing to stat."""
    try:
        return tuple(map(stamp, map(os.stat, paths)))  # half of a warm build: no call of ours for each
    except OSError:
        return tuple(map(stamp_of, paths))


def stamp_of(path: str | bytes) -> Stamp:
    """The stamp of one path."""
    try:
        return stamp(os.stat(path))
    except OSError:
        return NOTHING


def sealed(what: bytes, stamps: Iterable[Stamp]) -> str:
    """One digest of something and of stamps; nothing else writes numbers as quickly as `marshal` does."""
    return hashlib.sha256(what + marshal.dumps(tuple(stamps), 2)).hexdigest()
