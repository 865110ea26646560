"""A store of an older schema is brought forward when it is opened, and keeps everything."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import apsw
import psycopg

from hermes.sessions.base import ScriptStore
from hermes.sessions.records import CallRecord, Step
from tests.sessions.conftest import Place
from tests.sessions.said import a_session, a_turn, told


def as_schema_1(location: str) -> None:
    """Make a store what the first version would have left."""
    if location.startswith("postgres"):
        with psycopg.connect(location, autocommit=True) as raw:
            raw.execute("ALTER TABLE calls DROP COLUMN trace")
            raw.execute("DELETE FROM hermes_schema WHERE version > 1")
        return
    with closing(apsw.Connection(location)) as raw:
        raw.execute("ALTER TABLE calls DROP COLUMN trace")
        raw.pragma("user_version", 1)


def as_schema_2(location: str) -> None:
    """The same of the second version, which indexed the words of a message with it, if it had any."""
    if location.startswith("postgres"):
        with psycopg.connect(location, autocommit=True) as raw:
            raw.execute("DELETE FROM hermes_schema WHERE version > 2")
        return
    with closing(apsw.Connection(location)) as raw:
        raw.execute("DELETE FROM words WHERE rowid IN (SELECT key FROM messages WHERE text = '')")
        raw.pragma("user_version", 2)


def test_schema_1_is_brought_forward(place: Place) -> None:
    place.run(lambda store: store.create(a_session(), a_turn()))
    as_schema_1(place.location)

    async def go_on(store: ScriptStore) -> tuple[CallRecord, ...]:
        (before,) = await store.calls("s1")
        more = replace(before, n=2, forecast="hit", predicted=9, predicted_write=7, first=120, route="a b")
        await store.commit("s1", Step("2026-03-02T12:00:09Z", calls=(more,)))
        return await store.calls("s1")

    old, new = place.run(go_on)
    assert old == a_turn().calls[0]
    assert new == replace(old, n=2, forecast="hit", predicted=9, predicted_write=7, first=120, route="a b")
    assert place.run(lambda store: store.check()) == ()


def test_what_schema_2_indexed_is_found_beside_what_is_new(place: Place) -> None:
    async def begin(store: ScriptStore) -> None:
        await store.create(*told("the old cache", "", "old words", "", ""))
        await store.search("all", 1)  # by now all is indexed

    async def go_on(store: ScriptStore) -> list[int]:
        await store.create(*told("the new cache", "", name="s2"))
        return [hit.seq for hit in await store.search("cache OR words", newest=True)]

    place.run(begin)
    as_schema_2(place.location)
    assert place.run(go_on) == [0, 2, 0]
    assert place.run(lambda store: store.search("old", newest=True)) != ()
