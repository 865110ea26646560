"""Old bodies are taken away; their digests, the messages and the usage stay."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hermes.errors import StoreError
from hermes.provenance import digest_of
from hermes.sessions.base import ScriptStore
from hermes.sessions.bodies import Retention
from hermes.sessions.records import EpochRecord, SessionRecord, Step
from hermes.sessions.replay import request_body, verify
from hermes.sessions.transfer import export, import_
from tests.sessions.conftest import Place
from tests.sessions.said import DAY, HEAD, a_call, a_session, a_turn, fragment, stored


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, Retention()),
        ("30 days", Retention(days=30)),
        ("7d", Retention(days=7)),
        ("1 day", Retention(days=1)),
        (200, Retention(calls=200)),
        (True, None),
        (0, None),
        ("a while", None),
        ([], None),
    ],
)
def test_the_policy_is_read(value: object, read: Retention | None) -> None:
    assert Retention.read(value) == read


def test_days_are_counted_back_from_now() -> None:
    now = datetime(2026, 3, 10, 12, tzinfo=UTC)
    assert Retention(days=3).before(now) == "2026-03-07T12:00:00.000000Z"
    assert Retention(calls=3).before(now) == ""


async def two_epochs(store: ScriptStore) -> tuple[bytes, ...]:
    """A session with a call in each of two epochs; the fragments of the first."""
    await store.create(a_session(), a_turn())
    first = await store.fragments("s1", 0)
    message = stored(2, "Again?")
    made = fragment(2, message.message, epoch=1, n=0)
    (call,) = await store.calls("s1")

    again = a_call(2, (made,), epoch=1, started=DAY.format(20), messages=3)
    epoch = EpochRecord(1, "refresh", DAY.format(20))
    await store.commit("s1", Step(DAY.format(20), (message,), (made,), (again,), (epoch,)))
    assert call.epoch == 0
    return tuple(f.body for f in first)


def test_an_old_epoch_goes_and_leaves_its_digests(place: Place) -> None:
    async def scene(store: ScriptStore) -> None:
        bodies = await two_epochs(store)
        before = await request_body(store, "s1", 2)
        freed = await store.drop_bodies(before=DAY.format(10))
        assert freed == sum(map(len, bodies))
        assert await store.drop_bodies(before=DAY.format(10)) == 0
        assert await store.blob("s1", digest_of(HEAD)) == HEAD  # the second epoch has it too
        left = await store.fragments("s1", 0)
        assert [(f.body, f.gone, f.length) for f in left] == [(b"", digest_of(b), len(b)) for b in bodies]
        with pytest.raises(StoreError, match="the body of call 1 is kept no longer"):
            await request_body(store, "s1", 1)
        assert await request_body(store, "s1", 2) == before
        assert await verify(store, "s1") == ()
        assert await store.check() == ()
        lines = [line async for line in export(store, "s1")]
        assert await import_(store, lines, "s2") == "s2"
        assert await store.fragments("s2", 0) == left
        assert await store.calls("s2") == await store.calls("s1")

    place.run(scene)


def test_all_but_the_last_calls(place: Place) -> None:
    async def scene(store: ScriptStore) -> None:
        await two_epochs(store)
        assert await store.drop_bodies(calls=2) == 0
        assert await store.drop_bodies(calls=1, session_id="s1") > 0
        assert [bool(f.gone) for f in await store.fragments("s1", 1)] == [False]

    place.run(scene)


def test_everything_of_an_old_session(place: Place) -> None:
    async def scene(store: ScriptStore) -> None:
        await two_epochs(store)
        await store.drop_bodies(before=DAY.format(28))
        (call, _) = await store.calls("s1")
        with pytest.raises(StoreError, match="kept no longer"):
            await store.blob("s1", call.head)
        lines = [line async for line in export(store, "s1")]
        await import_(store, lines, "s2")
        assert await store.calls("s2") == await store.calls("s1")
        await store.commit("s1", Step(DAY.format(29), blobs=(HEAD,)))
        assert await store.blob("s1", call.head) == HEAD  # what is sent again is kept again
        record = await store.get("s1")
        assert isinstance(record, SessionRecord)
        assert record.prompt_json == a_session().prompt_json

    place.run(scene)
