"""The writer thread: steps of many sessions that arrive together share one commit, and its fsync."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from hermes.errors import StoreError
from hermes.sessions.base import to_its_end
from hermes.sessions.scripts import Script
from hermes.sessions.sqlite_file import connect, drive, in_words, prepare, run

if TYPE_CHECKING:
    import apsw

T = TypeVar("T")
TOGETHER = 128
"""The most steps that share a commit."""
PAGES = 1000
"""From so many pages of the journal on they are moved into the file."""


@dataclass(slots=True)
class _Work:
    """A script to be run, and who waits for it."""

    make: Callable[[], Script[Any]]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    durable: bool
    result: Any = None
    error: BaseException | None = None


class Writer:
    """The only connection of this process that writes. `tidy` is run when the file was just opened."""

    def __init__(self, path: str, tidy: Callable[[], Script[bool]]) -> None:
        self.path = path
        self._tidy = tidy
        self._waiting: deque[_Work] = deque()
        self._thread = ThreadPoolExecutor(1, "hermes-store-writer")
        self._connection: apsw.Connection | None = None
        self._durable = True  # as `connect` sets it
        self._pages = 0  # of the journal
        self._opening = threading.Lock()
        self._closed = False

    async def write(self, make: Callable[[], Script[T]], durable: bool) -> T:
        """Run a script; if `durable` it is on the disk when this returns. Cancelling waits for its end."""
        if self._closed:
            raise StoreError(f"the store {self.path} is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._waiting.append(_Work(make, loop, future, durable))
        self._thread.submit(self._store_waiting)
        return await to_its_end(future)

    def opened(self) -> apsw.Connection:
        """The connection, the file made ready."""
        with self._opening, in_words(self.path):
            if self._connection is None:
                connection = connect(self.path)
                prepare(connection, self.path)
                while run(connection, self._tidy(), "BEGIN IMMEDIATE"):
                    pass  # what a process that died had not yet thrown away
                connection.set_wal_hook(self._committed)  # in place of SQLite's own checkpoints
                self._connection = connection
            return self._connection

    def close(self) -> None:
        """Finish what waits, then close the file."""
        self._closed = True
        self._thread.shutdown()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _store_waiting(self) -> None:
        """Store all that waits by now; there is one such call for each work, so most find nothing to do."""
        batch: list[_Work] = []
        while self._waiting and len(batch) < TOGETHER:
            batch.append(self._waiting.popleft())
        if not batch:
            return
        try:
            self._store(batch)
        finally:
            if broken := sys.exc_info()[
                1
            ]:  # told to everyone who waits, each with a word of its own if it has
                for work in batch:
                    work.error = work.error or broken
            _tell(batch)
        self._checkpoint()

    def _committed(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return 0

    def _checkpoint(self) -> None:
        """Move a journal that has grown long into the file, when all who waited for a step have been told."""
        if self._connection is None or self._pages < PAGES:
            return
        import apsw

        self._pages = 0
        with contextlib.suppress(apsw.Error):  # as with SQLite's own; the journal holds all until the next
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _store(self, batch: list[_Work]) -> None:
        connection = self._connection or self.opened()
        durable = any(work.durable for work in batch)
        with in_words(self.path):
            if durable != self._durable:
                connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                self._durable = durable
            connection.execute("BEGIN IMMEDIATE")
            try:
                if len(batch) == 1:  # whose failure undoes all
                    batch[0].result = drive(connection, batch[0].make())
                else:
                    for work in batch:
                        self._one(connection, work)
                connection.execute("COMMIT")
            finally:
                if not connection.get_autocommit():
                    connection.execute("ROLLBACK")

    def _one(self, connection: apsw.Connection, work: _Work) -> None:
        """Run one script; when it raises, its own changes alone are undone."""
        connection.execute("SAVEPOINT step")
        try:
            with in_words(self.path):
                work.result = drive(connection, work.make())
        except StoreError as error:
            if connection.get_autocommit():
                raise  # SQLite gave up the whole transaction
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
