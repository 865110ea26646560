"""The writer thread: steps of many sessions that arrive together share one commit, and its fsync."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from hermes.errors import StoreError
from hermes.sessions.scripts import Script
from hermes.sessions.sqlite_file import connect, drive, in_words, prepare

if TYPE_CHECKING:
    import apsw

T = TypeVar("T")
TOGETHER = 128
"""The most steps that share a commit."""


@dataclass(slots=True)
class _Work:
    """A script to be run, and who waits for it."""

    script: Callable[[], Script[Any]]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


class Writer:
    """The only connection of this process that writes. Its thread starts with the first use."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._connection: apsw.Connection | None = None
        self._lock = threading.Lock()
        self._closed = False

    async def write(self, script: Callable[[], Script[T]]) -> T:
        """Run a script; it is on the disk when this returns. Cancelling waits for what was begun."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._lock:
            if self._closed:
                raise StoreError(f"the store {self.path} is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="hermes-store-writer", daemon=True)
                self._thread.start()
            self._queue.put(_Work(script, loop, future))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise

    def opened(self) -> apsw.Connection:
        """The connection, the file made ready."""
        with self._lock:
            if self._connection is None:
                connection = connect(self.path)
                prepare(connection, self.path)
                self._connection = connection
            return self._connection

    def close(self) -> None:
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join()
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            batch = [work]
            stop = False
            while len(batch) < TOGETHER and not self._queue.empty():
                more = self._queue.get()
                if more is None:
                    stop = True
                    break
                batch.append(more)
            self._store(batch)
            _tell(batch)
            if stop:
                return

    def _store(self, batch: list[_Work]) -> None:
        try:
            connection = self.opened()
            with in_words(self.path):
                connection.execute("BEGIN IMMEDIATE")
                try:
                    for work in batch:
                        _one(connection, work)
                    connection.execute("COMMIT")
                finally:
                    if not connection.get_autocommit():
                        connection.execute("ROLLBACK")
        except StoreError as error:
            for work in batch:
                work.error = work.error or error


def _one(connection: apsw.Connection, work: _Work) -> None:
    """Run one script; when it raises, its own changes alone are undone."""
    connection.execute("SAVEPOINT step")
    try:
        work.result = drive(connection, work.script())
    except StoreError as error:
        work.error = error
        connection.execute("ROLLBACK TO step")
    connection.execute("RELEASE step")


def _tell(batch: list[_Work]) -> None:
    """Wake those who wait, each loop once."""
    for loop in {work.loop for work in batch}:
        mine = [work for work in batch if work.loop is loop]
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, mine)


def _settle(batch: list[_Work]) -> None:
    for work in batch:
        if work.error is not None:
            work.future.set_exception(work.error)
        else:
            work.future.set_result(work.result)
