"""Keeps a conversation that rests in its provider's cache, while that costs less than it saves.

The last request is sent again shortly before the cache would let go of it, with the least that the model may
write. The provider's own count tells whether it came from the cache; when it did not, no more is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from hermes.agent.aside import ask_aside
from hermes.agent.session import Session
from hermes.config.records import CacheConfig
from hermes.contracts import CacheTtl, Model, ModelProfile
from hermes.errors import ModelError
from hermes.provenance import Notice, Origin
from hermes.sessions.contract import Store
from hermes.wire.economics import MARGIN, Rates, cost, dollars
from hermes.wire.request import moment_of

ENOUGH = 5
"""So many pauses longer than the cache's lifetime tell how long this person pauses."""
VERIFIED = 0.9
"""The part of the prefix that must have come from the cache for a ping to have kept it."""
SESSIONS = 20
"""So many sessions are looked at for pauses."""


@dataclass(slots=True)
class KeepWarm:
    """The keeping of one conversation. `pauses` are those of earlier calls, in seconds.

    `stopped` says why nothing more is sent, "" while it may be.
    """

    settings: CacheConfig
    pauses: Sequence[float] = ()
    stopped: str = ""
    pings: int = 0
    _real: int = -1  # calls of the session that were no pings
    _kept: int = 0  # tokens that the last real call left in the cache
    _made: int = 0
    _session: str = ""
    spent: float = 0.0

    def delay(self, session: Session | None, profile: ModelProfile, now: datetime) -> float | None:
        """Seconds until the next ping; None when there is to be none."""
        if not self.settings.keep_warm or session is None or not session.used_at or not session.answered[1]:
            return None
        if (session.record.provider, session.record.model) != (profile.provider, profile.name):
            return None  # another model is to go on, which has nothing cached
        if session.record.id != self._session:
            self._session, self._made, self._real, self.stopped = session.record.id, 0, -1, ""
        if session.calls - self._made != self._real:  # the person spoke since
            self._real, self.pings = session.calls - self._made, 0
            self._kept = session.last.cache_read + session.last.cache_write
        ttl = self._lifetime(profile)
        if self.stopped or ttl is None or self.pings >= self.most(profile):
            return None
        rest = moment_of(session.used_at) + (ttl.seconds or 0) - now.timestamp()
        return max(rest - MARGIN, 0.0) if rest > 0 else None  # what is gone already would be written anew

    def most(self, profile: ModelProfile) -> int:
        """How many pings in a row pay: as many as cost what one miss costs, fewer where pauses tell so."""
        ttl, rates = self._lifetime(profile), Rates.of(profile)
        if ttl is None or not ttl.seconds or not rates.read or rates.uncached is None or not self._kept:
            return 0
        saves = rates.uncached * ttl.write - rates.read
        limit = max(int(saves / rates.read), 0)
        long = [pause for pause in self.pauses if pause > ttl.seconds]
        if len(long) < ENOUGH:
            return limit
        every = ttl.seconds - MARGIN
        gains = [_gain(k, long, every, ttl.seconds, saves, rates.read) for k in range(limit + 1)]
        return gains.index(max(gains))

    def _lifetime(self, profile: ModelProfile) -> CacheTtl | None:
        """The lifetime with which messages are marked; None where the provider promises none."""
        rules = profile.cache
        if not (rules.kind == "marks" or rules.max_marks) or not rules.ttls:
            return None
        found = next((ttl for ttl in rules.ttls if ttl.name == self.settings.ttl), rules.ttls[0])
        return found if found.seconds else None

    async def ping(self, session: Session, model: Model) -> tuple[Notice, ...]:
        """Send the last request again; a word when it did not come from the cache, or failed."""
        self.pings += 1
        profile = model.profile
        again = session.aside(session.answered, (), model.codec, profile, profile.cache.ping)
        try:
            usage = (await ask_aside(session, model, again)).usage
        except ModelError as error:
            return self._stop(f"the provider refused: {error}")
        self._made += 1
        price = cost(usage, profile)
        self.spent += price or 0.0
        notices = await session.keep()
        if usage.cache_read >= VERIFIED * self._kept:
            return notices
        paid = f", for {dollars(price)}" if price is not None else ""
        return (
            *notices,
            *self._stop(f"only {usage.cache_read:,} of {self._kept:,} tokens came from the cache{paid}"),
        )

    def _stop(self, why: str) -> tuple[Notice, ...]:
        self.stopped = why
        text = f"the conversation is no longer kept in the cache while it rests: {why}"
        return (Notice("warning", text, Origin("cache")),)


def _gain(pings: int, long: Sequence[float], every: float, ttl: float, saves: float, read: float) -> float:
    """What so many pings at most would have gained over these pauses, per token of the prefix."""
    return (
        sum(saves * (pause <= ttl + pings * every) - read * min(pings, int(pause // every)) for pause in long)
        if pings
        else 0.0
    )


async def recent_pauses(store: Store) -> tuple[float, ...]:
    """The pauses between the calls of the last sessions, in seconds."""
    found: list[float] = []
    for summary in await store.list(limit=SESSIONS):
        times = [moment_of(c.started) for c in await store.calls(summary.id) if c.stop != "aside"]
        found += [b - a for a, b in pairwise(times)]
    return tuple(found)
