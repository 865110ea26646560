"""What both stores promise. Each test runs on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.errors import SessionBusy, StoreError, UsageError
from hermes.messages import Annex, Message, ToolCall
from hermes.sessions.base import ScriptStore
from hermes.sessions.records import (
    EpochRecord,
    Fragment,
    SessionFilter,
    SessionSummary,
    Step,
    StoredMessage,
    storable_message,
)
from tests.sessions.conftest import Place
from tests.sessions.said import (
    DAY,
    HEAD,
    NEW,
    TAIL,
    a_call,
    a_session,
    a_step,
    a_turn,
    fragment,
    stored,
    told,
)


async def everything(store: ScriptStore, name: str = "s1", epochs: int = 1) -> tuple[object, ...]:
    parts = [await store.fragments(name, epoch) for epoch in range(epochs)]
    return (
        await store.get(name),
        await store.messages(name),
        *parts,
        await store.calls(name),
        await store.epochs(name),
    )


def test_what_was_stored_comes_back_equal_also_elsewhere(place: Place) -> None:
    turn = a_turn()

    async def write(store: ScriptStore) -> tuple[object, ...]:
        await store.create(a_session())
        await store.commit("s1", turn)
        return await everything(store)

    expected = (a_session(), turn.messages, turn.fragments, turn.calls, (NEW,))
    assert place.run(write) == expected
    assert place.run(everything) == expected


def test_stored_bytes_come_back_by_their_digest(place: Place) -> None:
    async def use(store: ScriptStore) -> tuple[bytes, bytes]:
        await store.create(a_session(), a_turn())
        call = (await store.calls("s1"))[0]
        with pytest.raises(StoreError, match="no stored bytes"):
            await store.blob("s1", "0" * 64)
        return await store.blob("s1", call.head), await store.blob("s1", call.tail)

    assert place.run(use) == (HEAD, TAIL)


def test_a_message_keeps_all_it_has(place: Place) -> None:
    message = Message(
        "assistant",
        "  spaces stay \r\n",
        (Annex("recall", "before", "before"), Annex("clock", "now")),
        (ToolCall("c1", "terminal", '{"command": "ls"}'), ToolCall("c2", "memory", "not json")),
        "c0",
        "terminal",
        error=True,
        reasoning="because",
        opaque='[{"type":"thinking"}]',
        id="m0",
        time=DAY.format(3),
    )
    step = a_step(StoredMessage(0, message))

    async def use(store: ScriptStore) -> tuple[object, ...]:
        await store.create(a_session(), step)
        return await store.messages("s1"), await store.fragments("s1", 0)

    assert place.run(use) == (step.messages, step.fragments)


anything = st.text(st.characters(), max_size=40)
"""Lone surrogates and U+0000 too."""


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.tuples(anything, anything, anything), min_size=1, max_size=4), body=st.binary())
def test_any_text_and_any_bytes(place: Place, texts: list[tuple[str, str, str]], body: bytes) -> None:
    messages = tuple(
        StoredMessage(
            i, Message("user", a, (Annex("hook", b),), (ToolCall("c", "n", c),), reasoning=c, name=b)
        )
        for i, (a, b, c) in enumerate(texts)
    )
    fragments = (
        *(Fragment(0, i, i, i, storable_message(m.message).text.encode()) for i, m in enumerate(messages)),
        Fragment(0, len(messages), 0, len(messages) - 1, body),
    )
    name = f"s{len(texts)}"

    async def use(store: ScriptStore) -> tuple[object, ...]:
        await store.create(
            a_session(name, title=texts[0][0], state=texts[0][1]), Step(DAY.format(1), messages, fragments)
        )
        found = await store.messages(name), await store.fragments(name, 0)
        record = await store.get(name)
        assert record is not None
        await store.search(texts[0][0])
        await store.delete(name)
        return (*found, record.title)

    as_kept = tuple(StoredMessage(m.seq, storable_message(m.message)) for m in messages)
    title = storable_message(Message("user", texts[0][0])).text
    assert place.run(use) == (as_kept, fragments, title)


def test_storable_changes_only_what_no_store_can_hold() -> None:
    plain = Message("user", "héllo \x01 缓存 😀", (Annex("a", "b"),))
    assert storable_message(plain) is plain
    bad = Message("user", "a\0b\ud83d", (Annex("a", "\0"),), (ToolCall("\0", "n", "\udc00"),), opaque="\0")
    assert storable_message(bad) == Message(
        "user",
        "a\ufffdb\ufffd",
        (Annex("a", "\ufffd"),),
        (ToolCall("\ufffd", "n", "\ufffd"),),
        opaque="\ufffd",
    )


def test_a_step_is_stored_whole_or_not_at_all(place: Place) -> None:
    good = a_turn()
    unknown_head = replace(a_turn(2, 2), calls=(a_call(2, good.fragments[:1], head="0" * 64),))
    same_fragment = replace(a_turn(2, 2), fragments=good.fragments)

    async def use(store: ScriptStore) -> tuple[object, ...]:
        await store.create(a_session(), good)
        for bad in (unknown_head, same_fragment):
            with pytest.raises(StoreError):
                await store.commit("s1", bad)
        assert [hit.seq for hit in await store.search("Peru OR Lima", newest=True)] == [1, 0]
        return await everything(store)

    assert place.run(use) == (a_session(), good.messages, good.fragments, good.calls, (NEW,))


def test_who_does_not_continue_what_is_stored_is_told(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.create(a_session(), a_turn())
        for bad in (a_turn(0, 2), a_turn(3, 2), a_turn(2, 1), a_turn(2, 3)):
            with pytest.raises(SessionBusy, match="continued elsewhere"):
                await store.commit("s1", bad)
        await store.commit("s1", a_turn(2, 2))

    place.run(use)


def test_only_one_of_many_writers_continues_a_session(place: Place) -> None:
    async def use(store: ScriptStore) -> tuple[int, int]:
        await store.create(a_session())
        async with place.opened() as other:
            tries = [s.commit("s1", a_turn(text=f"try {i}")) for i in range(5) for s in (store, other)]
            done = await asyncio.gather(*tries, return_exceptions=True)
        assert all(d is None or isinstance(d, SessionBusy) for d in done)
        return done.count(None), len(await store.messages("s1"))

    assert place.run(use) == (1, 2)


def test_a_new_epoch_brings_its_prompt_and_sends_old_messages_again(place: Place) -> None:
    first = a_turn()
    changed = a_session(epoch=1, prompt_json='{"format":2}', state='{"begins":1}', model="small")
    again = (fragment(1, first.messages[1].message, 1, 0), fragment(2, stored(2, "More?").message, 1, 1))
    epoch = EpochRecord(1, "compaction", DAY.format(4))
    step = Step(DAY.format(4), (stored(2, "More?"),), again, epochs=(epoch,), session=changed)

    async def use(store: ScriptStore) -> tuple[object, ...]:
        await store.create(a_session(), first)
        await store.commit("s1", step)
        return await everything(store, epochs=2)

    messages = (*first.messages, stored(2, "More?"))
    assert place.run(use) == (changed, messages, first.fragments, again, first.calls, (NEW, epoch))


def test_a_cancelled_commit_is_whole(place: Place) -> None:
    async def use(store: ScriptStore) -> int:
        await store.create(a_session())
        task = asyncio.create_task(store.commit("s1", a_turn()))
        await asyncio.sleep(0)
        told = pytest.raises(asyncio.CancelledError) if task.cancel() else nullcontext()
        with told:  # else it was stored already
            await task
        return len(await store.messages("s1"))

    assert place.run(use) == 2


def test_an_id_is_used_once_and_a_missing_session_is_named(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        assert await store.get("s1") is None
        await store.create(a_session())
        with pytest.raises(StoreError, match="a session s1 already"):
            await store.create(a_session())
        with pytest.raises(StoreError, match="no session s2"):
            await store.commit("s2", a_turn())
        with pytest.raises(StoreError, match="no session s2"):
            await store.messages("s2")
        with pytest.raises(StoreError, match="brings the session s9"):
            await store.commit("s1", Step(DAY.format(2), session=a_session("s9")))
        with pytest.raises(StoreError, match="is no time"):
            await store.commit("s1", Step("yesterday"))

    place.run(use)


def summary(name: str, day: int, **changes: object) -> SessionSummary:
    at = DAY.format(day)
    updated = at.replace("Z", ".000000Z")
    line = SessionSummary(name, f"Title of {name}", at, updated, "cli", "large", "somewhere", "", 0, 0)
    return replace(line, **changes)  # type: ignore[arg-type]


def test_sessions_are_listed_the_last_used_first(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        for day in (1, 2, 3):
            await store.create(a_session(f"s{day}", day))
        await store.create(a_session("other", 3, platform="api", parent="s1", title="100 % Größe_!"))
        await store.commit("s1", replace(a_turn(), at="2026-03-05T14:00:00+02:00"))
        first = summary("s1", 1, updated="2026-03-05T12:00:00.000000Z", messages=2, calls=1)
        other = summary("other", 3, platform="api", parent="s1", title="100 % Größe_!")
        expected = (first, summary("s3", 3), other, summary("s2", 2))
        assert await store.list() == expected
        assert await store.list(limit=2) == expected[:2]
        assert await store.list(limit=2, before="s3") == expected[2:]
        for only in (
            SessionFilter(platform="api"),
            SessionFilter(parent="s1"),
            SessionFilter(title="100 % GRÖSSE_!"),
            SessionFilter(title="% GRÖ"),
        ):
            assert await store.list(only) == (other,)
        for only in (SessionFilter(model="small"), SessionFilter(title="1_0"), SessionFilter(title="0%G")):
            assert await store.list(only) == ()

    place.run(use)


def test_a_session_is_meant_by_id_or_title_or_their_beginning(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.create(a_session("20260301-abc", title="Größe der Welt"))
        await store.create(a_session("20260301-abd", title="Small things"))
        await store.create(a_session("2026", title="Small"))
        for name, meant in {
            "20260301-abc": "20260301-abc",
            "20260301-abd": "20260301-abd",
            "2026": "2026",
            "größe DER welt": "20260301-abc",
            "small": "2026",
            "small t": "20260301-abd",
        }.items():
            assert await store.resolve(name) == meant
        with pytest.raises(UsageError, match=r"any of .*20260301-abd \(Small things\), 20260301-abc"):
            await store.resolve("20260301")
        for nothing in ("x", "", "\0"):
            with pytest.raises(UsageError, match="there is no session"):
                await store.resolve(nothing)

    place.run(use)


def test_rename(place: Place) -> None:
    async def use(store: ScriptStore) -> tuple[object, str]:
        await store.create(a_session())
        await store.rename("s1", "Neu")
        with pytest.raises(StoreError, match="no session s2"):
            await store.rename("s2", "x")
        return await store.get("s1"), await store.resolve("neu")

    assert place.run(use) == (a_session(title="Neu"), "s1")


def test_deleting_takes_everything_and_frees_the_id(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.create(*told("alpha", "beta"))
        await store.create(*told("alpha two", name="s2"))
        await store.delete("s1")
        with pytest.raises(StoreError, match="no session s1"):
            await store.delete("s1")
        assert [hit.session for hit in await store.search("alpha")] == ["s2"]
        assert await store.check() == ()
        await store.create(*told("gamma"))
        assert [m.message.text for m in await store.messages("s1")] == ["gamma"]

    place.run(use)


def test_pruning_keeps_what_is_newer_or_named(place: Place) -> None:
    async def use(store: ScriptStore) -> tuple[str, ...]:
        for day in range(1, 6):
            await store.create(a_session(f"s{day}", day))
        gone = await store.prune("2026-03-04T00:00:00+00:00", keep=("s2",))
        assert [s.id for s in await store.list()] == ["s5", "s4", "s2"]
        return gone

    assert place.run(use) == ("s1", "s3")


def test_one_holds_a_session_and_others_are_told_who(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.claim("s1", "terminal 1")
        await store.claim("s1", "terminal 1")
        async with place.opened() as other:
            with pytest.raises(SessionBusy, match="s1 is held by terminal 1") as told:
                await other.claim("s1", "terminal 2")
            assert told.value.holder == "terminal 1"
            await other.claim("s2", "terminal 2")
            waiting = asyncio.create_task(other.claim("s1", "terminal 2", wait=30))
            await asyncio.sleep(0.01)
            await store.release("s1", "terminal 1")
            await waiting
            with pytest.raises(SessionBusy):
                await store.claim("s1", "terminal 1")
        await store.claim("s1", "terminal 1")  # the other was closed
        await store.claim("s2", "terminal 1")

    place.run(use)


def test_close_twice(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.create(a_session())
        await store.close()

    place.run(use)
