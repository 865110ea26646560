"""What only a file can suffer: other versions, damage, a full folder, many processes, sudden death."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import apsw
import pytest

from hermes.config import Config
from hermes.errors import StoreError
from hermes.paths import Home
from hermes.sessions import leases
from hermes.sessions.base import ScriptStore
from hermes.sessions.open import open_store
from hermes.sessions.passing import PassingStore
from hermes.sessions.records import Step
from hermes.sessions.sqlite import SqliteStore
from hermes.sessions.sqlite_file import look
from hermes.sessions.sqlite_writer import BACKLOG, SLICE
from tests.sessions.conftest import Place
from tests.sessions.said import DAY, a_session, a_step, a_turn, stored, told

ROOT = Path(__file__).parents[2]


@pytest.fixture
def file(tmp_path: Path) -> Place:
    path = str(tmp_path / "home" / "sessions.db")
    return Place(lambda: SqliteStore(path), path)


def test_a_new_file_is_for_its_owner_only_and_leaves_nothing_beside_it(file: Place) -> None:
    async def use(store: ScriptStore) -> set[int]:
        await store.create(a_session(), a_turn())
        return {os.stat(entry.path).st_mode & 0o777 for entry in os.scandir(os.path.dirname(file.location))}

    assert file.run(use) == {0o600}
    assert os.listdir(os.path.dirname(file.location)) == ["sessions.db"]


def test_a_newer_schema_is_refused_and_left_alone(file: Place) -> None:
    file.run(lambda store: store.create(a_session()))
    with closing(apsw.Connection(file.location)) as raw:
        raw.pragma("user_version", 99)
    for use in (lambda s: s.get("s1"), lambda s: s.create(a_session("s2"))):
        with pytest.raises(
            StoreError, match="has schema 99, this Hermes knows up to 3: a newer Hermes wrote it"
        ):
            file.run(use)


@pytest.mark.parametrize("spoil", ["head", "middle", "text"])
def test_a_damaged_file_is_told_and_left_as_it_is(file: Place, spoil: str) -> None:
    file.run(lambda store: store.create(*told(*(f"some words {i} " * 50 for i in range(100)))))
    data = bytearray(Path(file.location).read_bytes())
    if spoil == "text":
        data = bytearray(b"These are notes, no database. " * 1000)
    elif spoil == "head":
        data[:200] = b"\xff" * 200
    else:
        data[8192 : len(data) - 8192] = b"\xff" * (len(data) - 16384)
    Path(file.location).write_bytes(data)
    with pytest.raises(StoreError, match=r"sessions\.db is damaged .* left as it is"):
        file.run(lambda store: store.messages("s1"))
    assert Path(file.location).read_bytes() == bytes(data)


def test_check_tells_of_what_does_not_fit_together(file: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.create(a_session(), a_turn())
        await store.create(a_session("s2"), a_turn())
        assert await store.check() == ()

    file.run(use)
    with closing(apsw.Connection(file.location)) as raw:
        raw.execute("DELETE FROM messages WHERE session = 1 AND seq = 0")
        raw.execute("DELETE FROM fragments WHERE session = 1 AND n = 0")
        raw.execute("DELETE FROM calls WHERE session = 2")
        raw.execute("INSERT INTO messages VALUES (99, 98, 0, 'user', '', '')")
    assert file.run(lambda store: store.check()) == (
        "session s1: 2 messages are counted, 1 are there",
        "session s2: 1 calls are counted, 0 are there",
        "session s1: a fragment of epoch 0 is missing",
        "1 messages belong to no session",
    )


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = SqliteStore(str(tmp_path / "file" / "sessions.db"))

    async def use() -> None:
        with pytest.raises(
            StoreError, match=r"file/sessions\.db cannot be used: (not a directory|file exists)"
        ):
            await store.create(a_session())
        await store.close()

    asyncio.run(use())


def test_a_writer_waits_for_one_who_holds_the_file(file: Place) -> None:
    async def use(store: ScriptStore) -> int:
        await store.create(a_session())
        with closing(apsw.Connection(file.location)) as other:
            other.execute("BEGIN IMMEDIATE")
            steps = asyncio.gather(*(store.create(a_session(f"w{i}")) for i in range(50)))
            await asyncio.sleep(0.05)
            assert not steps.done()
            other.execute("COMMIT")
            await steps
        return len(await store.list(limit=100))

    assert file.run(use) == 51


def test_who_stops_waiting_is_told_when_the_step_is_stored(file: Place) -> None:
    async def use(store: ScriptStore) -> int:
        await store.create(a_session())
        with closing(apsw.Connection(file.location)) as other:
            other.execute("BEGIN IMMEDIATE")
            task = asyncio.create_task(store.commit("s1", a_turn()))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.sleep(0.05)
            assert not task.done()
            other.execute("COMMIT")
            with pytest.raises(asyncio.CancelledError):
                await task
        return len(await store.messages("s1"))

    assert file.run(use) == 2


def test_one_broken_step_does_not_take_others_with_it(file: Place) -> None:
    async def use(store: ScriptStore) -> tuple[list[object], int]:
        await store.create(a_session())
        many = [store.create(a_session(f"w{i % 3}")) for i in range(6)]
        done = await asyncio.gather(*many, return_exceptions=True)
        return [type(d) for d in done], len(await store.list())

    assert file.run(use) == ([type(None)] * 3 + [StoreError] * 3, 4)


def test_what_is_no_record_is_an_error_for_its_caller_alone_and_the_writer_lives_on(file: Place) -> None:
    async def use(store: ScriptStore) -> None:
        with pytest.raises(AttributeError):
            await store.create("no session")  # type: ignore[arg-type]
        await store.create(a_session())
        assert await store.get("s1") == a_session()

    file.run(use)


def test_a_closed_store_says_so(file: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.create(a_session())
        await store.close()
        with pytest.raises(StoreError, match="is closed"):
            await store.create(a_session("s2"))

    file.run(use)


def test_what_a_dead_process_discarded_is_gone_after_the_next_start(file: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.create(*told(*(f"word{i}" for i in range(1200))))
        await store.create(*told("other", name="s2"))

    file.run(use)
    with closing(apsw.Connection(file.location)) as raw:
        raw.execute("UPDATE sessions SET deleted = 1 WHERE id = 's1'")
    file.run(lambda store: store.rename("s2", "x"))
    with closing(apsw.Connection(file.location)) as raw:
        counts = [
            raw.execute(f"SELECT count(*) FROM {table}").get
            for table in ("messages", "fragments", "sessions")
        ]
        words = raw.execute("SELECT count(*) FROM words WHERE words MATCH 'word7'").get
    assert (counts, words) == ([1, 1, 1], 0)


def test_who_is_alive() -> None:
    me = leases.this_process()
    place, pid, started = me.rsplit("|", 2)
    assert leases.is_alive(me, 0, 10**9)
    assert not leases.is_alive(f"{place}|{pid}|{started}1", 0, 0)
    elsewhere = f"another|{pid}|{started}"
    assert leases.is_alive(elsewhere, 1000, 1000 + leases.PRESUMED - 1)
    assert not leases.is_alive(elsewhere, 1000, 1000 + leases.PRESUMED)


class _Watched(apsw.VFS):
    """The system's files, with a count of how often SQLite asks that they reach the disk."""

    def __init__(self) -> None:
        self.base, self.synced = apsw.vfs_names()[0], 0
        super().__init__("watched", self.base, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        watched = self

        class File(apsw.VFSFile):
            def xSync(self, flags: int) -> None:  # noqa: N802
                watched.synced += 1
                super().xSync(flags)

        return File(watched.base, name, flags)


def test_a_step_reaches_the_disk_once_and_a_lease_never(file: Place) -> None:
    watched = _Watched()

    async def use(store: ScriptStore) -> list[int]:
        await store.create(a_session())
        counts = [watched.synced]
        for act in (
            lambda: store.claim("s1", "me"),
            lambda: store.commit("s1", a_turn()),
            lambda: store.commit("s1", a_turn(2, 2)),
            lambda: store.release("s1", "me"),
            lambda: store.messages("s1"),
        ):
            await act()
            counts.append(watched.synced)
        return [after - before for before, after in pairwise(counts)]

    try:
        assert file.run(use) == [0, 1, 1, 0, 0]
    finally:
        watched.unregister()


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what follows a step that was told; in vain when the test runs out of time."""
    while not holds():
        await asyncio.sleep(0)


def test_a_journal_that_has_grown_is_moved_into_the_file(file: Place) -> None:
    """Two thousand pages are eight megabytes, after which nobody waits for a rest; far more is written."""

    async def use(store: ScriptStore) -> int:
        await store.create(a_session())
        for seq in range(70):
            await store.commit("s1", Step(DAY.format(3), (stored(seq, f"{seq:<9}" * 30_000),)))
        await until(lambda: os.path.getsize(file.location) > 12 * 1024 * 1024)
        return os.path.getsize(file.location + "-wal")

    assert file.run(use) < 10 * 1024 * 1024


def test_the_index_follows_the_steps_and_a_search_does_not_wait_for_it(file: Place) -> None:
    """Nothing is indexed with a step, what has grown is behind it, and a search sees what there is."""
    count = "SELECT count(*) FROM words"

    async def use(store: ScriptStore) -> list[int]:
        await store.create(*told("first words"))
        with closing(apsw.Connection(file.location)) as raw:
            counts = [raw.execute(count).get]
            assert [hit.seq for hit in await store.search("words")] == [0]
            counts.append(raw.execute(count).get)
            await store.create(*told(*(f"word{i}" for i in range(600)), name="s2"))
            await until(lambda: raw.execute(count).get == 513)  # what is no full slice waits for more
        return counts

    assert file.run(use) == [0, 1]


def test_what_waits_to_be_indexed_is_bounded_and_all_of_it_is_indexed_at_the_end(file: Place) -> None:
    """Steps without a rest between them leave some behind, and never more than so many."""

    async def use(store: ScriptStore) -> int:
        most = 0
        await store.create(a_session("first"))
        with closing(apsw.Connection(file.location)) as raw:
            behind = "SELECT (SELECT max(key) FROM messages) - (SELECT count(*) FROM words)"
            for number in range(60):
                await store.create(*told(*(f"word{i}" for i in range(250)), name=f"s{number}"))
                most = max(most, raw.execute(behind).get)
        return most

    most = file.run(use)
    assert BACKLOG - 1000 < most < BACKLOG + 2000
    with closing(apsw.Connection(file.location)) as raw:
        left = 15_000 - raw.execute("SELECT count(*) FROM words").get
    assert 0 <= left < SLICE


def test_what_a_dead_process_did_not_index_is_found(file: Place) -> None:
    file.run(lambda store: store.create(*told("copper", "lantern")))
    with closing(apsw.Connection(file.location)) as raw:
        assert raw.execute("SELECT count(*) FROM words").get == 0
    assert [hit.seq for hit in file.run(lambda store: store.search("lantern"))] == [1]


def test_a_place_that_is_free_again_is_indexed_again(file: Place) -> None:
    """SQLite gives the key of the last message anew when that is deleted."""

    async def use(store: ScriptStore) -> list[tuple[str, ...]]:
        found = []
        for name, search in (("s1", True), ("s2", False), ("s3", True)):
            await store.create(*told(f"copper of {name}", name=name))
            if search:
                found.append(tuple(hit.session for hit in await store.search("copper")))
            if name != "s3":
                await store.delete(name)
        return found

    assert file.run(use) == [("s1",), ("s3",)]


@pytest.mark.parametrize("what", ["a pipe", "a folder", "a link to itself"])
def test_what_is_no_file_is_not_waited_for(file: Place, what: str) -> None:
    os.makedirs(os.path.dirname(file.location))
    if what == "a pipe":
        os.mkfifo(file.location)
    elif what == "a folder":
        os.mkdir(file.location)
    else:
        os.symlink(file.location, file.location)
    for use in (
        lambda: file.run(lambda store: store.list()),
        lambda: PassingStore(file.location),
        lambda: look(file.location, 1),
    ):
        with pytest.raises(StoreError, match=r"cannot be used: it is (no file|a directory); move it away"):
            use()


def test_the_journal_is_looked_for_beside_the_file_and_not_beside_a_link_to_it(tmp_path: Path) -> None:
    real = str(tmp_path / "elsewhere" / "kept.db")
    linked = tmp_path / "home" / "sessions.db"
    linked.parent.mkdir()
    linked.symlink_to(real)

    async def use() -> tuple[str, int]:
        store = open_store(Home(str(linked.parent)), Config())
        assert isinstance(store, SqliteStore)
        await store.create(a_session(), a_turn())
        assert look(str(linked), 1 << 20) == ""
        copy = PassingStore(store.path)  # of what is in the journal too
        found = len(await copy.messages("s1"))
        await copy.close()
        await store.close()
        return store.path, found

    assert asyncio.run(use()) == (real, 2)


FULL = """
import asyncio, resource, sys
from hermes.errors import StoreError
from hermes.sessions.sqlite import SqliteStore
from tests.sessions.said import a_session, a_step, stored

async def main():
    store = SqliteStore(sys.argv[1])
    await store.create(a_session())
    await store.claim("s1", "me")
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    kept = refused = 0
    while refused < 20:
        try:
            await store.commit("s1", a_step(stored(kept, f"word {kept} " * 500)))
            kept += 1
        except StoreError:
            refused += 1
    for ask in (store.search("word"), store.list(), store.rename("s1", "x"), store.prune("2026-01-01")):
        try:
            await ask
        except StoreError:
            pass
    await store.close()
    print(kept)

asyncio.run(main())
"""


def test_where_nothing_more_can_be_written_all_that_was_told_is_kept(file: Place) -> None:
    command = [sys.executable, "-c", FULL, file.location]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    kept = int(done.stdout)

    async def use(store: ScriptStore) -> list[int]:
        assert await store.check() == ()
        await store.claim("s1", "another")
        await store.commit("s1", a_step(stored(kept, "there is room again")))
        return [hit.seq for hit in await store.search("word OR room", 1000, newest=True)]

    assert kept > 10 and done.stderr == ""
    assert file.run(use) == list(range(kept + 1))[::-1]
