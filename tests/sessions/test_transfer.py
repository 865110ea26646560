"""Sessions that travel, and requests that are made again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from hermes.errors import StoreError, UsageError
from hermes.sessions.base import ScriptStore
from hermes.sessions.records import EpochRecord, Fragment, Step
from hermes.sessions.replay import request_body, verify
from hermes.sessions.sqlite import SqliteStore
from hermes.sessions.transfer import export, import_
from tests.sessions.conftest import Place
from tests.sessions.said import DAY, HEAD, TAIL, a_call, a_session, a_turn, fragment, stored
from tests.sessions.test_contract import everything


async def filled(store: ScriptStore) -> None:
    """Two turns, a compaction, and a call after it; one fragment is no text."""
    first, second = a_turn(), a_turn(2, 2, "缓存 and\u2028more")
    sent = (*first.fragments, second.fragments[0])
    second = replace(second, calls=(a_call(2, sent, inserts=((0, "«"), (30, "»"))),))
    again = (Fragment(1, 0, 2, 3, b'"\xff\xfe"'), fragment(4, stored(4, "And now?").message, 1, 1))
    third = Step(
        DAY.format(4),
        (stored(4, "And now?"),),
        again,
        (a_call(3, again, epoch=1, inserts=()),),
        (EpochRecord(1, "compaction", DAY.format(4)),),
        (),
        a_session(epoch=1, state='{"begins":2}'),
    )
    await store.create(a_session(), first)
    await store.commit("s1", second)
    await store.commit("s1", third)


def sealed(lines: Iterable[object]) -> list[str]:
    """The lines of an export of these values, with the digest that fits them."""
    told = [json.dumps(line) for line in lines]
    digest = hashlib.sha256("".join(f"{line}\n" for line in told).encode()).hexdigest()
    return [*told, json.dumps({"end": digest})]


def test_any_past_request_is_made_again_byte_for_byte(place: Place) -> None:
    async def use(store: ScriptStore) -> list[bytes]:
        await filled(store)
        assert await verify(store, "s1") == ()
        with pytest.raises(UsageError, match="no call 4"):
            await request_body(store, "s1", 4)
        return [await request_body(store, "s1", n) for n in (1, 2, 3)]

    def body(*texts: tuple[str, str]) -> bytes:
        said = ",".join(f'{{"role": "{role}", "content": "{text}"}}' for role, text in texts)
        return HEAD + said.encode() + TAIL

    question, answer = ("user", "What is the capital of Peru?"), ("assistant", "It is Lima.")
    plain = body(question, answer, ("user", "缓存 and\u2028more"))
    assert place.run(use) == [
        body(question)[:9] + b',"mark":1' + body(question)[9:],
        "«".encode() + plain[:30] + "»".encode() + plain[30:],
        HEAD + b'"\xff\xfe",{"role": "user", "content": "And now?"}' + TAIL,
    ]


def test_a_request_that_was_not_sent_so_is_not_printed(place: Place) -> None:
    wrong = a_turn()
    wrong = replace(wrong, calls=(a_call(1, wrong.fragments[1:]),))

    async def use(store: ScriptStore) -> tuple[str, ...]:
        await store.create(a_session(), wrong)
        with pytest.raises(StoreError, match="call 1 are not those that were sent"):
            await request_body(store, "s1", 1)
        return await verify(store, "s1")

    assert place.run(use) == ("session s1: call 1 was sent with other messages than are stored",)


def test_export_and_import_lose_nothing(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await filled(store)
        before = await everything(store, epochs=2)
        lines = [line async for line in export(store, "s1")]
        with pytest.raises(StoreError, match="a session s1 already"):
            await import_(store, lines)
        assert await import_(store, lines, "s2") == "s2"
        assert [line async for line in export(store, "s2")][2:-1] == lines[2:-1]
        await store.delete("s1")
        assert await import_(store, (f"{line}\n" for line in lines)) == "s1"
        assert await everything(store, epochs=2) == before
        assert [await request_body(store, "s2", n) for n in (1, 2, 3)] == [
            await request_body(store, "s1", n) for n in (1, 2, 3)
        ]
        assert [h.session for h in await store.search("缓存", newest=True)] == ["s1", "s2"]
        assert await store.check() == ()

    place.run(use)


def test_lines_that_were_changed_are_refused(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await filled(store)
        lines = [line async for line in export(store, "s1")]
        await store.delete("s1")
        for bad, why in (
            (lines[:-1], "not whole"),
            ([*lines[:4], *lines[5:]], "not whole"),
            ([line.replace("Lima", "Cusco") for line in lines], "was changed"),
            ([], "no session in format 1"),
            (["[]"], "no exported session"),
            (['{"format":1}', "x"], "no exported session"),
            (['{"format":2}', *lines[1:]], "no session in format 1"),
        ):
            with pytest.raises(StoreError, match=why):
                await import_(store, bad)
        assert await store.list() == ()

    place.run(use)


def test_a_session_goes_from_one_store_to_the_other_and_back(place: Place, tmp_path: Path) -> None:
    async def use(store: ScriptStore) -> None:
        await filled(store)
        before, lines = await everything(store, epochs=2), [line async for line in export(store, "s1")]
        other = SqliteStore(str(tmp_path / "other.db"))
        try:
            assert await import_(other, lines) == "s1"
            assert await everything(other, epochs=2) == before
            there = [line async for line in export(other, "s1")]
        finally:
            await other.close()
        await store.delete("s1")
        assert await import_(store, there) == "s1"
        assert await everything(store, epochs=2) == before
        assert [line async for line in export(store, "s1")] == lines == there

    place.run(use)
