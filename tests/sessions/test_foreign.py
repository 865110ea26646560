"""A database of another program in the home is refused and stays as it is."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from hermes.errors import StoreError
from hermes.sessions.sqlite import SqliteStore


@pytest.mark.parametrize("version", [0, 1, 99])
def test_it_is_not_touched(tmp_path: Path, version: int) -> None:
    path = tmp_path / "sessions.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE sessions (id TEXT)")
        other.execute(f"PRAGMA user_version = {version}")
    other.close()
    before = path.read_bytes()

    async def look() -> None:
        store = SqliteStore(str(path))
        try:
            await store.list()
        finally:
            await store.close()

    with pytest.raises(StoreError, match="is the database of another program and was not touched"):
        asyncio.run(look())
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["sessions.db"]
