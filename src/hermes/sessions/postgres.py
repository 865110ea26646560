"""The session store in PostgreSQL, for homes that several machines share. Needs the extra `postgres`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from hermes.errors import StoreError
from hermes.messages import Role
from hermes.sessions import queries, schema
from hermes.sessions.base import Making, ScriptStore, to_its_end
from hermes.sessions.scripts import Dialect, Script
from hermes.sessions.search import Query

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

T = TypeVar("T")
CONNECTIONS = 8
PATIENCE = 30.0
"""Seconds to wait for the server, or for a free connection."""
_LOCK = 0x4865726D6573
"""The advisory lock under which the schema is brought forward."""


class PostgresStore(ScriptStore):
    """A store in the database of `url`. Leases last as long as one connection kept for them."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.dialect = DIALECT
        self._url = url
        self._pool: AsyncConnectionPool | None = None
        self._opening = asyncio.Lock()
        self._leasing: AsyncConnection | None = None
        self._owner = ""

    async def read(self, make: Making[T]) -> T:
        return await self._run(make)

    async def write(self, make: Making[T], *, durable: bool = True) -> T:
        return await to_its_end(asyncio.ensure_future(self._run(make, durable)))

    async def index(self) -> None:
        """Words are indexed with their step here."""

    async def check(self) -> tuple[str, ...]:
        return await self.read(queries.check)

    async def close(self) -> None:
        if self._held:
            await self._release_all()
        if self._leasing is not None:
            await self._leasing.close()
        if self._pool is not None:
            await self._pool.close()
        self._pool = self._leasing = None

    async def _run(self, make: Making[T], durable: bool = True) -> T:
        async with in_words(), (await self._opened()).connection() as connection, connection.transaction():
            if not durable:
                await connection.execute("SET LOCAL synchronous_commit = off")
            return await _drive(connection, make())

    async def _opened(self) -> AsyncConnectionPool:
        """The pool; the first who asks opens it and brings the schema forward."""
        async with self._opening:
            if self._pool is None:
                pool = _pool(self._url)
                connection = await self._connected()  # a pool would try again and again before it told
                try:
                    async with connection.transaction():
                        await _prepare(connection)
                finally:
                    await connection.close()
                await pool.open()
                self._pool = pool
            return self._pool

    async def _connected(self) -> AsyncConnection:
        import psycopg

        return await psycopg.AsyncConnection.connect(self._url, autocommit=True, connect_timeout=10)

    async def _owns(self) -> str:
        """A name for the connection that holds the leases, made anew when the last one broke."""
        if self._leasing is None or self._leasing.closed:
            async with in_words():
                self._leasing = await self._connected()
                rows = await self._leasing.execute(
                    "SELECT pid || '|' || backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
                )
                self._owner = (await rows.fetchall())[0][0]
        return self._owner


async def _drive(connection: AsyncConnection, script: Script[T]) -> T:
    rows: list[tuple[Any, ...]] | None = None
    try:
        while True:
            sql, values = script.send(rows)  # type: ignore[arg-type]  # the first is None, as generators want
            done = await connection.execute(sql.replace("?", "%s").encode(), values)
            rows = await done.fetchall() if done.description else []
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def _prepare(connection: AsyncConnection) -> None:
    """Bring the database to the newest schema; StoreError when it is newer than this Hermes."""
    await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    await connection.execute("CREATE TABLE IF NOT EXISTS hermes_schema (version INTEGER NOT NULL)")
    row = await (await connection.execute("SELECT max(version) FROM hermes_schema")).fetchone()
    version = (row and row[0]) or 0
    if version > len(schema.POSTGRES):
        raise schema.newer("the database of sessions.url", version, len(schema.POSTGRES))
    for number, statements in enumerate(schema.POSTGRES[version:], version + 1):
        for statement in statements:
            await connection.execute(statement.encode())
        await connection.execute("INSERT INTO hermes_schema VALUES (%s)", (number,))


def _pool(url: str) -> AsyncConnectionPool:
    try:
        from psycopg_pool import AsyncConnectionPool
    except ImportError:
        raise StoreError(
            "sessions.url names PostgreSQL, whose driver is missing; pip install 'hermes-lucid[postgres]'"
        ) from None
    return AsyncConnectionPool(url, min_size=1, max_size=CONNECTIONS, timeout=PATIENCE, open=False)


@contextlib.asynccontextmanager
async def in_words() -> AsyncIterator[None]:
    """The driver's errors as StoreError, each with what to do about it."""
    import psycopg

    try:
        yield
    except psycopg.OperationalError as error:
        raise StoreError(
            f"PostgreSQL at sessions.url cannot be reached or gave up: {_first_line(error)}. "
            "Look whether it runs and takes this user, then try again"
        ) from None
    except psycopg.Error as error:
        raise StoreError(f"PostgreSQL refused: {_first_line(error)}") from None
    except (UnicodeError, OverflowError) as error:
        raise StoreError(schema.no_value(error)) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _find(query: Query, session: int | None, roles: Sequence[Role]) -> tuple[str, tuple[Any, ...]]:
    wanted = ["s.deleted = 0"]
    values: list[Any] = []
    for group in query:
        wanted.append(f"({' OR '.join(['w.body LIKE ?'] * len(group))})")
        values += [f"%{term.text}%" for term in group]
    if session is not None:
        wanted.append("w.session = ?")
        values.append(session)
    if roles:
        wanted.append(f"w.role IN ({', '.join('?' * len(roles))})")
        values += roles
    return (
        "SELECT m.key, octet_length(m.text) FROM words w JOIN messages m ON m.key = w.message"  # noqa: S608
        f" JOIN sessions s ON s.key = w.session WHERE {' AND '.join(wanted)} ORDER BY w.message DESC LIMIT ?",
        tuple(values),
    )


DIALECT = Dialect(
    locked=" FOR UPDATE",
    add_words="INSERT INTO words (message, body, session, role) VALUES (?, ' ' || ? || ' ', ?, ?)",
    word="message",
    lives="EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid || '|' || backend_start = owner)",
    find=_find,
)
