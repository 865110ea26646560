"""The layout of a request: laid out call by call as at once, and in parts as in whole blocks."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from hermes.fragments import Fragments, Sent
from hermes.provenance import digest_of
from hermes.wire.blocks import Block, fragment_blocks, head_blocks
from hermes.wire.layout import Layout
from hermes.wire.request import Wire

TAIL = b'],"model":"m","max_tokens":9}'
said = st.lists(
    st.builds(
        lambda role, text: json.dumps({"role": role, "content": text}).encode(),
        st.sampled_from(["user", "assistant", "tool"]),
        st.text(max_size=40),
    ),
    min_size=1,
    max_size=6,
)
systems = st.text(min_size=1, max_size=60)
chunks = st.sampled_from([0, 1, 7, 64])


def head_of(system: str) -> bytes:
    return b'{"messages":[{"role":"system","content":' + json.dumps(system).encode() + b"},"


def wire(system: str, fragments: Fragments) -> Wire:
    head = head_of(system)
    return Wire(1, 0.0, "p", digest_of(head), head, fragments, TAIL)


def weight(block: Block) -> float:
    return float(len(block.raw))


def seen(layout: Layout) -> list[tuple[object, ...]]:
    """All that a layout tells of each of its parts."""
    return [
        (layout.digest(at), layout.measured(at), layout.position(at), layout.answered(at))
        for at in range(len(layout))
    ]


@given(chunk=chunks, turns=st.lists(st.tuples(systems, said), min_size=1, max_size=4), cut=st.booleans())
def test_call_by_call_as_at_once(chunk: int, turns: list[tuple[str, list[bytes]]], cut: bool) -> None:
    """Whatever was sent before: a conversation that goes on, another head, messages taken away."""
    layout, before = Layout(weight, chunk), Layout(weight, chunk)
    fragments = Sent()
    for system, messages in turns:
        if cut:
            fragments = Sent(fragments[:1])
        fragments.add(messages)
        asked = wire(system, fragments.so_far())
        layout.take(asked)
        fresh = Layout(weight, chunk)
        fresh.take(asked)
        assert seen(layout) == seen(fresh)
        same = [a[0] == b[0] for a, b in zip(seen(before), seen(fresh), strict=False)]
        assert layout.fresh == (same.index(False) if False in same else len(same))
        before = fresh


@given(chunk=chunks, system=systems, messages=said)
def test_parts_and_blocks_agree(chunk: int, system: str, messages: list[bytes]) -> None:
    asked = wire(system, Sent(messages).so_far())
    layout = Layout(weight, chunk)
    layout.take(asked)
    blocks = [*head_blocks(asked.head), *(b for m in messages for b in fragment_blocks(m))]
    assert layout.measured(len(layout) - 1) == sum(map(weight, blocks))
    sizes = [len(b.raw) for b in blocks]
    assert len(layout) == sum(max(1, -(-size // chunk)) if chunk else 1 for size in sizes)
    ends = [layout.measured(at) for at in range(len(layout))]
    assert ends == sorted(ends)
    found, at = [], len(asked.head)
    for number, message in enumerate(messages):
        found.append(layout.block_at(at + len(message) - 1))  # where its text ends
        at += len(message) + 1
        before = sum(map(weight, blocks[: len(head_blocks(asked.head)) + number + 1]))
        assert layout.measured(found[-1]) == before
