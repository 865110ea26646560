"""The one who writes: steps of many sessions that arrive together share one commit, and its fsync."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from hermes.errors import StoreError
from hermes.sessions.scripts import Script
from hermes.sessions.sqlite_file import (
    closed_unless_ready,
    connect,
    drive,
    end,
    in_words,
    patience,
    prepare,
    run,
)

if TYPE_CHECKING:
    import apsw

T = TypeVar("T")
TOGETHER = 128
"""The most steps that share a commit."""
PAGES = 1000
"""From so many pages of the journal on they are moved into the file; from twice as many in any case."""
QUICK = 0.0005
"""Seconds within which a step was stored when the next one is stored without asking the thread."""
REST = 0.03
"""Seconds without a step after which there is time for what is `behind` the steps."""
ROWS = 512
"""After so many changed rows it is worth a look what is behind. No slice may be of fewer messages."""
SLICE = 128
"""The fewest messages that are indexed together; what is less waits for more, or for a search."""
BACKLOG = 8192
"""So many messages may wait for a rest; more are indexed between steps."""


class _Work:
    """A script to be run, and who waits for it."""

    __slots__ = ("durable", "error", "future", "make", "over", "result")

    def __init__(self, make: Callable[[], Script[Any]], durable: bool, future: asyncio.Future[Any]) -> None:
        self.make, self.durable, self.future = make, durable, future
        self.result: Any = None
        self.error: BaseException | None = None
        self.over = False

    async def ended(self) -> Any:
        """Its result; a cancelled caller is told when it has ended."""
        try:
            return await self.future
        except asyncio.CancelledError:
            if not self.over:  # the future was cancelled with who waited for it; the step goes on
                self.future = self.future.get_loop().create_future()
                await asyncio.wait([self.future])
            raise

    def settle(self) -> None:
        """Wake who waits, in his own loop."""
        self.over = True
        if self.future.done():
            return  # cancelled a moment ago
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Writer:
    """The only connection of this process that writes, used by one thread at a time, whose `turn` it is.

    Steps are stored by a thread of its own, so that no loop waits for a disk; where the disk is so quick that
    asking the thread would take longer, by whoever asks. `tidy` is run when the file was just opened, again
    and again until it says that there is no more to do.

    `behind` indexes a slice of messages when at least so many wait, and says how many still do. It is run
    when no step came for a while, and at the end. Only when too much has gathered is it run between steps.
    """

    def __init__(
        self, path: str, tidy: Callable[[], Script[bool]], behind: Callable[[int], Script[int]]
    ) -> None:
        self.path = path
        self._tidy, self._behind = tidy, behind
        self._waiting: SimpleQueue[_Work | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._connection: apsw.Connection | None = None
        self._cursor: apsw.Cursor  # of that connection
        self._opening, self._turn, self._door = threading.Lock(), threading.Lock(), threading.Lock()
        self._durable = True  # as `connect` sets it
        self._pages = 0  # of the journal
        self._seen = 0  # rows that had been changed at the last look at what is behind
        self._left = 0  # messages that were behind then
        self._began = self._ended = 0.0  # the last step
        self._due = self._pressing = self._quick = False
        self._patient = True
        self._closed = False

    async def write(self, make: Callable[[], Script[T]], durable: bool) -> T:
        """Run a script; if `durable` it is on the disk when this returns. Cancelling waits for its end."""
        if self._quick and (stored := self._at_once(make, durable)):
            return stored[0]
        work = _Work(make, durable, asyncio.get_running_loop().create_future())
        with self._door:
            if self._closed:
                raise StoreError(f"the store {self.path} is closed")
            self._waiting.put(work)
            if self._thread is None:
                self._start()
        return await work.ended()  # type: ignore[no-any-return]

    def opened(self) -> apsw.Connection:
        """The connection, the file made ready."""
        with self._opening, in_words(self.path):
            if self._connection is None:
                connection = connect(self.path)
                with closed_unless_ready(connection):
                    prepare(connection, self.path)
                    while run(connection, self._tidy(), "BEGIN IMMEDIATE"):
                        pass  # what a process that died had not yet thrown away
                wait = patience()
                connection.set_busy_handler(lambda tries: self._patient and wait(tries))
                connection.set_wal_hook(self._committed)  # in place of SQLite's own checkpoints
                self._cursor = connection.cursor()
                self._connection = connection
            return self._connection

    def close(self) -> None:
        """Finish what waits, then close the file."""
        atexit.unregister(self.close)
        with self._door:
            self._closed = True
            self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()
        with self._turn:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            self._quick = False

    def _start(self) -> None:
        atexit.register(self.close)  # the end of the program does not wait for a daemon
        self._thread = threading.Thread(target=self._work, name="hermes-store-writer", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        """Store what waits, all of it together, until nothing more will come."""
        try:
            while not (self._closed and self._waiting.empty()):
                batch = [self._next(), *self._at_hand(TOGETHER - 1)]
                with _Told(batch) as works, self._turn:
                    if works:
                        self._store(works)
                if self._pressing:  # in a turn of its own: who was told may store the next step at once
                    self._follow(BACKLOG)
                elif self._due and self._rests() <= 0.0:
                    self._follow(SLICE)
            self._due = True
            while self._due:
                self._follow(SLICE)  # else the next process would have to
        finally:
            with self._door, _Told(list(self._at_hand(sys.maxsize))):
                self._closed = True
                raise StoreError(f"the store {self.path} is closed")

    def _next(self) -> _Work | None:
        """What comes next; None when there is nothing but what is behind."""
        with contextlib.suppress(Empty):
            return self._waiting.get(timeout=max(0.0, self._rests()) if self._due else None)
        return None

    def _rests(self) -> float:
        """For how many seconds more no step must come before there is time for what is behind."""
        return 0.0 if self._pressing else self._ended + REST - time.perf_counter()

    def _at_hand(self, most: int) -> Iterator[_Work | None]:
        """What waits by now."""
        with contextlib.suppress(Empty):
            for _ in range(most):
                yield self._waiting.get_nowait()

    def _store(self, batch: list[_Work]) -> None:
        connection = self._connection or self.opened()
        with in_words(self.path):
            self._begin(any(work.durable for work in batch))
            try:
                if len(batch) == 1:  # whose failure undoes all
                    batch[0].result = drive(self._cursor, batch[0].make())
                else:
                    for work in batch:
                        self._one(connection, work)
                self._commit()
            finally:
                end(connection)

    def _at_once(self, make: Callable[[], Script[T]], durable: bool) -> tuple[T] | None:
        """Run a script here and now; None when others are at it, in this process or another."""
        if not self._waiting.empty() or not self._turn.acquire(blocking=False):
            return None
        try:
            connection = self._connection
            if connection is None:
                return None
            idle = not self._due
            with in_words(self.path):
                if not self._begin(durable, patient=False):
                    return None
                try:
                    result = drive(self._cursor, make())
                    self._commit()
                finally:
                    end(connection)
            if self._pressing or (idle and self._due):
                self._waiting.put(None)  # the thread looks what there is to do
            return (result,)
        finally:
            self._turn.release()

    def _begin(self, durable: bool, patient: bool = True) -> bool:
        """Begin a transaction whose commit waits for the disk, or not.

        False when another process is at it and nobody wants to wait.
        """
        import apsw

        self._began = time.perf_counter()
        self._patient = patient
        try:
            if durable != self._durable:
                self._cursor.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                self._durable = durable
            self._cursor.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            if patient:
                raise
            return False
        finally:
            self._patient = True
        return True

    def _commit(self) -> None:
        self._cursor.execute("COMMIT")
        self._ended = time.perf_counter()
        self._quick = self._ended - self._began < QUICK
        changed = self._cursor.connection.total_changes() - self._seen
        if changed >= ROWS or self._pages >= PAGES:
            self._due = True
            self._pressing = self._left + changed >= BACKLOG or self._pages >= 2 * PAGES

    def _one(self, connection: apsw.Connection, work: _Work) -> None:
        """Run one script; when it raises, its own changes alone are undone."""
        self._cursor.execute("SAVEPOINT step")
        try:
            with in_words(self.path):
                work.result = drive(self._cursor, work.make())
        except StoreError as error:
            if connection.get_autocommit():
                raise  # SQLite gave up the whole transaction
            work.error = error
            self._cursor.execute("ROLLBACK TO step")
        self._cursor.execute("RELEASE step")

    def _follow(self, least: int) -> None:
        """Do a part of what is behind the steps, if it is `least` so many messages or a long journal.

        What fails is tried again later.
        """
        import apsw

        with self._turn:
            self._due = self._pressing = False
            if (connection := self._connection) is None:
                return
            with contextlib.suppress(apsw.Error):
                if not self._begin(durable=False, patient=least > SLICE):
                    return  # another process is at it
                try:
                    self._left = drive(self._cursor, self._behind(least))
                    self._cursor.execute("COMMIT")
                finally:
                    end(connection)
                self._due = self._left >= SLICE
                self._pressing = self._left >= BACKLOG + ROWS  # long messages: fewer were in the slice
                self._seen = connection.total_changes()
                if self._pages >= PAGES:
                    self._pages = 0
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _committed(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return 0


class _Told:
    """A batch; what became of it is told to all who wait, to each his own error if he has one."""

    def __init__(self, batch: list[_Work | None]) -> None:
        self._batch = [work for work in batch if work is not None]

    def __enter__(self) -> list[_Work]:
        return self._batch

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        by_loop: dict[asyncio.AbstractEventLoop, list[_Work]] = {}
        for work in self._batch:
            work.error = work.error or error
            by_loop.setdefault(work.future.get_loop(), []).append(work)
        for loop, works in by_loop.items():
            with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, works)
        return True


def _settle(works: list[_Work]) -> None:
    for work in works:
        work.settle()
