"""Weights, shares and cuts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from hermes.skills.budget import TOKEN, fair_share, shortened, tokens, weight

TEXTS = st.text(
    st.one_of(
        st.sampled_from("abc  ,.-漢字かな。e\u0301👩\u200d🚀🇩🇪\u0915\u094d\u0937"),
        st.characters(codec="utf-8"),
    ),
    max_size=60,
)


@given(TEXTS, TEXTS)
def test_weights_add_up(one: str, two: str) -> None:
    assert weight(one) + weight(two) == weight(one + two)


SAMPLES = {
    "english": "Search and summarize arXiv papers; use when asked for recent research on a topic. " * 5,
    "names": " ".join(f"test-driven-development-{n}" for n in "abcdefgh"),
    "code": "Runs `kubectl get pods -A` and explains CrashLoopBackOff, OOMKilled, ImagePullBackOff.",
    "german": "Prüft Verträge auf fehlende Kündigungsfristen und schlägt Änderungen vor.",
    "chinese": "当用户要求搜索或总结最新的学术论文时使用此技能,支持按作者和年份筛选。",
    "japanese": "ユーザーが論文の検索や要約を求めたときに使うスキルです。",
    "korean": "사용자가 논문 검색이나 요약을 요청할 때 사용하는 스킬입니다.",
    "russian": "Используйте, когда пользователь просит найти или обобщить научные статьи.",
    "index": "  cat000:\n    - apricot-fern-0913\n    - autumn-jasmine-0581\n    - tdd: Write the test\n" * 5,
    "emoji": "🚀 ship it ✅ done",
}


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_the_estimate_is_on_the_high_side_and_not_absurdly(encoding: str) -> None:
    from toktok import batch_count

    counted = dict(zip(SAMPLES, batch_count(list(SAMPLES.values()), encoding, 1), strict=True))
    estimated = {name: tokens(text) for name, text in SAMPLES.items()}
    assert {n: (estimated[n], c) for n, c in counted.items() if not c <= estimated[n] <= 4 * c} == {}


@given(st.lists(st.integers(0, 500), max_size=30), st.integers(0, 5000))
def test_a_fair_share_is_the_largest_that_fits(weights: list[int], room: int) -> None:
    cap = fair_share(weights, room)

    def used(cap: int) -> int:
        return sum(min(w, cap) for w in weights)

    assert used(cap) <= room
    assert cap == max(weights, default=0) or used(cap + 1) > room


@given(TEXTS, st.integers(0, 2000), st.integers(0, 200))
def test_shortening(text: str, cap: int, more: int) -> None:
    text = text.strip()
    short = shortened(text, cap)
    assert weight(short) <= max(cap, 0)
    if weight(text) <= cap:
        assert short == text
    elif short:
        kept = short.removesuffix("…")
        assert short.endswith("…")
        assert text.startswith(kept)
        graphemes = list(iter_graphemes(text))
        ends = {len("".join(graphemes[:n])) for n in range(len(graphemes) + 1)}
        assert len(kept) in ends
    assert len(shortened(text, cap + more)) >= len(short) or shortened(text, cap + more) == text


@pytest.mark.parametrize(
    ("text", "kept", "short"),
    [
        ("Search and summarize papers", 15, "Search and…"),
        ("Search and summarize papers", 10, "Search and…"),
        ("Search, and summarize", 9, "Search…"),
        ("Supercalifragilistic", 5, "Super…"),
        ("word", 4, "word"),
    ],
)
def test_cuts_fall_between_words(text: str, kept: int, short: str) -> None:
    assert shortened(text, kept * 4 + weight("…")) == short


def test_scripts_without_spaces_are_cut_between_characters() -> None:
    assert shortened("当用户要求搜索或总结论文时使用", 5 * 21 + 21) == "当用户要求…"
    assert shortened("かか\u3099かか", 2 * 21 + 21) == "か…"


def test_a_token_is_fourteen() -> None:
    assert [tokens(t) for t in ("", "a", "abcd", "a" * 35, "-" * 14, "漢")] == [0, 1, 2, 10, 9, 2]
    assert TOKEN == 14
