"""One writer at a time, whatever the system offers; none at all where it offers nothing."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import threading
import time
import types
from pathlib import Path

import pytest

from hermes.errors import MemoryRefused
from hermes.memory.lock import Lock, locked, primitive


def none_there(name: str) -> types.ModuleType:
    raise ImportError(name)


class Msvcrt(types.ModuleType):
    """The locking call of Windows, over that of this system: from where the file is read, never waiting."""

    LK_UNLCK, LK_NBLCK = 0, 2

    def locking(self, fd: int, mode: int, count: int) -> None:
        how = fcntl.LOCK_UN if mode == self.LK_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.lockf(fd, how, count, os.lseek(fd, 0, os.SEEK_CUR))
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "taken") from None


def only_msvcrt(name: str) -> types.ModuleType:
    if name == "msvcrt":
        return Msvcrt("msvcrt")
    raise ImportError(name)


PRIMITIVES = [primitive(), primitive(only_msvcrt)]


def count(folder: Path, lock: Lock, times: int) -> None:
    """Add to a number in a file, which goes wrong when two do it at once."""
    path = folder / "number"
    for _ in range(times):
        with locked(str(folder), lock):
            path.write_text(str(int(path.read_text()) + 1))


def in_children(number: int, work: object) -> None:
    children = []
    for _ in range(number):
        child = os.fork()
        if not child:
            code = 1
            try:
                work()  # type: ignore[operator]
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * number


@pytest.mark.parametrize("lock", PRIMITIVES, ids=["fcntl", "msvcrt"])
def test_processes_take_turns(tmp_path: Path, lock: Lock) -> None:
    (tmp_path / "number").write_text("0")
    in_children(4, lambda: count(tmp_path, lock, 50))
    assert (tmp_path / "number").read_text() == "200"


@pytest.mark.parametrize("lock", PRIMITIVES, ids=["fcntl", "msvcrt"])
def test_a_failure_inside_gives_the_lock_back(tmp_path: Path, lock: Lock) -> None:
    with pytest.raises(ValueError, match="inside"), locked(str(tmp_path), lock):
        raise ValueError("inside")
    with locked(str(tmp_path), lock):
        pass


def test_a_killed_writer_holds_nothing(tmp_path: Path) -> None:
    ready, told = os.pipe()
    child = os.fork()
    if not child:
        with locked(str(tmp_path), primitive()):
            os.write(told, b"x")
            os.read(ready, 0)
            while True:
                os.sched_yield()
    os.read(ready, 1)
    os.kill(child, 9)
    os.waitpid(child, 0)
    with locked(str(tmp_path), primitive()):
        pass


@pytest.mark.parametrize("lock", PRIMITIVES, ids=["fcntl", "msvcrt"])
def test_threads_take_turns(tmp_path: Path, lock: Lock) -> None:
    (tmp_path / "number").write_text("0")
    threads = [threading.Thread(target=count, args=(tmp_path, lock, 40)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "number").read_text() == "160"


def test_nobody_is_first_again_while_others_wait(tmp_path: Path) -> None:
    """Eight writers that never pause: while all are at work, none has its turn twice in a row."""

    def write() -> None:
        for _ in range(40):
            with locked(str(tmp_path), primitive()), open(tmp_path / "order", "ab") as order:
                order.write(b"%d\n" % os.getpid())
                busy = time.perf_counter() + 0.0005
                while time.perf_counter() < busy:
                    pass

    in_children(8, write)
    order = (tmp_path / "order").read_text().split()
    turns = [0 for _ in order]
    seen: dict[str, int] = {}
    for i, name in enumerate(order):
        seen[name] = seen.get(name, 0) + 1
        turns[i] = seen[name]
    first = max(order.index(name) for name in seen)
    last = next(i for i, turn in enumerate(turns) if turn == 40)
    together = order[first:last]
    assert len(order) == 320
    assert sum(a == b for a, b in itertools.pairwise(together)) <= len(together) // 10


def test_without_a_way_to_lock_nothing_is_written() -> None:
    with pytest.raises(MemoryRefused, match="no way to lock a file"):
        primitive(none_there)
