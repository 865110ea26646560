"""The session store in one SQLite file: one writer thread whose commits are shared, readers beside it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from hermes.sessions import scripts
from hermes.sessions.records import (
    CallRecord,
    EpochRecord,
    Fragment,
    SessionRecord,
    Step,
    StoredMessage,
)
from hermes.sessions.sqlite_file import connect, run
from hermes.sessions.sqlite_writer import Writer

T = TypeVar("T")
READERS = 2


class SqliteStore:
    """A store in the file `path`, which is made when it is missing."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._writer = Writer(path)
        self._readers = ThreadPoolExecutor(READERS, "hermes-store-reader")
        self._local = threading.local()

    async def _read(self, script: scripts.Script[T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read_now, script)

    def _read_now(self, script: scripts.Script[T]) -> T:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            self._writer.opened()
            connection = self._local.connection = connect(self.path)
        return run(connection, script, "BEGIN")

    async def create(self, session: SessionRecord, step: Step | None = None) -> None:
        await self._writer.write(lambda: scripts.create(scripts.SQLITE, session, step))

    async def get(self, session_id: str) -> SessionRecord | None:
        return await self._read(scripts.get(session_id))

    async def commit(self, session_id: str, step: Step) -> None:
        await self._writer.write(lambda: scripts.commit(scripts.SQLITE, session_id, step))

    async def messages(self, session_id: str, from_seq: int = 0) -> tuple[StoredMessage, ...]:
        return await self._read(scripts.messages(session_id, from_seq))

    async def fragments(self, session_id: str, epoch: int) -> tuple[Fragment, ...]:
        return await self._read(scripts.fragments(session_id, epoch))

    async def calls(self, session_id: str) -> tuple[CallRecord, ...]:
        return await self._read(scripts.calls(session_id))

    async def epochs(self, session_id: str) -> tuple[EpochRecord, ...]:
        return await self._read(scripts.epochs(session_id))

    async def blob(self, session_id: str, digest: str) -> bytes:
        return await self._read(scripts.blob(session_id, digest))

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.close)
        self._readers.shutdown()
