"""One writer at a time in a folder, across processes, in the order in which they came.

Each writer draws a number, locks the byte of its number and waits for the byte of the one before: it is let
go when that writer is done, or dies. The byte of the work itself is locked too, so a death in the queue can
change the order and nothing else. Where a system has neither `fcntl` nor `msvcrt` nothing is written.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import NamedTuple
from weakref import WeakValueDictionary

from hermes.errors import MemoryRefused

FILE = ".lock"
_DRAW, _WORK, _NUMBER, _FIRST = 0, 1, 4, 16  # what bytes are for; those that are locked hold nothing
_NUMBERS = 1 << 30
_RETRY = 0.004  # seconds; msvcrt can only wait for whole seconds by itself


class Lock(NamedTuple):
    """How a system locks one byte of an open file for this process; `take` waits until it has it."""

    take: Callable[[int, int], object]
    give: Callable[[int, int], object]


def primitive(find: Callable[[str], ModuleType] = import_module) -> Lock:
    """What this system offers. MemoryRefused when it offers nothing."""
    try:
        fcntl = find("fcntl")
    except ImportError:
        return _of_windows(find)
    return Lock(
        lambda fd, at: fcntl.lockf(fd, fcntl.LOCK_EX, 1, at),
        lambda fd, at: fcntl.lockf(fd, fcntl.LOCK_UN, 1, at),
    )


def _of_windows(find: Callable[[str], ModuleType]) -> Lock:
    try:
        msvcrt = find("msvcrt")
    except ImportError:
        raise MemoryRefused(
            "this system has no way to lock a file, so memory cannot be written safely; nothing was changed"
        ) from None

    def call(fd: int, at: int, mode: int) -> None:
        os.lseek(fd, at, os.SEEK_SET)
        msvcrt.locking(fd, mode, 1)

    def take(fd: int, at: int) -> None:
        while True:
            try:
                return call(fd, at, msvcrt.LK_NBLCK)
            except PermissionError:
                time.sleep(_RETRY)

    return Lock(take, lambda fd, at: call(fd, at, msvcrt.LK_UNLCK))


class _Threads:
    """The threads of this process take turns here: the locks of files are those of whole processes."""

    def __init__(self) -> None:
        self.turn = threading.Lock()


_THREADS: WeakValueDictionary[str, _Threads] = WeakValueDictionary()
_MAKING = threading.Lock()


@contextmanager
def locked(folder: str, lock: Lock) -> Iterator[None]:
    """Be the only writer in a folder. Raises OSError when the lock file cannot be made."""
    path = os.path.join(os.path.realpath(folder), FILE)
    with _MAKING:
        threads = _THREADS.setdefault(path, _Threads())
    with threads.turn:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        own = -1
        try:
            own = _wait_in_line(fd, lock)
            lock.take(fd, _WORK)
            try:
                yield
            finally:
                lock.give(fd, _WORK)
        finally:
            if own >= 0:
                lock.give(fd, own)
            os.close(fd)


def _wait_in_line(fd: int, lock: Lock) -> int:
    """Draw a number and wait until the one before is done; the byte that is held from then on."""
    lock.take(fd, _DRAW)
    try:
        os.lseek(fd, _NUMBER, os.SEEK_SET)
        number = int.from_bytes(os.read(fd, 8), "little") % _NUMBERS
        own, before = _FIRST + number, _FIRST + (number - 1) % _NUMBERS
        lock.take(fd, own)
        os.lseek(fd, _NUMBER, os.SEEK_SET)
        os.write(fd, ((number + 1) % _NUMBERS).to_bytes(8, "little"))
    finally:
        lock.give(fd, _DRAW)
    lock.take(fd, before)
    lock.give(fd, before)
    return own
