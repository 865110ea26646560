"""What calls cost: tokens in classes, at dated prices. What is not known is said, never guessed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import NamedTuple

from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.messages import Usage
from hermes.providers.facts import table_date
from hermes.sessions.records import CallRecord

MILLION = 1_000_000
MARGIN = 30.0
"""So many seconds before a cache would let go of what it holds, it is used again to keep it."""


class Tokens(NamedTuple):
    """Tokens of one or more calls by what they cost. Without the `output` they are what the provider read.

    `write` and `write_long` were written to the cache: for its usual lifetime, and for the longer one.
    """

    uncached: int = 0
    read: int = 0
    write: int = 0
    write_long: int = 0
    output: int = 0

    @classmethod
    def of(cls, usage: Usage) -> Tokens:
        """The classes of what a provider reported; their sum is what it reported, whatever it was."""
        read = min(usage.cache_read, usage.input)
        written = min(usage.cache_write, usage.input - read)
        long = min(usage.cache_write_long, written)
        return cls(usage.input - read - written, read, written - long, long, usage.output)

    @property
    def input(self) -> int:
        return self.uncached + self.read + self.write + self.write_long

    def plus(self, other: Tokens) -> Tokens:
        return Tokens(*map(sum, zip(self, other, strict=True)))


class Rates(NamedTuple):
    """US dollars for a million tokens of each class; `None` where that is not known."""

    uncached: float | None = None
    read: float | None = None
    write: float | None = None
    write_long: float | None = None
    output: float | None = None

    @classmethod
    def of(cls, profile: ModelProfile) -> Rates:
        """The rates of a model, from its prices, and its cache rules where a price is a multiple of plain."""
        prices, rules = profile.prices, profile.cache
        plain = prices.input

        def times(factor: float | None) -> float | None:
            return None if plain is None or factor is None else plain * factor

        first = rules.ttls[0].write if rules.ttls else None
        if rules.kind in ("prefix", "none") and first is None:
            first = 1.0  # what is written there is not paid for apart
        long = max((ttl.write for ttl in rules.ttls), default=first)
        read = prices.cache_read if prices.cache_read is not None else times(rules.read)
        write = prices.cache_write if prices.cache_write is not None else times(first)
        return cls(plain, read, write, times(long), prices.output)

    def cost(self, tokens: Tokens) -> float | None:
        """Dollars for these tokens; `None` when one of the rates that are needed is not known."""
        total = 0.0
        for count, rate in zip(tokens, self, strict=True):
            if count and rate is None:
                return None
            total += count * (rate or 0.0)
        return total / MILLION

    @property
    def known(self) -> bool:
        return self.uncached is not None and self.output is not None


def cost(usage: Usage, profile: ModelProfile) -> float | None:
    """Dollars for what a call used; `None` when the prices are not known."""
    rates = Rates.of(profile)
    return rates.cost(Tokens.of(usage)) if rates.known else None


def price_source(profile: ModelProfile) -> str:
    """Where the prices of a model come from, and of which day they are; "" when there are none."""
    source = profile.source_of("prices.input")
    if not source:
        return ""
    dated = source if "config.yaml" in source else f"{source}, as of {table_date()}"
    return f"{dated}; the lowest standing prices" if profile.prices.tiered else dated


def unpriced(profile: ModelProfile) -> str:
    """What is said where a model has no prices."""
    return f"no prices are known for {profile.name}; models: in config.yaml can name them"


# -- bills ------------------------------------------------------------------------------------------------


@frozen
class Bill:
    """Calls and what they cost, in dollars, `without` a cache too; `None` where no price is known.

    `unpriced` is how many calls are not in the sums since their prices are not known.
    """

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    spent: float | None = None
    without: float | None = None
    unpriced: int = 0

    @property
    def tokens(self) -> Tokens:
        return Tokens.of(self.usage)


ProfileOf = Callable[[str], ModelProfile]
"""The profile of a model, by its name."""


def bill(calls: Iterable[CallRecord], profile_of: ProfileOf) -> Bill:
    """The bill for calls of any models."""
    total = Bill()
    for call in calls:
        total = added(total, call.usage, profile_of(call.model))
    return total


def bills(
    calls: Iterable[CallRecord], profile_of: ProfileOf, key: Callable[[CallRecord], str]
) -> dict[str, Bill]:
    """A bill for each key, such as the day or the model, in the order in which they come."""
    found: dict[str, Bill] = {}
    for call in calls:
        name = key(call)
        found[name] = added(found.get(name, Bill()), call.usage, profile_of(call.model))
    return found


def added(total: Bill, usage: Usage, profile: ModelProfile) -> Bill:
    """The bill with one more call."""
    spent, without = cost(usage, profile), cost(Usage(input=usage.input, output=usage.output), profile)
    return Bill(
        total.calls + 1,
        total.usage.plus(usage),
        _sum(total.spent, spent),
        _sum(total.without, without),
        total.unpriced + (spent is None),
    )


def _sum(total: float | None, more: float | None) -> float | None:
    return total if more is None else (total or 0.0) + more


def dollars(amount: float | None) -> str:
    """An amount for people: cents with two more places while it is small; "unknown" for none."""
    if amount is None:
        return "unknown"
    sign = "-" if amount < 0 else ""
    amount = abs(amount)
    return f"{sign}${amount:.4f}" if amount < 1 else f"{sign}${amount:,.2f}"


# -- what pays --------------------------------------------------------------------------------------------


def first_that_pays(rates: Rates, write: float | None) -> int | None:
    """From which call on a prefix is cheaper written once at this rate and read than sent plain each time.

    `None` when it never is, or when prices are not known.
    """
    if write is None or rates.uncached is None or rates.read is None or rates.read >= rates.uncached:
        return None
    # write + (n - 1) read < n plain
    least = (write - rates.read) / (rates.uncached - rates.read)
    return max(math.floor(least) + 1, 1)


def pings_that_pay(profile: ModelProfile) -> int:
    """How many times a cached prefix can be read again for what it costs to write it once more; 0 where
    nothing is known of that, or where the cache promises no lifetime.
    """
    rates, ttls = Rates.of(profile), profile.cache.ttls
    if not ttls or not ttls[0].seconds or rates.write is None or not rates.read:
        return 0
    return max(int((rates.write - rates.read) / rates.read), 0)
