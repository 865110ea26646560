"""What the cache did over a session, or over many: sums, by cause."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hermes.frozen import frozen
from hermes.wire.review import Entry
from hermes.wire.verdict import CALM, Cause

BARS = "▁▂▃▄▅▆▇█"
ORDER: tuple[Cause, ...] = (
    "changed",
    "expired",
    "look-back",
    "mark",
    "race",
    "route",
    "evicted",
    "minimum",
    "unknown",
)


@frozen
class Sum:
    """Calls that came to the same end. `cost` is None when a price is not known."""

    calls: int = 0
    missed: int = 0
    cost: float | None = 0.0


@frozen
class Report:
    """Tokens of the calls of a session; `shares` is for each call how much of its input was cached.

    `causes` are those that blame somebody, the dearest first in tokens.
    """

    session: str
    title: str
    calls: int
    input: int
    read: int
    written: int
    shares: tuple[float, ...]
    causes: tuple[tuple[Cause, Sum], ...]

    @property
    def share(self) -> float:
        return self.read / self.input if self.input else 0.0


def report(session: str, title: str, entries: Sequence[Entry]) -> Report:
    """The sums of one session."""
    verdicts = [e.verdict for e in entries]
    return Report(
        session,
        title,
        len(entries),
        sum(v.input for v in verdicts),
        sum(v.read for v in verdicts),
        sum(v.written for v in verdicts),
        tuple(hit_shares(entries)),
        by_cause(entries),
    )


def by_cause(entries: Iterable[Entry]) -> tuple[tuple[Cause, Sum], ...]:
    """Sums of the calls that missed."""
    found: dict[Cause, Sum] = {}
    for entry in entries:
        verdict = entry.verdict
        if verdict.cause not in CALM:
            found[verdict.cause] = _plus(
                found.get(verdict.cause, Sum()), Sum(1, verdict.missed, verdict.cost)
            )
    return _sorted(found)


def totals(reports: Iterable[Report]) -> tuple[tuple[Cause, Sum], ...]:
    """Sums of many sessions, by cause."""
    found: dict[Cause, Sum] = {}
    for each in reports:
        for cause, more in each.causes:
            found[cause] = _plus(found.get(cause, Sum()), more)
    return _sorted(found)


def hit_shares(entries: Iterable[Entry]) -> list[float]:
    """For each call, how much of its input came from the cache."""
    return [e.verdict.read / e.verdict.input if e.verdict.input else 0.0 for e in entries]


def spark(shares: Sequence[float], width: int = 40) -> str:
    """A line of bars for numbers from 0 to 1; of more than `width`, the last."""
    return "".join(BARS[min(int(max(share, 0.0) * len(BARS)), len(BARS) - 1)] for share in shares[-width:])


def _sorted(found: dict[Cause, Sum]) -> tuple[tuple[Cause, Sum], ...]:
    return tuple(sorted(found.items(), key=lambda item: (-item[1].missed, ORDER.index(item[0]))))


def _plus(a: Sum, b: Sum) -> Sum:
    cost = None if a.cost is None or b.cost is None else a.cost + b.cost
    return Sum(a.calls + b.calls, a.missed + b.missed, cost)
