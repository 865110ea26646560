"""What reaches a terminal: colours, and nothing else that it would obey."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from hermes.cli.repl.draw import Pen
from hermes.cli.repl.status import Status, status_line
from hermes.messages import Usage

COLOUR = re.compile("\x1b\\[[0-9;]*m")
OBEYED = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
ANYTHING = st.text(
    st.one_of(st.characters(), st.sampled_from("\x1b\x9b\x07\r\n\t[]()&#;x`*_ -1m\u202e")), max_size=80
)


@given(ANYTHING, st.integers(1, 200))
def test_nothing_but_colours_comes_out(text: str, width: int) -> None:
    pen = Pen(width)
    for line in (*pen.markdown(text), *pen.text(text), *pen.diff(text), *pen.styled([(text, "bold")])):
        assert not OBEYED.search(COLOUR.sub("", line))


def test_an_entity_is_no_way_around() -> None:
    assert Pen(40).markdown("a&#x202e;b") == ["a\ufffdb"]


def test_the_address_of_a_link_is_shown() -> None:
    (line,) = Pen(80, colour=False).markdown("[your bank](https://evil.test)")
    assert COLOUR.sub("", line) == "your bank (https://evil.test)"


def test_a_diff_has_its_colours() -> None:
    assert Pen(40).diff("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same") == [
        "\x1b[1m--- a\x1b[0m",
        "\x1b[1m+++ b\x1b[0m",
        "\x1b[36m@@ -1 +1 @@\x1b[0m",
        "\x1b[31m-old\x1b[0m",
        "\x1b[32m+new\x1b[0m",
        " same",
    ]


FULL = Status(
    "claude-sonnet-4-5",
    "0123456789ab",
    12_345,
    200_000,
    Usage(input=10_000, cache_read=9_400),
    0.0123,
    2,
    "pirate",
)


def test_the_status_line_leaves_out_what_matters_least() -> None:
    assert status_line(FULL, 100) == (
        "2 queued · claude-sonnet-4-5 · pirate · 01234567 · 12.3k/200k 6 % · cache 94 % · $0.0123"
    )
    assert status_line(FULL, 60) == "2 queued · claude-sonnet-4-5 · 12.3k/200k 6 % · $0.0123"
    assert status_line(FULL, 20) == "2 queued"
    assert status_line(Status("a-model-with-a-long-name"), 20) == "a-model-with-a-long…"


@given(st.text(max_size=30), st.integers(1, 200))
def test_the_status_line_always_fits(model: str, width: int) -> None:
    assert get_cwidth(status_line(Status(model or "m", "s" * 12, 10, 20), width)) <= max(width, 1)
