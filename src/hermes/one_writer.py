"""One writer at a time in a folder, among all processes of Hermes, and what a change was made from.

The folder itself is locked, so nothing is left beside a person's files. Where that cannot be done (Windows,
some network disks) the comparison of contents stands alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hermes.errors import FileRefused
from hermes.files import MAX_BYTES, read_file
from hermes.provenance import digest_of

WAIT = 5.0
"""Seconds until a writer gives up; a change takes thousandths of one."""

_RETRY = 0.002


class Busy(OSError):
    """Somebody else has been writing there for long."""


@contextmanager
def only_writer(folder: str, wait: float = WAIT) -> Iterator[None]:
    """Be the only writer of Hermes in a folder that is there. Busy when that takes too long."""
    fd = _opened(folder)
    try:
        if fd >= 0:
            _take(fd, wait)
        yield
    finally:
        if fd >= 0:
            os.close(fd)  # which gives the lock back, as the end of a process does


def state_of(path: str, max_bytes: int = MAX_BYTES) -> str:
    """The digest of a file as it stands, "" for one that cannot be read."""
    try:
        return digest_of(read_file(path, max_bytes=max_bytes).data)
    except FileRefused:
        return ""


def _opened(folder: str) -> int:
    try:
        import fcntl  # noqa: F401

        return os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return -1


def _take(fd: int, wait: float) -> None:
    import fcntl

    until = time.monotonic() + wait
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise Busy("another process is writing there; try again") from None
            time.sleep(_RETRY)
        except OSError:  # a file system without locks
            return None
