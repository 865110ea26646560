"""A store of an older schema is brought forward when it is opened, and keeps everything."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import apsw
import psycopg

from hermes.sessions.base import ScriptStore
from hermes.sessions.records import CallRecord, Step
from tests.sessions.conftest import Place
from tests.sessions.said import a_session, a_turn


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
