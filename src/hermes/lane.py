"""Where the code of someone else runs: a thread of its own, which can be late but never in the way."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar, overload

from hermes.errors import HermesError

T = TypeVar("T")

MOST_WAITING = 1000
"""How many pieces of work may wait that nobody waits for; more are left out and counted."""


class LaneBusy(HermesError):
    """What was begun before has not come to its end yet, so nothing new is begun."""


class Lane:
    """A thread with an event loop in which things are done one after another, or `together`.

    Whoever waits for one of them waits only so long. What blocks its thread for ever does not keep the
    process from ending, and is not waited for a second time.
    """

    def __init__(self, name: str, *, together: bool = False) -> None:
        self.name = name
        self.together = together
        self.left_out = 0
        self._failed: list[BaseException] = []
        self._posted: set[Future[object]] = set()
        self._begun: set[object] = set()  # what is being done
        self._late: set[object] = set()  # what kept somebody waiting who gave up
        self._lock: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @overload
    def call(self, work: Callable[[], Awaitable[T]], limit: float) -> T: ...
    @overload
    def call(self, work: Callable[[], T], limit: float) -> T: ...
    def call(self, work: Callable[[], Any], limit: float) -> Any:
        """Do it and wait for its result. TimeoutError after `limit` seconds, LaneBusy while one is late."""
        mark = object()
        future = self._submit(work, mark)
        try:
            return future.result(limit)
        except TimeoutError:
            if future.done():
                raise  # its own
            raise self._given_up(future, mark, limit) from None

    @overload
    async def wait(self, work: Callable[[], Awaitable[T]], limit: float) -> T: ...
    @overload
    async def wait(self, work: Callable[[], T], limit: float) -> T: ...
    async def wait(self, work: Callable[[], Any], limit: float) -> Any:
        """The same for who has an event loop of their own, which goes on meanwhile."""
        mark = object()
        future = self._submit(work, mark)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), limit)
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise  # its own
            raise self._given_up(future, mark, limit) from None

    def post(self, work: Callable[[], object]) -> None:
        """Do it when its turn comes; nobody waits. What fails is told by `failures`."""
        if len(self._posted) >= MOST_WAITING or self.busy:
            self.left_out += 1
            return

        def done(future: Future[object]) -> None:
            self._posted.discard(future)
            if not future.cancelled() and (error := future.exception()) is not None:
                self._failed.append(error)

        future = self._submit(work, object())
        self._posted.add(future)
        future.add_done_callback(done)

    def failures(self) -> tuple[BaseException, ...]:
        """What failed of the posted work since this was asked last."""
        failed, self._failed = self._failed, []
        return tuple(failed)

    async def idle(self, limit: float) -> bool:
        """Wait until all that was posted is done; False when it was not within `limit` seconds."""
        if not self._posted:
            return True
        _, late = await asyncio.wait([asyncio.wrap_future(f) for f in tuple(self._posted)], timeout=limit)
        return not late

    @property
    def busy(self) -> bool:
        """Whether what somebody gave up waiting for is still being done."""
        return not self._late.isdisjoint(self._begun)

    def close(self) -> None:
        """Begin nothing more. What is late is left behind."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None and not self.busy:
            self._thread.join(1.0)
        self._thread = None

    def _submit(self, work: Callable[[], Any], mark: object) -> Future[Any]:
        if self.busy:
            raise LaneBusy(f"{self.name} is still busy with what was asked before")
        if self._loop is None:
            self._begin()
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(self._do(work, mark), self._loop)

    def _begin(self) -> None:
        loop = self._loop = asyncio.new_event_loop()
        self._lock = asyncio.Lock()

        def run() -> None:
            asyncio.set_event_loop(loop)
            try:
                loop.run_forever()
                for task in asyncio.all_tasks(loop):
                    task.cancel()
                loop.run_until_complete(asyncio.sleep(0))
                loop.run_until_complete(loop.shutdown_asyncgens())
            finally:
                loop.close()

        self._thread = threading.Thread(target=run, name=self.name, daemon=True)
        self._thread.start()

    async def _do(self, work: Callable[[], Any], mark: object) -> Any:
        assert self._lock is not None
        async with contextlib.nullcontext() if self.together else self._lock:
            self._begun.add(mark)
            try:
                result = work()
                if inspect.isawaitable(result):
                    return await result
                return result
            except (SystemExit, KeyboardInterrupt) as error:  # would end the thread, and all later work
                raise RuntimeError(f"{type(error).__name__}: {error}") from None
            finally:
                self._begun.discard(mark)

    def _given_up(self, future: Future[Any], mark: object, limit: float) -> TimeoutError:
        begun = set(self._begun)
        self._late = {mark} if mark in begun else begun
        future.cancel()
        return TimeoutError(f"no answer within {limit:g} s")
