"""The format: what is written is what is read, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes.memory.entries import ids, parse, render, size, tidy

WILD = st.text(alphabet=st.characters(exclude_categories=()), max_size=40)
NASTY = st.text(alphabet="§\\ \t\n#-`~a\r\x0b\x85\u2028\ufeff\xa0é", max_size=30)


@given(st.lists(WILD | NASTY, max_size=6))
@example(["§"])
@example(["a\n\\§\nb"])
@example(["a\n\nb"])
@example(["# one"])
@example(["# one", "# two\n\nmore"])
@example(["x\n§\ny", "\\\\§"])
def test_render_then_parse_is_the_identity(texts: list[str]) -> None:
    entries = list(dict.fromkeys(t for t in map(tidy, texts) if t))
    assert parse(render(entries)) == entries
    assert parse(render(parse(render(entries)))) == entries


@given(WILD | NASTY)
def test_tidy_is_done_once_and_gives_whole_characters(text: str) -> None:
    once = tidy(text)
    assert tidy(once) == once == once.encode().decode().strip()
    assert not any(once.count(end) for end in "\r\x0b\x0c\x85\u2028")


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", []),
        ("\n§\n§\n", []),
        ("one fact", ["one fact"]),
        ("a\n\n§\n\nb\n§", ["a", "b"]),
        ("a\n§\nb\n§\na", ["a", "b"]),
        ("- a\n- b\n", ["- a\n- b"]),
        ("# Me\n\nI use nvim.\n\n## Work\n\n- atlas\n", ["# Me\n\nI use nvim.", "## Work\n\n- atlas"]),
        ("First.\n\nSecond\nline.\n", ["First.", "Second\nline."]),
        (
            "Intro.\n\n# Code\n\n```\n# no heading\n\n```\n# Next\nx",
            ["Intro.", "# Code\n\n```\n# no heading\n\n```", "# Next\nx"],
        ),
    ],
)
def test_what_people_write(text: str, entries: list[str]) -> None:
    assert parse(text) == entries


@given(st.text(alphabet="# \n`-ab", max_size=60))
def test_no_line_that_people_write_is_lost(text: str) -> None:
    kept = {line.strip() for entry in parse(text) for line in entry.split("\n")}
    assert {line.strip() for line in text.split("\n")} <= kept | {""}


def test_ids_are_made_of_the_text_and_stay() -> None:
    entries = [f"entry {n}" for n in range(40)]
    assert ids(entries) == ids(list(reversed(entries)))[::-1]
    assert ids(entries[5:]) == ids(entries)[5:]
    assert all(len(name) == 6 for name in ids(entries))


def test_size_counts_characters_and_separators() -> None:
    assert [size([]), size(["가" * 10]), size(["ab", "c"])] == [0, 10, 6]
