"""The session store in one SQLite file: one writer thread whose commits are shared, readers beside it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from hermes.messages import Role
from hermes.sessions import queries
from hermes.sessions.base import Making, ScriptStore
from hermes.sessions.scripts import Dialect
from hermes.sessions.search import Query, Term
from hermes.sessions.sqlite_file import connect, faults, in_words, run
from hermes.sessions.sqlite_words import behind, index
from hermes.sessions.sqlite_writer import Writer

if TYPE_CHECKING:
    import apsw

T = TypeVar("T")
READERS = 2


class SqliteStore(ScriptStore):
    """A store in the file `path`, which is made when it is missing.

    The processes that share it must run on one machine, and the file must lie on a disk of its own: SQLite's
    journal does not work over a network.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.dialect = DIALECT
        self._writer = Writer(path, lambda: queries.purge(DIALECT), index)
        self._readers = ThreadPoolExecutor(READERS, "hermes-store-reader")
        self._local = threading.local()
        self._reading: list[apsw.Connection] = []

    async def read(self, make: Making[T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, make)

    def _read(self, make: Making[T]) -> T:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            self._writer.opened()
            connection = self._local.connection = connect(self.path)
            self._reading.append(connection)
        with in_words(self.path):
            return run(connection, make(), "BEGIN")

    async def write(self, make: Making[T], *, durable: bool = True) -> T:
        return await self._writer.write(make, durable)

    async def index(self) -> None:
        if await self.read(behind):
            while await self.write(index, durable=False):
                pass

    async def check(self) -> tuple[str, ...]:
        await self.read(queries.check)  # the file is made ready, or its fault is told
        told = await asyncio.to_thread(faults, self.path)
        return told or await self.read(queries.check)

    async def close(self) -> None:
        if self._held:
            await self._release_all()
        await asyncio.to_thread(self._writer.close)
        await asyncio.to_thread(self._readers.shutdown)
        while self._reading:
            self._reading.pop().close()


def _find(query: Query, session: int | None, roles: Sequence[Role]) -> tuple[str, tuple[Any, ...]]:
    groups = (" OR ".join(map(_phrase, group)) for group in query)
    match = "body : (" + " AND ".join(f"({group})" for group in groups) + ")"
    if session is not None:
        match += f' AND tags : "s{session}"'
    if roles:
        match += " AND tags : (" + " OR ".join(f'"{role}"' for role in roles) + ")"
    return (
        "SELECT m.key, octet_length(m.text) FROM words w JOIN messages m ON m.key = w.rowid"
        " JOIN sessions s ON s.key = m.session WHERE words MATCH ? AND s.deleted = 0"
        " ORDER BY w.rowid DESC LIMIT ?",
        (match,),
    )


def _phrase(term: Term) -> str:
    return f'"{" ".join(term.tokens)}"' + (" *" if term.begins else "")


DIALECT = Dialect(
    locked="",
    add_words="",  # sqlite_words.py does, later
    word="rowid",
    lives="NULL",
    find=_find,
)
