"""Locks between processes, which end with the process that holds them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_WAIT_SECONDS = 0.05


def open_lock(path: str) -> int:
    """A descriptor of a lock file, for `try_lock`; closing it gives the lock back."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def try_lock(fd: int) -> bool:
    """Take the lock if nobody holds it."""
    try:
        if os.name == "nt":
            import msvcrt

            # Called by name, since a type checker sees the module of one system only.
            getattr(msvcrt, "locking")(fd, getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009
        else:
            import fcntl

            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_held(path: str) -> bool:
    """Whether some process holds a lock."""
    fd = open_lock(path)
    try:
        return not try_lock(fd)
    finally:
        os.close(fd)


@asynccontextmanager
async def locked(path: str) -> AsyncIterator[None]:
    """Hold a lock; whoever comes second waits here."""
    fd = open_lock(path)
    try:
        while not try_lock(fd):
            await asyncio.sleep(_WAIT_SECONDS)
        yield
    finally:
        os.close(fd)
