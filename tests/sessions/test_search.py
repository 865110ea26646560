"""What is found, and in which order: the same in both stores."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.sessions.base import ScriptStore
from hermes.sessions.records import Hit, storable
from hermes.sessions.search import Term, folded, parse, snippet
from tests.sessions.conftest import Place
from tests.sessions.said import DAY, told

SAID = (
    "The cache of the prompt is kept warm",  # 0
    "缓存命中率很高，提示词不变",  # 1
    "tool: get_hermes_home() wrote my-app.config.ts",  # 2
    "Estável, não é? ESTAVEL",  # 3
    "Привет, кэшированный мир",  # 4
    "warming the caches of prompts",  # 5
    "プロンプトのキャッシュは高い",  # 6
    "cache",  # 7
    "ภาษาไทย ไม่มีช่องว่าง",  # 8
    "Die Größe der Straße",  # 9
    "hello 한국어로 world",  # 10
    "use the prompt, of the cache",  # 11
)


ASKED = {
    "cache": [11, 7, 0],
    "CACHE prompt": [11, 0],
    '"cache of the prompt"': [0],
    '"prompt of"': [11],
    "cach*": [11, 7, 5, 0],
    "warm OR warming": [5, 0],
    "cache warm OR use": [11, 0],
    "缓存": [1],
    "命中率": [1],
    "存": [1],
    "不变": [1],
    "存命中": [1],
    "中命": [],
    "キャッシュ": [6],
    "プロンプトの": [6],
    "国어": [],
    "한국": [10],
    "ไม่มี": [8],
    "estavel": [3],
    "ESTÁVEL": [3],
    "ПРИВЕТ": [4],
    "кэш*": [4],
    "grösse strasse": [9],
    "my-app.config.ts": [2],
    "get_hermes_home": [2],
    "hermes_home": [2],
    "home_hermes": [],
    '"" .. --': [],
    "OR": [],
    "'; DROP TABLE messages; --": [],
    'cache" OR "*': [11, 7, 0],
    "%": [],
    "c%e": [],
    "nothing": [],
}


def test_what_is_found(place: Place) -> None:
    async def use(store: ScriptStore) -> dict[str, list[int]]:
        await store.create(*told(*SAID))
        return {query: [hit.seq for hit in await store.search(query, newest=True)] for query in ASKED}

    assert place.run(use) == ASKED


def test_hits_are_whole_and_the_best_comes_first(place: Place) -> None:
    async def use(store: ScriptStore) -> None:
        await store.create(*told("cache", "the cache and other words", "nothing"))
        await store.create(*told("a cache, a cache!\nA very long cache", "tool: cache", name="s2"))

        def hit(
            name: str, seq: int, role: str, text: str, marks: tuple[tuple[int, int], ...], score: float
        ) -> Hit:
            return Hit(name, f"Title of {name}", seq, role, DAY.format(2), text, marks, score)  # type: ignore[arg-type]

        found = await store.search("cache")
        assert found == (
            hit("s1", 0, "user", "cache", ((0, 5),), 0.612903),
            hit(
                "s2", 0, "user", "a cache, a cache! A very long cache", ((2, 7), (11, 16), (30, 35)), 0.605096
            ),
            hit("s2", 1, "tool", "tool: cache", ((6, 11),), 0.535211),
            hit("s1", 1, "assistant", "the cache and other words", ((4, 9),), 0.387755),
        )
        assert await store.search("cache", 2) == found[:2]
        assert await store.search("cache", 2, newest=True) == tuple(
            replace(hit, score=0.0) for hit in (found[2], found[1])
        )
        assert [h.seq for h in await store.search("cache", session="s1", newest=True)] == [1, 0]
        assert [h.session for h in await store.search("cache", roles=("tool", "assistant"), newest=True)] == [
            "s2",
            "s1",
        ]
        assert await store.search("cache", 0) == ()

    place.run(use)


words = st.sampled_from(
    ["cache", "Prompt", "缓存", "命", "é", "x_y", "kalt", "ß", "-", "プロン", "a.b", "\0", "\ud800", "½"]
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(words, max_size=5).map(" ".join), min_size=1, max_size=5),
    query=st.lists(words, min_size=1, max_size=3),
)
def test_both_stores_find_what_folding_says(place: Place, texts: list[str], query: list[str]) -> None:
    """Neither index may add or lose a hit: it finds a message when the tokens stand in it in a row."""
    asked = storable(" ".join(query))

    async def use(store: ScriptStore) -> list[int]:
        await store.create(*told(*texts))
        found = [hit.seq for hit in await store.search(asked, newest=True)]
        await store.delete("s1")
        return found

    kept = [f" {folded(storable(text))} " for text in texts]
    groups = parse(asked)
    expected = [
        i for i, text in enumerate(kept) if groups and all(any(t.text in text for t in g) for g in groups)
    ]
    assert place.run(use) == expected[::-1]


def test_queries() -> None:
    assert parse('a "b c" OR d* e_f') == (
        (Term(("a",)),),
        (Term(("b", "c")), Term(("d",), begins=True)),
        (Term(("e", "f")),),
    )
    assert parse("缓存命中") == ((Term(("缓存", "存命", "命中")),),)
    assert parse("prompt缓") == ((Term(("prompt", "缓"), begins=True),),)
    assert parse("缓存prompt") == ((Term(("缓存", "存", "prompt")),),)
    assert parse(" OR x OR") == ((Term(("or",)),), (Term(("x",)),))


@given(st.text())
def test_folding_is_stable(text: str) -> None:
    once = folded(text)
    assert once == folded(text.upper().lower()) or not text.isascii()
    assert all(len(token) <= 64 and token for token in once.split(" ")) or not once


def test_snippets_show_the_place_on_one_line() -> None:
    text = "word " * 100 + "the cache of\tthe prompt\nstays " + "x " * 100
    shown, marks = snippet(parse('"cache of" stay*'), text)
    assert [shown[a:b] for a, b in marks] == ["cache of", "stays"]
    assert shown.startswith("…word word") and shown.endswith("…") and "\n" not in shown and len(shown) <= 162
    assert snippet(parse("x"), "nothing\nhere") == ("nothing here", ())
    text = "前" * 200 + "缓存命中率" + "后" * 200
    shown, marks = snippet(parse("存命中"), text)
    assert [shown[a:b] for a, b in marks] == ["存命中"]
