"""Markdown cut into blocks as it arrives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes.cli.repl.stream import LONGEST, Block, Stream


def blocks(*pieces: str) -> list[Block]:
    stream = Stream()
    done = [block for piece in pieces for block in stream.feed(piece)]
    return done + stream.finish()


def test_blocks_end_at_blank_lines_outside_code() -> None:
    text = "One\nparagraph.\n\n```py\na\n\nb\n```\n\nEnd\n"
    assert [b.text for b in blocks(text)] == ["One\nparagraph.\n\n", "```py\na\n\nb\n```\n\n", "End\n"]


def test_an_indented_line_goes_on_with_its_list() -> None:
    assert [b.text for b in blocks("1. a\n\n   more\n\n2. b\n")] == ["1. a\n\n   more\n\n", "2. b\n"]


def test_a_long_code_block_is_given_away_in_pieces_that_are_code_blocks() -> None:
    lines = [f"line {n}\n" for n in range(2 * LONGEST)]
    made = blocks("```py\n" + "".join(lines) + "```\n\nEnd\n")
    code = "".join(lines)
    assert made == [
        Block("```py\n" + "".join(lines[:LONGEST]) + "```"),
        Block("```py\n" + "".join(lines[LONGEST:]) + "```", joined=True),
        Block("End\n"),
    ]
    assert code.count("\n") == 2 * LONGEST


PIECES = st.lists(st.sampled_from(["a", "\n", "\n\n", "```", "~~~", "- x", "  ", "# h", " "]), max_size=60)


@given(PIECES, st.integers(1, 7))
def test_the_same_text_gives_the_same_blocks_and_loses_nothing(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    whole = blocks(text)
    assert blocks(*(text[i : i + size] for i in range(0, len(text), size))) == whole
    joined = "".join(b.text for b in whole)
    assert [c for c in joined if not c.isspace()] == [c for c in text if not c.isspace()]
