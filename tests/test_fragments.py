"""What was sent is shared and joined once, and is always the plain join of its fragments."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.fragments import BLOCK, Beginning, Fragments, Sent
from hermes.providers.cache_marks import with_puts

SIZES = st.lists(st.sampled_from([0, 1, 7, BLOCK // 3, BLOCK - 1, BLOCK]), max_size=5)


def made(sizes: list[int], letter: str = "a") -> tuple[bytes, ...]:
    return tuple((f"{letter}{n}" * size)[:size].encode() for n, size in enumerate(sizes))


@settings(max_examples=40, deadline=None)
@given(st.lists(SIZES, max_size=3), st.data())
def test_every_request_is_the_plain_join_of_its_fragments(
    steps: list[list[int]], data: st.DataObject
) -> None:
    sent, plain, asked = Sent(), [], []
    for sizes in steps:
        sent.add(made(sizes))
        plain += made(sizes)
        asked.append((sent.so_far(), tuple(plain)))
        if data.draw(st.booleans()):
            sent.so_far().joined()  # settles what fills blocks
    for request, expected in asked:
        part = request.first(data.draw(st.integers(0, len(expected) + 2)))
        for found, fragments in ((request, expected), (part, expected[: len(part)])):
            assert found == fragments
            assert (len(found), hash(found)) == (len(fragments), hash(fragments))
            assert b"".join(found.joined()) == b",".join(fragments)
            ends = [len(b",".join(fragments[: n + 1])) for n in range(len(fragments))]
            assert [found.end(n) for n in range(-1, len(found))] == [-1, *ends]


def test_what_was_joined_is_not_joined_again() -> None:
    sent = Sent(made([BLOCK // 3] * 10))
    first = sent.so_far().joined()
    sent.add(made([5, BLOCK]))
    again = sent.so_far().joined()
    assert len(first) > 2
    assert [id(block) for block in again[: len(first) - 1]] == [id(block) for block in first[:-1]]
    assert all(len(block) < 2 * BLOCK + 2 for block in again)


def test_what_was_joined_is_not_held_twice() -> None:
    sent = Sent(made([BLOCK // 3] * 10))
    whole = tuple(sent)
    sent.so_far().joined()
    assert sum(map(len, sent.loose)) < BLOCK
    assert sum(map(len, sent.blocks)) + sum(map(len, sent.loose)) <= len(b",".join(whole))
    assert tuple(sent) == sent.so_far() == whole


def test_a_beginning_stays_what_it_was() -> None:
    things = ["a", "b"]
    before = Beginning(things)
    things.append("c")
    now = Beginning(things)
    assert (before, now, now != before) == (("a", "b"), ("a", "b", "c"), True)
    assert repr(now) == repr(tuple(now))
    assert (before[-1], before[1:9], list(reversed(now))) == ("b", ("b",), ["c", "b", "a"])


@given(SIZES, SIZES)
def test_how_much_two_requests_share(sizes: list[int], others: list[int]) -> None:
    sent = Sent(made(sizes))
    before = sent.so_far()
    sent.add(made(others, "b"))
    assert sent.so_far().shared(before) == before.shared(sent.so_far()) == len(before)
    alike = Fragments.of((*made(sizes), b"other"))
    assert alike.shared(before) == before.shared(tuple(alike)) == len(before)


@given(st.binary(max_size=40), st.lists(st.integers(0, 39), max_size=5, unique=True), st.data())
def test_what_is_put_in_stands_at_its_place(body: bytes, places: list[int], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=4)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    puts = tuple((at, f"<{at}>") for at in sorted(places) if at < len(body))
    expected = body
    for at, text in reversed(puts):
        expected = expected[:at] + text.encode() + expected[at:]
    assert b"".join(with_puts(pieces, puts)) == expected
