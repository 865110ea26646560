"""What a conversation has cost: the usage that the provider reported, at the prices that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hermes.contracts import CacheRules, ModelProfile
from hermes.messages import Usage
from hermes.providers.profiles import profile_for
from hermes.run_agent import AIAgent
from hermes.sessions.records import CallRecord


@dataclass(frozen=True, slots=True)
class Bill:
    """Calls and what they cost, in dollars, `without` a cache too; `None` where no price is known."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    spent: float | None = None
    without: float | None = None


def bill(calls: Iterable[CallRecord], profile_of: Callable[[str], ModelProfile]) -> Bill:
    """The bill for calls of any models. `profile_of` gives the profile of a model by its name."""
    total = Bill()
    for call in calls:
        total = added(total, call.usage, profile_of(call.model))
    return total


def added(total: Bill, usage: Usage, profile: ModelProfile) -> Bill:
    """The bill with one more call."""
    spent, without = cost(usage, profile), cost(Usage(input=usage.input, output=usage.output), profile)
    return Bill(
        total.calls + 1, total.usage.plus(usage), _sum(total.spent, spent), _sum(total.without, without)
    )


def cost(usage: Usage, profile: ModelProfile) -> float | None:
    """Dollars for so many tokens of a model; `None` when its prices are not known."""
    prices, rules = profile.prices, profile.cache
    if prices.input is None or prices.output is None:
        return None
    hit = prices.input * (1.0 if rules.read is None else rules.read)
    hit = hit if prices.cache_read is None else prices.cache_read
    first, long = _writes(rules)
    write = prices.input * first if prices.cache_write is None else prices.cache_write
    plain = usage.input - usage.cache_read - usage.cache_write
    return (
        plain * prices.input
        + usage.cache_read * hit
        + (usage.cache_write - usage.cache_write_long) * write
        + usage.cache_write_long * prices.input * long
        + usage.output * prices.output
    ) / 1e6


def dollars(amount: float) -> str:
    """An amount for people: cents with two more places while it is small."""
    return f"${amount:.4f}" if amount < 1 else f"${amount:,.2f}"


def _writes(rules: CacheRules) -> tuple[float, float]:
    """What writing costs for the first and for the longest lifetime, as multiples of plain input."""
    if not rules.ttls:
        return 1.0, 1.0
    return rules.ttls[0].write, max(ttl.write for ttl in rules.ttls)


def _sum(total: float | None, more: float | None) -> float | None:
    return total if more is None else (total or 0.0) + more


class Spending:
    """What the session of an agent has cost so far, kept up to date while it talks."""

    def __init__(self, agent: AIAgent) -> None:
        self._agent = agent
        self._session = ""
        self._seen = Usage()
        self._calls = 0
        self.bill = Bill()

    async def look(self) -> None:
        """Read the calls of the session from the store, when it is another than the last time."""
        agent = self._agent
        if not agent.session_id:
            self._session, self._seen, self._calls, self.bill = "", Usage(), 0, Bill()
        elif agent.session_id != self._session and (session := await agent.look()):
            self._session, self._seen, self._calls = agent.session_id, session.usage, session.calls
            self.bill = bill(await agent.store.calls(agent.session_id), profiles(agent))

    def see(self) -> None:
        """Add the calls that were made since."""
        session = self._agent.session
        if session is None or (session.calls == self._calls and session.record.id == self._session):
            return
        if session.record.id != self._session:
            self._session, self._seen, self._calls, self.bill = session.record.id, Usage(), 0, Bill()
        new = Usage(*(getattr(session.usage, n) - getattr(self._seen, n) for n in Usage.__dataclass_fields__))
        if session.calls > self._calls:
            self.bill = added(self.bill, new, self._agent.model.profile)
        self._seen, self._calls = session.usage, session.calls


def profiles(agent: AIAgent) -> Callable[[str], ModelProfile]:
    """The profiles of the models that answered in a session of this agent, by their names."""
    present = agent.model.profile

    def profile_of(name: str) -> ModelProfile:
        if name in ("", present.name):
            return present
        return profile_for(name, present.provider, agent.sources.config.models)

    return profile_of
