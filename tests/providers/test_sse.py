"""Server-sent events in whatever pieces they come."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.providers.sse import Event, EventParser

STREAM = (
    "\ufeff: comment\n\nevent: a\ndata: hé😀\nid: 3\nretry: 10\n\ndata:two\ndata: lines\n\n"
    "event: none\n\ndata\n\nunknown: x\ndata: last: one\n\n"
).encode()
EVENTS = [Event("a", "hé😀"), Event("", "two\nlines"), Event("", ""), Event("", "last: one")]


def parsed(*pieces: bytes) -> list[Event]:
    parser = EventParser()
    return [event for piece in pieces for event in parser.feed(piece)]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_every_line_end(newline: bytes) -> None:
    assert parsed(STREAM.replace(b"\n", newline)) == EVENTS


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@given(cuts=st.lists(st.integers(0, 160), max_size=12))
def test_pieces_may_end_anywhere(newline: bytes, cuts: list[int]) -> None:
    data = STREAM.replace(b"\n", newline)
    ends = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = (data[a:b] for a, b in pairwise(ends))
    assert parsed(*pieces) == EVENTS


def test_an_event_that_is_cut_off_is_dropped() -> None:
    assert parsed(b"data: whole\n\ndata: half\n") == [Event("", "whole")]


def test_bytes_that_are_no_text_do_not_stop_it() -> None:
    assert parsed(b"data: \xff\xfe\n\n") == [Event("", "\ufffd\ufffd")]


@given(st.lists(st.binary(max_size=20), max_size=8))
def test_any_bytes_are_read(pieces: list[bytes]) -> None:
    parsed(*pieces)
