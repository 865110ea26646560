"""The contract in terms of scripts; what a database must add is how a script is run."""

from __future__ import annotations

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

from hermes.errors import SessionBusy, StoreError
from hermes.messages import Role
from hermes.sessions import bodies, leases, queries, scripts
from hermes.sessions.records import (
    CallRecord,
    EpochRecord,
    Fragment,
    Hit,
    SessionFilter,
    SessionRecord,
    SessionSummary,
    Step,
    StoredMessage,
)
from hermes.sessions.scripts import Dialect, Script

T = TypeVar("T")
Making = Callable[[], Script[T]]
ALL = SessionFilter()


async def to_its_end(future: asyncio.Future[T]) -> T:
    """Await what must not be stopped half way: a cancelled caller is told when it has ended."""
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise


class ScriptStore(ABC):
    """A store that runs scripts. `contract.Store` says what each method does."""

    dialect: Dialect

    def __init__(self) -> None:
        self._held: set[tuple[str, str]] = set()

    @abstractmethod
    async def read(self, make: Making[T]) -> T:
        """Run a script that only reads; it sees one moment of the store."""

    @abstractmethod
    async def write(self, make: Making[T], *, durable: bool = True) -> T:
        """Run a script in a transaction. A cancelled caller is told only when it has ended.

        What need not outlive the machine is not `durable`, and waits for no disk.
        """

    @abstractmethod
    async def index(self) -> None:
        """Index what a search would not find yet."""

    @abstractmethod
    async def check(self) -> tuple[str, ...]: ...

    @abstractmethod
    async def close(self) -> None: ...

    async def create(self, session: SessionRecord, step: Step | None = None) -> None:
        await self.write(lambda: scripts.create(self.dialect, session, step))

    async def get(self, session_id: str) -> SessionRecord | None:
        return await self.read(lambda: scripts.get(session_id))

    async def resolve(self, name: str) -> str:
        return await self.read(lambda: queries.resolve(name))

    async def commit(self, session_id: str, step: Step) -> None:
        await self.write(lambda: scripts.commit(self.dialect, session_id, step))

    async def messages(
        self, session_id: str, from_seq: int = 0, limit: int | None = None
    ) -> tuple[StoredMessage, ...]:
        return await self.read(lambda: scripts.messages(session_id, from_seq, limit))

    async def fragments(self, session_id: str, epoch: int) -> tuple[Fragment, ...]:
        return await self.read(lambda: scripts.fragments(session_id, epoch))

    async def calls(self, session_id: str) -> tuple[CallRecord, ...]:
        return await self.read(lambda: scripts.calls(session_id))

    async def epochs(self, session_id: str) -> tuple[EpochRecord, ...]:
        return await self.read(lambda: scripts.epochs(session_id))

    async def blob(self, session_id: str, digest: str) -> bytes:
        return await self.read(lambda: scripts.blob(session_id, digest))

    async def list(
        self, only: SessionFilter = ALL, limit: int = 20, before: str = ""
    ) -> tuple[SessionSummary, ...]:
        return await self.read(lambda: queries.listed(only, limit, before))

    async def search(
        self,
        query: str,
        limit: int = 20,
        *,
        newest: bool = False,
        session: str = "",
        roles: Sequence[Role] = (),
    ) -> tuple[Hit, ...]:
        await self.index()
        return await self.read(lambda: queries.found(self.dialect, query, limit, newest, session, roles))

    async def rename(self, session_id: str, title: str) -> None:
        await self.write(lambda: queries.rename(session_id, title))

    async def delete(self, session_id: str) -> None:
        await self.write(lambda: queries.discard(session_id))
        await self.purge()

    async def prune(self, older_than: str, keep: Sequence[str] = ()) -> tuple[str, ...]:
        gone = await self.write(lambda: queries.discard_older(older_than, keep))
        await self.purge()
        return gone

    async def drop_bodies(self, before: str = "", calls: int | None = None, session_id: str = "") -> int:
        if session_id:
            return await self.write(lambda: bodies.drop_bodies(session_id, before, calls))
        freed, last = 0, ""
        while found := await self.read(lambda: bodies.with_old_bodies(before, last)):  # noqa: B023
            for name in found:
                freed += await self.write(lambda: bodies.drop_bodies(name, before, calls))  # noqa: B023
            last = found[-1]
        return freed

    async def purge(self) -> None:
        """Take away what was discarded, in slices between which others write."""
        while await self.write(lambda: queries.purge(self.dialect), durable=False):
            pass

    async def claim(self, session_id: str, holder: str, wait: float = 0.0) -> None:
        until = time.monotonic() + wait
        while other := await self._claim(session_id, holder):
            if time.monotonic() >= until:
                raise SessionBusy(
                    f"session {session_id} is held by {other}; end that, or start another session", other
                )
            await asyncio.sleep(leases.NAP)
        self._held.add((session_id, holder))

    async def release(self, session_id: str, holder: str) -> None:
        owner = await self._owns()
        self._held.discard((session_id, holder))
        await self.write(lambda: leases.release(session_id, holder, owner), durable=False)

    async def _claim(self, session_id: str, holder: str) -> str:
        owner, now = await self._owns(), int(time.time())
        return await self.write(
            lambda: leases.claim(self.dialect, session_id, holder, owner, now), durable=False
        )

    async def _owns(self) -> str:
        """The name under which this store holds leases."""
        return leases.this_process()

    async def _release_all(self) -> None:
        for session_id, holder in sorted(self._held):
            with contextlib.suppress(StoreError):  # it is free as soon as this process has ended
                await self.release(session_id, holder)
