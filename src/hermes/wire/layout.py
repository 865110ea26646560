"""The blocks of the newest request with chained digests and sizes; a call costs only what is new in it."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b

from hermes.fragments import Fragments, Sent
from hermes.providers.accounting import common_length
from hermes.wire.blocks import Block, fragment_blocks, head_blocks
from hermes.wire.request import Wire, settings_of

Measure = Callable[[Block], float]
"""Tokens of a block, as a number that may be broken."""

DIGEST = 16
"""Bytes of a digest."""
FOR_ALL = ("speed", "response_format")
FOR_MESSAGES = ("tool_choice", "thinking", "output_config", "reasoning_effort")
ORDERED = FOR_ALL + FOR_MESSAGES
"""Settings of which another value moves all that is cached, or all messages."""


def _floats() -> array[float]:
    return array("d")


def _numbers() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Layout:
    """All blocks of a request, in the order in which a provider reads them.

    They are counted in parts: with a `chunk` a block of more bytes is several parts of so many each, for a
    cache that keeps a part of a block; else each is one. `fresh` is the first part that the request before
    did not have. A session holds one as long as it lives: of a part it is a digest, all else of blocks.
    """

    measure: Measure
    chunk: int = 0
    fresh: int = 0
    head_id: str = ""
    _digests: bytearray = field(default_factory=bytearray)  # of everything up to the end of each part
    _firsts: array[int] = field(default_factory=_numbers)  # parts before each block
    _sizes: array[int] = field(default_factory=_numbers)
    _sums: array[float] = field(default_factory=_floats)  # tokens up to the end of each block
    _positions: array[int] = field(default_factory=_numbers)
    _ends: array[int] = field(default_factory=_numbers)  # in the body without marks
    _runs: list[str] = field(default_factory=list)
    _roles: list[str] = field(default_factory=list)
    _seed: bytes = b""
    _settings: bytes = b""  # those that move messages
    _length: int = 0  # of the head
    _fragments: Fragments = field(default_factory=lambda: Sent().so_far())
    _counts: array[int] = field(default_factory=_numbers)  # blocks before each fragment

    def __len__(self) -> int:
        return len(self._digests) // DIGEST

    def digest(self, at: int) -> bytes:
        """What stands for everything up to the end of a part."""
        return bytes(self._digests[at * DIGEST : (at + 1) * DIGEST])

    def measured(self, at: int) -> float:
        """Tokens of a part and of all before it."""
        block = self._block(at)
        before, size = self._sums[block - 1] if block else 0.0, self._sizes[block]
        done = min((at - self._firsts[block] + 1) * self.chunk, size) if self.chunk else size
        return before + (self._sums[block] - before) * (done / size if size else 1)

    def position(self, at: int) -> int:
        """How far a part is in the positions that a provider counts."""
        return self._positions[self._block(at)]

    def _block(self, at: int) -> int:
        return bisect_right(self._firsts, at) - 1

    def take(self, wire: Wire) -> None:
        """Become the layout of a request."""
        seed, settings = seed_of(wire, FOR_ALL), seed_of(wire, FOR_MESSAGES)
        same_head = self.knows_head(wire)
        fragments = Fragments.of(wire.fragments)
        unmoved = same_head and settings == self._settings
        same = fragments.shared(self._fragments) if unmoved else 0
        kept = 0 if not same_head else len(self) if same == len(self._fragments) else self._counts[same]
        before = bytes(self._digests[kept * DIGEST :])
        if not same_head:
            self._cut(0)
            self._seed, self.head_id, self._length = seed, wire.head_id, len(wire.head)
            del self._counts[:]
            self._add(head_blocks(wire.head), 0, -1)
        elif same < len(self._fragments):
            self._cut(self._counts[same])
            del self._counts[same:]
        self.fresh = len(self)
        self._settings = settings
        at = self._length + fragments.end(same - 1) + 1
        for piece, fragment in enumerate(fragments[same:], same):
            self._counts.append(len(self))
            self._add(fragment_blocks(fragment), at, piece)
            at += len(fragment) + 1
        self._fragments = fragments
        after = bytes(self._digests[kept * DIGEST :]) if before else b""
        self.fresh = kept + common_length(before, after) // DIGEST

    def knows_head(self, wire: Wire) -> bool:
        """Whether a request begins with the head of the one before, under the same settings."""
        return (wire.head_id, seed_of(wire, FOR_ALL)) == (self.head_id, self._seed)

    def block_at(self, offset: int) -> int:
        """The last part of the block that holds a mark, or a byte, at an offset of the body without marks."""
        behind = bisect_left(self._ends, offset) + 1
        return (self._firsts[behind] if behind < len(self._firsts) else len(self)) - 1

    def has(self, digest: bytes, at: int) -> bool:
        """Whether a prefix of so many parts, less one, is still the beginning of this request."""
        return 0 <= at < len(self) and self.digest(at) == digest

    def answered(self, at: int) -> bool:
        """Whether a model's answer follows a part: then the request that ended there was over before."""
        return at + 1 < len(self) and self._roles[self._block(at + 1)] == "assistant"

    def _cut(self, count: int) -> None:
        """Keep the first so many parts, of whole blocks."""
        blocks = bisect_left(self._firsts, count)
        del self._digests[count * DIGEST :]
        columns = (self._firsts, self._sizes, self._sums, self._positions, self._ends)
        for column in (*columns, self._runs, self._roles):
            del column[blocks:]

    def _add(self, blocks: tuple[Block, ...], at: int, piece: int) -> None:
        digest = self.digest(len(self) - 1) if self._digests else self._seed
        if piece == 0:
            digest = blake2b(digest + self._settings, digest_size=DIGEST).digest()
        total = self._sums[-1] if self._sums else 0.0
        position = self._positions[-1] if self._positions else 0
        run = self._runs[-1] if self._runs else ""
        for block in blocks:
            position += not block.run or block.run != run
            run = block.run
            total += self.measure(block)
            size, role = len(block.raw), block.role.encode() + b"\0"
            self._firsts.append(len(self))
            self._sizes.append(size)
            self._sums.append(total)
            self._positions.append(position)
            self._ends.append(at + block.end)
            self._runs.append(run)
            self._roles.append(sys.intern(block.role))
            step = self.chunk or size or 1
            for begin in range(0, size or 1, step):
                part = block.raw[begin : begin + step]
                digest = blake2b(digest + role + part, digest_size=DIGEST).digest()
                self._digests += digest


def seed_of(wire: Wire, names: tuple[str, ...]) -> bytes:
    """A digest of the model and of some of the settings."""
    return _seed(wire.provider, wire.tail, names)


@lru_cache(maxsize=64)
def _seed(provider: str, tail: bytes, names: tuple[str, ...]) -> bytes:
    settings = settings_of(tail)
    model = str(settings.get("model", ""))
    told = [provider, model, *(f"{n}={settings[n]!r}" for n in names if n in settings)]
    return blake2b("\0".join(told).encode("utf-8", "replace"), digest_size=16).digest()
