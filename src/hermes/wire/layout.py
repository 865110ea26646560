"""The blocks of the newest request with chained digests and sizes; a call costs only what is new in it."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import takewhile

from hermes.fragments import Fragments, Sent
from hermes.wire.blocks import Block, fragment_blocks, head_blocks
from hermes.wire.request import Wire, settings_of

Measure = Callable[[Block], float]
"""Tokens of a block, as a number that may be broken."""

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

    For block `i`: `digests[i]` stands for everything up to its end, `sums[i]` is its tokens and those of all
    before, `positions[i]` how far it is in positions, `ends[i]` where it ends in the body without marks.
    `fresh` is the first block that the request before did not have. With `chunk` a block of more bytes counts
    as several, each of so many: for caches that keep a part of a block.
    """

    measure: Measure
    chunk: int = 0
    digests: list[bytes] = field(default_factory=list)
    sums: array[float] = field(default_factory=_floats)
    positions: array[int] = field(default_factory=_numbers)
    ends: array[int] = field(default_factory=_numbers)
    fresh: int = 0
    head_id: str = ""
    _runs: list[str] = field(default_factory=list)
    _roles: list[str] = field(default_factory=list)
    _seed: bytes = b""
    _settings: bytes = b""  # those that move messages
    _length: int = 0  # of the head
    _fragments: Fragments = field(default_factory=lambda: Sent().so_far())
    _counts: array[int] = field(default_factory=_numbers)  # blocks before each fragment

    def __len__(self) -> int:
        return len(self.digests)

    def take(self, wire: Wire) -> None:
        """Become the layout of a request."""
        seed, settings = seed_of(wire, FOR_ALL), seed_of(wire, FOR_MESSAGES)
        same_head = self.knows_head(wire)
        fragments = Fragments.of(wire.fragments)
        unmoved = same_head and settings == self._settings
        same = fragments.shared(self._fragments) if unmoved else 0
        kept = 0 if not same_head else len(self) if same == len(self._fragments) else self._counts[same]
        before = self.digests[kept:]
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
        pairs = zip(before, self.digests[kept:], strict=False)
        self.fresh = kept + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    def knows_head(self, wire: Wire) -> bool:
        """Whether a request begins with the head of the one before, under the same settings."""
        return (wire.head_id, seed_of(wire, FOR_ALL)) == (self.head_id, self._seed)

    def block_at(self, offset: int) -> int:
        """The block that holds a mark, or a byte, at this offset of the body without marks."""
        return min(bisect_left(self.ends, offset), len(self) - 1)

    def has(self, digest: bytes, at: int) -> bool:
        """Whether a prefix of so many blocks, less one, is still the beginning of this request."""
        return 0 <= at < len(self.digests) and self.digests[at] == digest

    def answered(self, at: int) -> bool:
        """Whether a model's answer follows a block: then the request that ended there was over before."""
        return at + 1 < len(self) and self._roles[at + 1] == "assistant"

    def _cut(self, count: int) -> None:
        for column in (self.digests, self.sums, self.positions, self.ends, self._runs, self._roles):
            del column[count:]

    def _add(self, blocks: tuple[Block, ...], at: int, piece: int) -> None:
        digest = self.digests[-1] if self.digests else self._seed
        if piece == 0:
            digest = blake2b(digest + self._settings, digest_size=16).digest()
        total = self.sums[-1] if self.digests else 0.0
        position = self.positions[-1] if self.digests else 0
        run = self._runs[-1] if self.digests else ""
        for block in blocks:
            position += not block.run or block.run != run
            run = block.run
            weight, size = self.measure(block), len(block.raw)
            step = self.chunk or size or 1
            for begin in range(0, size or 1, step):
                part = block.raw[begin : begin + step]
                digest = blake2b(digest + block.role.encode() + b"\0" + part, digest_size=16).digest()
                total += weight * len(part) / size if size else weight
                self.digests.append(digest)
                self.sums.append(total)
                self.positions.append(position)
                self.ends.append(at + block.end - max(size - begin - len(part), 0))
                self._runs.append(run)
                self._roles.append(sys.intern(block.role))


def seed_of(wire: Wire, names: tuple[str, ...]) -> bytes:
    """A digest of the model and of some of the settings."""
    return _seed(wire.provider, wire.tail, names)


@lru_cache(maxsize=64)
def _seed(provider: str, tail: bytes, names: tuple[str, ...]) -> bytes:
    settings = settings_of(tail)
    model = str(settings.get("model", ""))
    told = [provider, model, *(f"{n}={settings[n]!r}" for n in names if n in settings)]
    return blake2b("\0".join(told).encode("utf-8", "replace"), digest_size=16).digest()
