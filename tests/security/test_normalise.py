"""Folding, and the way back from it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.security.literals import ENDS, STARTS, Finder, _by_expression, _overlapping, prepare
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
    patterns = literals.patterns
    found = [engine(text) for engine in (_overlapping(patterns), _by_expression(patterns))]
    automaton, expression = (sorted(zip(numbers, ends(), strict=True)) for numbers, ends in found)
    assert automaton == expression


def test_a_literal_without_letters_is_found_as_written() -> None:
    finder = Finder(prepare([("10", STARTS | ENDS), ("ab", 0)]))
    assert finder.find("10 ab  x 110 10") == [(0, 0, 2), (1, 3, 5), (0, 10, 12), (0, 13, 15)]


def test_edges_of_words() -> None:
    finder = Finder(prepare([("tell", 3), ("inform", 1), (".env", 0)]))
    text = "tell information, satellite; tell.me x.env renv"
    assert [(number, text[start:end]) for number, start, end in finder.find(text)] == [
        (0, "tell"),
        (1, "inform"),
        (0, "tell"),
        (2, ".env"),
    ]
