"""What no careful program would ask of a store: both answer it in words, and go on."""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from typing import Any

import apsw
import psycopg
import pytest

from hermes.errors import HermesError, StoreError
from hermes.messages import Message
from hermes.sessions.base import ScriptStore
from hermes.sessions.queries import CANDIDATES
from hermes.sessions.records import SessionFilter, StoredMessage
from hermes.sessions.replay import verify
from hermes.sessions.search import LOOKED
from hermes.sessions.transfer import export, import_
from tests.sessions.conftest import Place
from tests.sessions.said import DAY, a_session, a_step, a_turn, stored, told
from tests.sessions.test_contract import everything
from tests.sessions.test_transfer import filled, sealed

HALF = "x\ud800"
HUGE = 2**70

ASKED: tuple[Callable[[ScriptStore], Awaitable[object]], ...] = (
    lambda s: s.get(HALF),
    lambda s: s.create(a_session(HALF)),
    lambda s: s.commit(HALF, a_turn()),
    lambda s: s.rename(HALF, "title"),
    lambda s: s.delete(HALF),
    lambda s: s.claim(HALF, "me"),
    lambda s: s.blob("s1", HALF),
    lambda s: s.list(SessionFilter(platform=HALF)),
    lambda s: s.list(before=HALF),
    lambda s: s.search("word", session=HALF),
)
COUNTED: tuple[Callable[[ScriptStore], Awaitable[object]], ...] = (
    lambda s: s.list(limit=HUGE),
    lambda s: s.search("Lima", HUGE, newest=True),
    lambda s: s.messages("s1", HUGE),
    lambda s: s.fragments("s1", HUGE),
)


def test_what_no_database_takes_is_told_and_the_store_goes_on(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.create(a_session(), a_turn())
        for ask in ASKED:
            with pytest.raises(StoreError):
                await ask(store)
        for ask in COUNTED:
            with suppress(StoreError):  # PostgreSQL knows numbers of any size
                await ask(store)
        assert [len(await store.messages("s1")), await store.check()] == [2, ()]

    place.run(use)


QUERIES = (
    '"',
    '""',
    "*",
    "a*",
    'a"b',
    "OR OR",
    "OR a OR",
    "NEAR(a b, 5)",
    "body : hello",
    "{body tags}: hello",
    "^hello + -world",
    "(hello",
    "h(e)llo)",
    "';--",
    "%_!\\",
    "🎉",
    "👩‍👩‍👧 party🎉",
    "tags:s1",
    "\0\ud800",
    "a" * 100_000,
    "山" * 3000,
    " ".join(f"w{i}" for i in range(2000)),
    " OR ".join(f"w{i}" for i in range(2000)),
    '"' + " ".join(f"w{i}" for i in range(2000)) + '"',
)


def test_every_sign_may_be_asked_for(place: Place) -> None:
    """What is no word asks for nothing; no sign has a meaning beside those that are promised."""

    async def use(store: ScriptStore) -> list[int]:
        await store.create(*told('say "hello" (world) party🎉', "a NEAR b", "100% hello_x"))
        return [len(await store.search(query)) for query in QUERIES]

    found = dict(zip(QUERIES, place.run(use), strict=True))
    assert {query: n for query, n in found.items() if n} == {
        "a*": 1,
        "^hello + -world": 1,
        "(hello": 2,
        "👩‍👩‍👧 party🎉": 1,
    }


def test_more_are_shown_than_are_weighed_at_a_time(place: Place) -> None:
    many = CANDIDATES * 2 + 10

    async def use(store: ScriptStore) -> list[int]:
        await store.create(*told(*(f"copper {i}" for i in range(many))))
        return [hit.seq for hit in await store.search("copper", many + 5, newest=True)]

    assert place.run(use) == list(range(many))[::-1]


def test_a_very_long_message_is_stored_and_shown_where_it_answers(place: Place) -> None:
    text = "so it goes on " * (LOOKED // 5) + "to the Lantern and then " + "on and on " * LOOKED
    message = StoredMessage(0, Message("user", text, id="m0", time=DAY.format(2)))

    async def use(store: ScriptStore) -> None:
        await store.create(a_session(), a_step(message))
        (hit,) = await store.search("lantern")
        assert [hit.snippet[a:b] for a, b in hit.marks] == ["Lantern"]
        assert (await store.messages("s1"))[0] == message
        assert await verify(store, "s1") == ()

    place.run(use)


def test_a_clock_that_goes_back_takes_no_use_back(place: Place) -> None:
    async def use(store: ScriptStore) -> list[str]:
        await store.create(a_session(), a_step(stored(0, "late"), day=9))
        await store.commit("s1", a_step(stored(1, "early"), day=3))
        await store.create(a_session("s2", 5))
        assert await store.prune(DAY.format(4)) == ()
        return [s.updated for s in await store.list()]

    assert place.run(use) == ["2026-03-09T12:00:00.000000Z", "2026-03-05T12:00:00.000000Z"]


def test_many_sessions_are_thrown_away_and_nothing_of_them_stays(place: Place) -> None:
    async def use(store: ScriptStore) -> list[str]:
        for number in range(150):
            await store.create(*told("copper", "lantern", "words", name=f"s{number:03}", day=1 + number % 2))
        await store.create(*told(*(f"word{i}" for i in range(1200)), name="long", day=1))
        await store.search("copper")
        gone = await store.prune(DAY.format(2), ["s000"])
        assert len(gone) == 75 and await store.check() == ()
        return [hit.session for hit in await store.search("copper OR word7", 200, newest=True)]

    assert sorted(place.run(use)) == ["s000", *(f"s{n:03}" for n in range(1, 150, 2))]
    assert counts(place.location) == {"messages": 228, "fragments": 228, "words": 228, "sessions": 76}


def counts(location: str) -> dict[str, int]:
    tables = ("messages", "fragments", "words", "sessions")
    if location.startswith("postgres"):
        with psycopg.connect(location) as raw:
            return {t: raw.execute(f"SELECT count(*) FROM {t}".encode()).fetchall()[0][0] for t in tables}
    with closing(apsw.Connection(location)) as raw:
        return {t: raw.execute(f"SELECT count(*) FROM {t}").get for t in tables}


@pytest.mark.parametrize(
    ("spoil", "read", "what"),
    [
        ("UPDATE messages SET data = '{\"colour\":1}'", lambda s: s.messages("s1"), "message 0"),
        ("UPDATE messages SET data = '{'", lambda s: s.messages("s1"), "message 0"),
        ("UPDATE calls SET usage = '{\"input\":x}'", lambda s: s.calls("s1"), "call 1"),
        ("UPDATE calls SET trace = '[1]'", lambda s: s.calls("s1"), "call 1"),
    ],
)
def test_what_is_stored_damaged_is_told(
    place: Place, spoil: str, read: Callable[[ScriptStore], Awaitable[object]], what: str
) -> None:
    place.run(lambda store: store.create(a_session(), a_turn()))
    if place.location.startswith("postgres"):
        with psycopg.connect(place.location, autocommit=True) as raw:
            raw.execute(spoil.encode())
    else:
        with closing(apsw.Connection(place.location)) as raw:
            raw.execute(spoil)
    with pytest.raises(StoreError, match=f"{what} of a session is stored damaged .*hermes sessions check"):
        place.run(read)


WEIRD = (None, True, -1, HUGE, 1.5, "", "x", "a\0", "\ud800", [], [1], {}, {"a": 1}, "{", "[]", "null", "99")


def test_an_import_takes_no_field_that_is_of_another_kind(place: Place) -> None:
    """Whatever a line says: it is refused in words, or what is stored can be read, sent on, thrown away."""
    chance = random.Random(5)

    async def use(store: ScriptStore) -> None:
        await filled(store)
        lines = [json.loads(line) async for line in export(store, "s1")][:-1]
        for number in range(120):
            spoiled = json.loads(json.dumps(lines))
            at = spoiled[chance.randrange(1, len(spoiled))]
            replace_somewhere(chance, at)
            name = f"odd{number}"
            try:
                await import_(store, sealed(spoiled), name)
            except HermesError:
                assert await store.get(name) is None
                continue
            await everything(store, name=name, epochs=2)
            again = [line async for line in export(store, name)]
            await store.delete(name)
            await import_(store, again)
            await store.delete(name)
        assert await store.check() == ()

    place.run(use)


def replace_somewhere(chance: random.Random, within: Any) -> None:
    """Put something weird in the place of a value that lies in a record."""
    key = chance.choice(list(within) if isinstance(within, dict) else range(len(within)))
    inner = within[key]
    if isinstance(inner, dict | list) and inner and chance.random() < 0.9:
        replace_somewhere(chance, inner)
    else:
        within[key] = chance.choice(WEIRD)
