"""What a provider's cache should make of the next request: by the published rules, and what was sent."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal

from hermes.contracts import CacheRules, ModelProfile
from hermes.frozen import frozen
from hermes.messages import Usage
from hermes.providers.tokens import estimate_tokens
from hermes.wire.blocks import is_mark, lifetime_of
from hermes.wire.layout import Layout, Measure
from hermes.wire.request import Wire

Expectation = Literal[
    "first", "hit", "changed", "expired", "minimum", "look-back", "race", "unmarked", "no cache", "abstained"
]
LOOK_BACK = 20
CHUNK = 256
"""Bytes to which a change is narrowed down where caches keep whole prefixes, token by token."""
ENTRIES = 256
"""So many prefixes are remembered as cached, the last used."""
TIPS = 8
"""So many ends of earlier requests are remembered for caches that keep whole prefixes."""


@frozen
class Prediction:
    """Tokens that should be read from the cache, written to it, and neither; and why not more are read.

    `ideal` is what could be read at best: all of the request before. `limit` is the number of the rule that
    `expected` speaks of: seconds of a lifetime, positions, the least tokens.
    """

    expected: Expectation
    read: int = 0
    write: int = 0
    uncached: int = 0
    ideal: int = 0
    limit: int = 0
    found: float = 0.0


@dataclass(slots=True)
class _Entry:
    """One prefix that a provider has: how many tokens, until when, from when on, for how long after a use."""

    at: int  # its last block
    tokens: int
    until: float
    ready: float
    seconds: float


@frozen
class _Tip:
    """The end of an earlier request: its prefix, its last block, from when on it can be read, its tokens."""

    digest: bytes
    at: int
    ready: float
    tokens: int


@dataclass(slots=True)
class Forecaster:
    """Holds what a cache should have, from the calls of one conversation in their order.

    `measure` gives a block's tokens; with `exact` the provider's own counts are not needed to correct it.
    `proven` is whether the provider has told of anything read from or written to its cache.
    """

    rules: CacheRules
    measure: Measure
    exact: bool = False
    proven: bool = False
    layout: Layout = field(init=False)
    _entries: dict[bytes, _Entry] = field(default_factory=dict)
    _tips: list[_Tip] = field(default_factory=list)
    _tip: bytes = b""
    _best: bytes = b""
    _anchors: list[tuple[int, int]] = field(default_factory=list)  # blocks, and tokens to there as reported
    _scale: float = 1.0
    _short: bool = False
    _bare: int = 0  # tokens of the request before, when it had no mark at all
    _laid: tuple[object, ...] = ()  # the request that is laid out and was not answered yet

    def __post_init__(self) -> None:
        self.layout = Layout(self.measure, 0 if self.rules.by_marks else CHUNK)

    # -- before -------------------------------------------------------------------------------------------

    def lay_out(self, wire: Wire) -> None:
        """Take the next request as far as it is known before its answer; `predict` then needs less time."""
        laid = (wire.fragments, wire.head_id, wire.tail)
        if laid == self._laid:
            return
        never_answered, fresh = bool(self._laid), self.layout.fresh
        self.layout.take(wire)
        if never_answered:  # what differs from it may differ from the last that was answered
            self.layout.fresh = min(fresh, self.layout.fresh)
        self._laid = laid

    def predict(self, wire: Wire, counted: int = 0) -> Prediction:
        """Take the next request; what the cache should make of it.

        `counted` are the tokens of all of it, where they are known already.
        """
        self.lay_out(wire)
        while self._anchors and self._anchors[-1][0] >= self.layout.fresh:
            self._anchors.pop()
        if len(self.layout):
            self._anchor(len(self.layout) - 1, counted)
        total = self.tokens(len(self.layout) - 1)
        if silence := self.rules.silence:
            return Prediction(silence, uncached=total)
        if self.rules.by_marks:
            return self._by_marks(wire, total)
        return self._by_prefix(wire, total)

    def marks(self, wire: Wire) -> list[tuple[int, float]]:
        """The blocks that are marked, each with its lifetime in seconds, in order."""
        found = [
            (self.layout.block_at(at), self._seconds(lifetime_of(text)))
            for at, text in wire.marks
            if is_mark(text)
        ]
        if self.rules.kind == "prefix":  # the newest is marked by the provider itself
            found.append((len(self.layout) - 1, self._seconds("")))
        return sorted(dict(found).items())

    def _seconds(self, name: str) -> float:
        ttls = self.rules.ttls
        return float(next((t.seconds or 0 for t in ttls if t.name == name), ttls[0].seconds or 0))

    def _by_marks(self, wire: Wire, total: int) -> Prediction:
        layout, least = self.layout, self.rules.minimum_tokens or 0
        marks = self.marks(wire)
        reach = 1 if self.rules.kind == "prefix" else self.rules.look_back or LOOK_BACK
        best = waiting = -1
        why: Expectation = "race"
        for mark, _ in marks:
            for at in range(mark, -1, -1):
                if layout.position(at) <= layout.position(mark) - reach:
                    break
                entry = self._entries.get(layout.digest(at))
                if entry is None or wire.at >= entry.until:
                    continue
                if self._ready(entry, wire.at):
                    best = max(best, at)
                    break
                waiting = max(waiting, at)
        self._best = layout.digest(best) if best >= 0 else b""
        read = self._entries[self._best].tokens if best >= 0 else 0
        written = max((t for m, _ in marks if (t := self.tokens(m)) >= least), default=0)
        write = max(written - read, 0)
        if waiting > best:
            entry = self._entries[layout.digest(waiting)]
            ideal, limit, found = entry.tokens, 0, entry.ready - wire.at
        else:
            ideal, why, limit, found = self._why(wire, best, reach, marks)
        return Prediction(why, read, write, max(total - read - write, 0), ideal, limit, found)

    def _why(
        self, wire: Wire, best: int, reach: int, marks: list[tuple[int, float]]
    ) -> tuple[int, Expectation, int, float]:
        """What could be read at best, why it is not, the rule's number and what was found against it."""
        if self._bare:
            return self._bare, "unmarked", 0, 0.0
        entry = self._entries.get(self._tip)
        if entry is None:
            return 0, ("minimum" if self._short else "first"), self.rules.minimum_tokens or 0, 0.0
        return self._missed(wire, entry, best, reach, marks)

    def _missed(
        self, wire: Wire, entry: _Entry, best: int, reach: int, marks: list[tuple[int, float]]
    ) -> tuple[int, Expectation, int, float]:
        """The same, when the request before left an entry."""
        at = entry.at if self.layout.has(self._tip, entry.at) else -1
        behind = next((m for m, _ in marks if m >= at), -1)
        if 0 <= at <= best:
            return entry.tokens, "hit", 0, 0.0
        if at < 0:
            why: Expectation = "changed"
        elif wire.at >= entry.until:
            used = entry.until - entry.seconds
            return entry.tokens, "expired", int(entry.seconds), wire.at - used
        elif behind >= 0:
            apart = self.layout.position(behind) - self.layout.position(at)
            return entry.tokens, "look-back", reach, float(apart)
        else:
            why = "unmarked"
        return entry.tokens, why, 0, 0.0

    def _by_prefix(self, wire: Wire, total: int) -> Prediction:
        step, least = self.rules.step or 1, self.rules.minimum_tokens or 0
        usable = [self._shared(tip) for tip in self._tips if self._ready(tip, wire.at)]
        common = max(usable, default=0)
        read = min(common, total) // step * step if common >= least else 0
        if not self._tips:
            return Prediction("first", 0, 0, total)
        last = self._tips[-1]
        same = self.layout.has(last.digest, last.at)
        why: Expectation = "hit"
        if not same:
            why = "changed"
        elif not self._ready(last, wire.at):
            why = "race"
        elif last.tokens < least:
            why = "minimum"
        return Prediction(why, read, 0, total - read, last.tokens, least if why == "minimum" else 0)

    def _ready(self, kept: _Entry | _Tip, now: float) -> bool:
        """Whether a prefix could be read by then: the answer that wrote it had begun."""
        return kept.ready <= now or self.layout.answered(kept.at)

    def _shared(self, tip: _Tip) -> int:
        """Tokens that a request shares with an earlier one, at its beginning."""
        if self.layout.has(tip.digest, tip.at):
            return tip.tokens
        return self.tokens(self.layout.fresh - 1) if tip is self._tips[-1] else 0

    # -- after --------------------------------------------------------------------------------------------

    def settle(self, wire: Wire) -> None:
        """Take what the provider told of the request that was predicted last."""
        layout, usage = self.layout, wire.usage
        self._laid = ()
        self.proven = self.proven or usage.cache_read + usage.cache_write > 0
        if not len(layout):
            return
        last = len(layout) - 1
        ready = wire.at + wire.first
        if self.rules.by_marks and not self.rules.silence:
            self._settle_marks(wire, usage, ready)
        self._anchor(last, usage.input)
        if not self.rules.by_marks:
            extra = max(usage.output - 1, 0) if self.rules.answers else 0
            told = (usage.input or self.tokens(last)) + extra
            self._tips = [t for t in self._tips if not layout.has(t.digest, t.at)]
            self._tips = self._tips[1 - TIPS :]
            place = len(self._tips) - (wire.aside and bool(self._tips))  # the last is the conversation's own
            self._tips.insert(place, _Tip(layout.digest(last), last, ready, told))

    def _settle_marks(self, wire: Wire, usage: Usage, ready: float) -> None:
        least = self.rules.minimum_tokens or 0
        marks = self.marks(wire)
        cached = usage.cache_read + usage.cache_write
        if marks and cached and _near(cached, self.tokens(marks[-1][0])):
            self._anchor(marks[-1][0], cached)
        long = max((self.tokens(m) for m, _ in marks), default=usage.input)
        self._short = not cached and long < least
        self._bare = usage.input if not marks and not self._short else 0
        for mark, seconds in marks:
            tokens = self.tokens(mark)
            if tokens < least or tokens > cached + max(cached // 50, 16) * (not self.exact):
                continue
            digest = self.layout.digest(mark)
            kept = self._entries.pop(digest, None)  # the last used stands last
            entry = _Entry(mark, tokens, wire.at + seconds, ready, seconds)
            if kept and kept.until > wire.at:
                entry.until, entry.ready = max(kept.until, entry.until), kept.ready
                entry.seconds = max(kept.seconds, seconds)
            self._entries[digest] = entry
            self._tip = self._tip if wire.aside and self._tip else digest
        best = self._entries.get(self._best)
        if usage.cache_read and best is not None:  # an entry that was read lives on from now
            best.until = max(best.until, wire.at + best.seconds)
        while len(self._entries) > ENTRIES:
            del self._entries[next(iter(self._entries))]

    # -- tokens -------------------------------------------------------------------------------------------

    def tokens(self, block: int) -> int:
        """Tokens up to the end of a block, as near to the provider's own count as is known."""
        if block < 0 or not len(self.layout):
            return 0
        measured = self.layout.measured
        if self.exact:
            return int(measured(block))
        at = bisect_right(self._anchors, (block, 1 << 62)) - 1
        below, told = self._anchors[at] if at >= 0 else (-1, 0)
        if below == block:
            return told
        base = measured(below) if below >= 0 else 0.0
        scale = self._scale
        if at + 1 < len(self._anchors):
            above, upper = self._anchors[at + 1]
            weight = measured(above) - base
            scale = (upper - told) / weight if weight > 0 else scale
        return round(told + (measured(block) - base) * scale)

    def _anchor(self, block: int, told: int) -> None:
        if not told:
            return
        at = bisect_right(self._anchors, (block, -1))
        if at < len(self._anchors) and self._anchors[at][0] == block:
            self._anchors[at] = (block, told)
        else:
            self._anchors.insert(at, (block, told))
        if weight := self.layout.measured(block):
            self._scale = told / weight


def _near(told: int, estimate: int) -> bool:
    return abs(told - estimate) <= max(told, estimate) * 0.3 + 64


def measure_for(profile: ModelProfile) -> Measure:
    """Tokens of blocks by a model's profile: an estimate, which `Forecaster` corrects as it learns."""
    return lambda block: float(estimate_tokens(block.raw.decode("utf-8", "replace"), profile))
