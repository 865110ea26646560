"""Passages keep their spans through every operation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.provenance import GLUE, Decision, Notice, Origin, Passage, Span, digest_of

FILE = Origin("agents", "/p/AGENTS.md", "d", trust="project")
texts = st.text(alphabet=st.sampled_from("ab\n é§"), max_size=40)


def lines(first: int, last: int) -> Origin:
    return Origin("agents", "/p/AGENTS.md", "d", first, last, "project")


def test_a_quote_is_one_span_over_its_lines() -> None:
    passage = Passage.quote("one\ntwo\n", FILE)
    assert passage == "one\ntwo\n"
    assert passage.spans == (Span(0, 8, lines(1, 2)),)


def test_a_part_knows_its_lines() -> None:
    passage = Passage.quote("one\ntwo\nthree\n", FILE)
    part = passage.part(4, 13)
    assert part == "two\nthree"
    assert part.spans == (Span(0, 9, lines(2, 3)),)
    assert [part.line_at(0), part.line_at(4)] == [2, 3]


def test_joining_leaves_out_empty_parts_but_keeps_what_they_tell() -> None:
    told = Passage("", (), (Notice("info", "n"),), (Decision("/p", "k", "empty"),))
    joined = Passage.joined("\n\n", [Passage.quote("a", FILE), told, Passage.own("b", "heading")])
    assert joined == "a\n\nb"
    assert joined.spans == (
        Span(0, 1, lines(1, 1)),
        Span(1, 3, GLUE),
        Span(3, 4, Origin("heading")),
    )
    assert joined.notices == (Notice("info", "n"),)
    assert joined.decisions == (Decision("/p", "k", "empty"),)


def test_trimming_keeps_the_indentation_of_the_first_line() -> None:
    passage = Passage.quote("\n \n  a\n b \n\n", FILE).trimmed()
    assert passage == "  a\n b"
    assert passage.spans == (Span(0, 6, lines(3, 4)),)
    assert Passage.quote(" \n\t", FILE).trimmed() == ""


def test_a_plain_string_operation_forgets() -> None:
    assert type(Passage.quote("abc", FILE)[1:]) is str


def test_asking_outside_the_text_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="no character 3 in a text of 3"):
        Passage.quote("abc", FILE).span_at(3)
    with pytest.raises(IndexError, match="no character 0 in a text of 0"):
        Passage().span_at(0)


def test_lone_surrogates_have_a_digest() -> None:
    assert digest_of("\ud83d") != digest_of("\ufffd")


@given(st.lists(texts, max_size=5), texts, st.data())
def test_spans_cover_the_text_and_lines_count_true(parts: list[str], glue: str, data: st.DataObject) -> None:
    whole = Passage.joined(glue, [Passage.quote(part, FILE) for part in parts])
    assert whole == glue.join(part for part in parts if part)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    part = whole.part(start, end)
    assert part == str(whole)[start:end]
    assert_covered(part)
    for offset in range(len(part)):
        assert part.line_at(offset) == whole.line_at(start + offset)
        assert part.span_at(offset).origin.path == whole.span_at(start + offset).origin.path


def assert_covered(passage: Passage) -> None:
    at = 0
    for span in passage.spans:
        assert span.start == at < span.end
        at = span.end
    assert at == len(passage)
