"""Folding, and the way back from it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.security.literals import ENDS, STARTS, Finder, _by_expression, overlapping, prepare
from hermes.security.normalise import fold


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("IGNORE", "ignore"),
        ("Ｉｇｎｏｒｅ", "ignore"),
        ("𝐈𝐠𝐧𝐨𝐫𝐞", "ignore"),
        ("ɪɢɴᴏʀᴇ", "ignore"),
        ("ⓘⓖⓝⓞⓡⓔ", "ignore"),
        ("іgnоrе", "ignore"),
        ("ΙGΝΟRΕ", "ignore"),
        ("ígnörè", "ignore"),
        ("i\u0301g\u0308nore", "ignore"),
        ("ig\u200bno\u00adre", "ignore"),
        ("ig**no**re", "ignore"),
        ("ig<b>no</b>re", "ignore"),
        ("&#105;gnore", "ignore"),
        ("%69gnore", "ignore"),
        ("\\u0069gnore", "ignore"),
        ("\u0130gnore", "ignore"),
        ("привет мир", "привет мир"),
        ("кеш prompt", "кеш prompt"),
        ("precedente cafe", "precedente cafe"),
        ("snake_case **bold** a < b && c", "snake_case **bold** a < b && c"),
    ],
)
def test_reads(text: str, reads: str) -> None:
    assert fold(text).text == reads


def test_offsets_lead_back() -> None:
    text = "x &#105;g\u200bnore y"
    view = fold(text)
    assert view.text == "x ignore y"
    start, end = view.text.index("ignore"), view.text.index(" y")
    assert text[view.start(start) : view.end(end)] == "&#105;g\u200bnore"


@given(st.text(alphabet="ab<>*&#;105%4\\u\u200b\u00e9\u0301\ufb01\u0430 \n`_~"))
def test_offsets_are_sound(text: str) -> None:
    view = fold(text)
    starts = [view.start(at) for at in range(len(view.text))]
    ends = [view.end(at + 1) for at in range(len(view.text))]
    assert starts == sorted(starts)
    assert ends == sorted(ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))


@given(st.text(alphabet="abc d.忽略é_"))
def test_both_engines_find_the_same(text: str) -> None:
    literals = prepare(
        [("a", 3), ("ab", 0), ("b", 2), ("abc", STARTS), ("c.d", 0), ("忽略", 0), ("忽", 0), ("a b", 3)]
    )
    patterns = [pattern.encode() for pattern in literals.patterns]
    data = Finder(literals).search(text).data
    automaton, expression = (engine(patterns)(data) for engine in (overlapping, _by_expression))
    assert sorted(automaton) == sorted(expression)


def test_a_literal_without_letters_is_refused() -> None:
    with pytest.raises(ValueError, match="'10' has no letter"):
        prepare([("10", STARTS | ENDS)])


@given(st.text(alphabet="ab .\n5é\u3002"))
def test_words_are_found_where_they_begin_whatever_parts_them(text: str) -> None:
    places: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for number, at in Finder(prepare([("a b", STARTS | ENDS), ("b", 0), (".a", 0)])).find(text):
        places[number].append(at)
    expressions = ["(?<![abé])a(?=[^abé]+b(?![abé]))", "b", r"\.a"]
    wanted = [[match.start() for match in re.finditer(expression, text)] for expression in expressions]
    assert [places[0], places[1], places[2]] == wanted


@given(st.lists(st.text(alphabet="ab .\n5éÿ\uffff\udcff\u3002")))
def test_passages_searched_as_one_hold_what_each_of_them_holds(passages: list[str]) -> None:
    finder = Finder(prepare([("a b", STARTS | ENDS), ("b", 0), ("b", STARTS), (".a", ENDS), ("ÿ", 0)]))
    alone = [next(finder.present([passage])) for passage in passages]
    assert list(finder.present(passages)) == alone
    assert all({n for n, _ in finder.find(p)} <= there for p, there in zip(passages, alone, strict=True))


def test_edges_of_words() -> None:
    finder = Finder(prepare([("tell", 3), ("inform", 1), (".env", 0)]))
    text = "tell information, satellite; tell.me x.env renv"
    assert [(number, text[start:]) for number, start in finder.find(text)] == [
        (0, text),
        (1, "information, satellite; tell.me x.env renv"),
        (0, "tell.me x.env renv"),
        (2, ".env renv"),
    ]
