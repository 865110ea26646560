"""Lists that only grow, of which each request takes the beginning as it stands, without a copy.

A long session is sent again with every call. What was sent before is joined once, in blocks that are kept.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import TypeVar, overload

T = TypeVar("T")
Piece = bytes | memoryview
"""A part of a body. One that is no copy is a view."""
BLOCK = 128 * 1024
"""Bytes from which on fragments are joined for good."""


class Beginning(Sequence[T]):
    """The first things of a list to which things are added at its end, and in no other way."""

    __slots__ = ("_count", "_things")

    def __init__(self, things: Sequence[T], count: int | None = None) -> None:
        self._things = things
        self._count = len(things) if count is None else count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        return islice(self._things, self._count)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...
    def __getitem__(self, at: int | slice) -> T | tuple[T, ...]:
        if isinstance(at, slice):
            return tuple(self._things[slice(*at.indices(self._count))])
        return self._things[range(self._count)[at]]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Beginning) and other._things is self._things:
            return bool(other._count == self._count)
        return isinstance(other, Beginning | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class Sent(Sequence[bytes]):
    """The fragments of an epoch: each is a message, or more, as it was serialised when it was first sent.

    Those that fill a block are kept in it alone, and cut out of it for who asks.
    """

    __slots__ = ("blocks", "ends", "loose", "settled")

    def __init__(self, fragments: Iterable[bytes] = ()) -> None:
        self.ends = array("q")  # of each fragment, in all of them joined by commas
        self.blocks: list[bytes] = []  # each but the first with a comma before it
        self.settled: list[int] = []  # how many fragments there are up to the end of each block
        self.loose: list[bytes] = []  # those that are in no block yet
        self.add(fragments)

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[bytes]:
        return map(self._fragment, range(len(self)))

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[bytes, ...]: ...
    def __getitem__(self, at: int | slice) -> bytes | tuple[bytes, ...]:
        if isinstance(at, slice):
            return tuple(map(self._fragment, range(len(self))[at]))
        return self._fragment(range(len(self))[at])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sent) and tuple(other) == tuple(self)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def add(self, fragments: Iterable[bytes]) -> None:
        end = self.ends[-1] if self.ends else -1
        for fragment in fragments:
            end += 1 + len(fragment)
            self.loose.append(fragment)
            self.ends.append(end)

    def so_far(self) -> Fragments:
        """All that is there by now, whatever is added later."""
        return Fragments(self, len(self))

    def settle(self, count: int) -> None:
        """Join the first fragments, as far as they fill blocks."""
        first = self._settled()
        while True:
            full = BLOCK + (self.ends[first - 1] if first else 0)
            last = bisect_left(self.ends, full, first, max(count, first))
            if last >= count:
                return
            block = self.behind(len(self.blocks), last + 1)
            del self.loose[: last + 1 - first]
            self.blocks.append(block)
            self.settled.append(first := last + 1)

    def behind(self, blocks: int, end: int) -> bytes:
        """The fragments behind so many blocks, before that of number `end`, as they stand in a body."""
        first = self.settled[blocks - 1] if blocks else 0
        if blocks < len(self.blocks):
            return self.blocks[blocks][: max(self.ends[end - 1] - self._begin(first), 0)] if end else b""
        return b"," * (0 < first < end) + b",".join(self.loose[: end - first])

    def _fragment(self, number: int) -> bytes:
        if number >= (settled := self._settled()):
            return self.loose[number - settled]
        block = bisect_right(self.settled, number)
        begin = self._begin(self.settled[block - 1] if block else 0)
        own = self.ends[number - 1] + 1 if number else 0
        return self.blocks[block][own - begin : self.ends[number] - begin]

    def _settled(self) -> int:
        return self.settled[-1] if self.settled else 0

    def _begin(self, first: int) -> int:
        """Where the block of which this is the first fragment begins in the joined bytes, at its comma."""
        return self.ends[first - 1] if first else 0


class Fragments(Beginning[bytes]):
    """The messages of a request in the bytes they are sent as. Joined by commas they are a body's middle."""

    __slots__ = ("_sent",)

    def __init__(self, sent: Sent, count: int) -> None:
        super().__init__(sent, count)
        self._sent = sent

    @classmethod
    def of(cls, fragments: Sequence[bytes]) -> Fragments:
        return fragments if isinstance(fragments, Fragments) else Sent(fragments).so_far()

    def first(self, count: int) -> Fragments:
        """The first so many of these."""
        return Fragments(self._sent, min(count, self._count))

    def end(self, number: int) -> int:
        """Where the fragment of this number ends in the joined bytes; -1 for that before the first."""
        return self._sent.ends[number] if number >= 0 else -1

    def shared(self, other: Sequence[bytes]) -> int:
        """With how many of these another list begins too."""
        if isinstance(other, Fragments) and other._sent is self._sent:
            return min(self._count, other._count)
        count = min(self._count, len(other))
        if self[:count] == tuple(other[:count]):  # the same objects, most often
            return count
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self, other, strict=False)))

    def joined(self) -> list[bytes]:
        """The joined bytes, in pieces of which all but the last are kept."""
        sent = self._sent
        sent.settle(self._count)
        whole = bisect_right(sent.settled, self._count)
        return [*sent.blocks[:whole], sent.behind(whole, self._count)]
