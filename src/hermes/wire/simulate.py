"""Stored sessions played again under other ways to use the cache: what each would have cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.messages import Usage
from hermes.wire.economics import MARGIN, MILLION, Rates, Tokens, dollars, pings_that_pay
from hermes.wire.layout import Measure
from hermes.wire.past import Past, factor_of
from hermes.wire.policies import AS_SENT, Policy, marks_for, rewritten, told_at_the_tail
from hermes.wire.prediction import Expectation, Forecaster, measure_for
from hermes.wire.request import Wire
from hermes.wire.review import ProfileFor
from hermes.wire.transcode import transcoded


@frozen
class Outcome:
    """What sessions used under one policy. `cost` in US dollars, `None` where prices are not known.

    `misses` are calls that should have read more; `pings` calls that only kept the cache; `abstained` calls
    for which the rules of the cache are not known.
    """

    policy: Policy
    calls: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    cost: float | None = 0.0
    misses: int = 0
    pings: int = 0
    abstained: int = 0

    def plus(self, other: Outcome) -> Outcome:
        both = self.cost is not None and other.cost is not None
        return Outcome(
            self.policy,
            self.calls + other.calls,
            self.tokens.plus(other.tokens),
            (self.cost or 0.0) + (other.cost or 0.0) if both else None,
            self.misses + other.misses,
            self.pings + other.pings,
            self.abstained + other.abstained,
        )

    @property
    def known(self) -> bool:
        """Whether the rules told what would have been."""
        return self.calls > 0 and not self.abstained


@frozen
class Counting:
    """How many tokens a block is: by a `measure` that counts as the provider does, or by estimates, times
    `factor`, which give way to what the provider counted wherever it counted the same bytes.
    """

    measure: Measure | None = None
    factor: float = 1.0

    @classmethod
    def learned(cls, past: Past, profile_for: ProfileFor) -> Counting:
        """Estimates, corrected by what the provider counted in these calls."""
        return cls(factor=factor_of(past.calls, profile_for))

    def cache(self, profile: ModelProfile) -> Forecaster:
        """A cache of this model with nothing in it."""
        if self.measure is not None:
            return Forecaster(profile.cache, self.measure, exact=True)
        estimate, factor = measure_for(profile), self.factor
        return Forecaster(profile.cache, lambda block: factor * estimate(block))


@frozen
class Answer:
    """One simulated call, with what is used for it in `wire.usage`; `price` in dollars, `None` if unknown."""

    wire: Wire
    price: float | None
    expected: Expectation
    ping: bool = False


def reported(past: Past, profile_for: ProfileFor) -> Outcome:
    """What the provider reported of these calls."""
    total = Outcome(Policy("as reported"))
    for wire in past.calls:
        tokens = Tokens.of(wire.usage)
        price = Rates.of(profile_for(wire.model, wire.provider)).cost(tokens)
        total = total.plus(Outcome(total.policy, 1, tokens, price))
    return total


def simulate(past: Past, policy: Policy, profile_for: ProfileFor, tokens: Counting) -> Outcome:
    """What a session would have used under a policy, at the real times of its calls."""
    total = Outcome(policy)
    for answer in play(past, policy, profile_for, tokens):
        why = answer.expected
        total = total.plus(
            Outcome(
                policy,
                int(not answer.ping),
                Tokens.of(answer.wire.usage),
                None if why == "abstained" else answer.price,
                int(why not in ("hit", "first", "no cache", "abstained") and not answer.ping),
                int(answer.ping),
                int(why == "abstained"),
            )
        )
    return total


def play(past: Past, policy: Policy, profile_for: ProfileFor, tokens: Counting) -> Iterator[Answer]:
    """The calls of a session under a policy, one by one."""
    caches: dict[tuple[str, str], _Cache] = {}
    other = policy.other
    for was, wire in zip(past.calls, _bodies(past, policy), strict=True):
        profile = other.profile if other else profile_for(wire.model, wire.provider)
        key = (profile.provider, profile.name)
        if key not in caches:
            caches[key] = _Cache(profile, tokens.cache(profile))
        cache = caches[key]
        same = tokens.measure is None and (was.head_id, was.fragments) == (wire.head_id, wire.fragments)
        yield from cache.pings(wire.at, policy.pings)
        yield cache.call(replace(wire, marks=marks_for(policy, wire, profile)), same=same)


def _bodies(past: Past, policy: Policy) -> Sequence[Wire]:
    if policy.other is not None:
        return transcoded(past.calls, policy.other.profile, policy.other.codec)
    if policy.delta is not None:
        return told_at_the_tail(past, policy.delta)
    return rewritten(past) if policy.rewrites else past.calls


@dataclass(slots=True)
class _Cache:
    """The cache of one model of one provider while a session is played."""

    profile: ModelProfile
    forecaster: Forecaster
    last: Wire | None = None

    def call(self, wire: Wire, *, same: bool, ping: bool = False) -> Answer:
        """One call; `same`: its bytes are those that were sent, so that its tokens were counted."""
        forecaster = self.forecaster
        found = forecaster.predict(wire, wire.usage.input if same else 0)
        total = found.read + found.write + found.uncached
        if same and wire.usage.input:
            total = wire.usage.input
        read = min(found.read, total)
        write = min(found.write, total - read)
        usage = Usage(
            total,
            read,
            write if forecaster.rules.by_marks else 0,
            wire.usage.output,
            cache_write_long=min(self._long(wire, read), write),
        )
        wire = replace(wire, usage=usage)
        forecaster.settle(wire)
        if not wire.aside:
            self.last = wire
        return Answer(wire, Rates.of(self.profile).cost(Tokens.of(usage)), found.expected, ping)

    def _long(self, wire: Wire, read: int) -> int:
        """Tokens that are written for a lifetime longer than the usual one."""
        rules, written, long = self.profile.cache, read, 0
        if rules.kind != "marks" or not rules.ttls:
            return 0
        usual = rules.ttls[0].seconds or 0
        for mark, seconds in self.forecaster.marks(wire):
            tokens = self.forecaster.tokens(mark)
            if tokens >= (rules.minimum_tokens or 0) and tokens > written:
                long += tokens - written if seconds > usual else 0
                written = tokens
        return long

    def pings(self, until: float, most: int) -> Iterator[Answer]:
        """The last request again, each time shortly before the cache would let go of it."""
        last, rules = self.last, self.profile.cache
        if not most or last is None or not rules.ttls or not rules.ttls[0].seconds:
            return
        every = rules.ttls[0].seconds - MARGIN
        for number in range(1, most + 1):
            at = last.at + number * every
            if at >= until:
                return
            usage = replace(last.usage, output=0)
            yield self.call(replace(last, at=at, usage=usage, aside=True), same=True, ping=True)


def compare(pasts: Iterable[Past], ways: Sequence[Policy], profile_for: ProfileFor) -> tuple[Outcome, ...]:
    """What the provider reported, then each policy, over all sessions."""
    totals = [Outcome(Policy("as reported")), *(Outcome(policy) for policy in ways)]
    for past in pasts:
        tokens = Counting.learned(past, profile_for)
        found = [reported(past, profile_for), *(simulate(past, w, profile_for, tokens) for w in ways)]
        totals = [a.plus(b) for a, b in zip(totals, found, strict=True)]
    return tuple(totals)


# -- what to do -------------------------------------------------------------------------------------------


@frozen
class Advice:
    """What to set, if anything, and the arithmetic in words. `saved` in dollars over these sessions."""

    policy: str
    set: str
    saved: float | None
    arithmetic: tuple[str, ...]


def advise(outcomes: Sequence[Outcome], pasts: Sequence[Past], profile: ModelProfile) -> Advice:
    """The cheapest way that can be set, against what was sent."""
    base = next(o for o in outcomes if o.policy == AS_SENT)
    choices = [o for o in outcomes if o.known and o.cost is not None and o.policy.set]
    lines = _lifetimes(outcomes, pasts, profile)
    if not base.known or base.cost is None or not choices:
        why = "this cache leaves nothing to set"
        if not base.known or base.cost is None:
            why = "no prices are known" if base.known else "the rules of this cache are not known"
        return Advice("", "", None, (f"nothing is recommended: {why}", *lines))
    best = min(choices, key=lambda o: (o.cost or 0.0, o.pings))
    saved = base.cost - (best.cost or 0.0)
    if saved <= 0.001 * base.cost:
        return Advice(AS_SENT.name, "", 0.0, ("what was sent is as cheap as any of these", *lines))
    told = (
        f"{best.policy.name} costs {dollars(best.cost)} in place of {dollars(base.cost)}: "
        f"{dollars(saved)} less, {100 * saved / base.cost:.0f} %"
    )
    return Advice(best.policy.name, best.policy.set, saved, (told, *lines))


def pauses(pasts: Iterable[Past], over: float, to: float = float("inf")) -> int:
    """How many times between two calls more than `over` seconds passed, and no more than `to`."""
    gaps = (b.at - a.at for past in pasts for a, b in zip(past.calls, past.calls[1:], strict=False))
    return sum(over < gap <= to for gap in gaps)


def _lifetimes(outcomes: Sequence[Outcome], pasts: Sequence[Past], profile: ModelProfile) -> tuple[str, ...]:
    """The break-even of the longer lifetime, and of keeping the cache warm, in words."""
    rules, rates = profile.cache, Rates.of(profile)
    if rules.kind != "marks" or not rules.ttls or rates.write is None or rates.read is None:
        return ()
    usual, long = rules.ttls[0], rules.ttls[-1]
    named = {o.policy.name: o for o in outcomes}
    lines = []
    lasting = named.get(f"all marks, {long.name}")
    if lasting and long != usual and rates.write_long is not None and lasting.calls:
        size = lasting.tokens.input / lasting.calls
        extra = lasting.tokens.write_long * (rates.write_long - rates.write) / MILLION
        saves = size * (rates.write - rates.read) / MILLION
        there = pauses(pasts, usual.seconds or 0, long.seconds or 0)
        least = f"{extra / saves:.1f}" if saves > 0 else "no number of"
        lines.append(
            f"break-even of {long.name}: it costs {dollars(extra)} more to write and saves about "
            f"{dollars(saves)} for each pause between {usual.name} and {long.name}: it pays from {least} "
            f"such pauses on, and there were {there}"
        )
    if usual.seconds and (most := pings_that_pay(profile)):
        minutes = most * (usual.seconds - MARGIN) / 60
        lines.append(
            f"break-even of keep-warm: a ping costs {rates.read / rates.write:.2f} of a miss; {most} of them "
            f"cost what they save, so that a pause of up to {minutes:.0f} minutes can pay"
        )
    return tuple(lines)
