"""What an action costs that ends an epoch, told before it is done; what it is to wait for, staged."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Literal

from hermes.agent.session import Session
from hermes.config.records import CompactionConfig
from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.provenance import Notice, Origin
from hermes.sessions.contract import Store
from hermes.turns import Ask, Question
from hermes.wire.economics import MILLION, Rates, dollars

Choice = Literal["now", "later", "no"]
What = Literal["model", "tools", "refresh"]

BOUNDARIES = ("refresh", "compaction")
"""Reasons of epochs at which everything is read anew anyway."""
_CHOICES: dict[str, Choice] = {"now": "now", "at the next boundary": "later", "not at all": "no"}
_SAID: dict[str, Choice] = {"now": "now", "yes": "now", "later": "later"}


@frozen
class Price:
    """Tokens that are read anew though they are cached now, and what that adds in US dollars, if known.

    `expired`: nothing of it is cached any more, so that it adds nothing.
    """

    tokens: int = 0
    cost: float | None = 0.0
    expired: bool = False

    def __str__(self) -> str:
        if not self.tokens:
            return "nothing is cached yet, so it costs nothing more"
        if self.expired:
            return f"its {self.tokens:,} tokens are no longer cached, so it costs nothing more"
        money = (
            "no prices are known" if self.cost is None else f"{dollars(self.cost)} more than from the cache"
        )
        return f"about {self.tokens:,} tokens that are cached now are read anew: {money}"


def price_of(
    session: Session | None, cached: ModelProfile, now: datetime, after: ModelProfile | None = None
) -> Price:
    """What it costs when nothing of a session comes from a model's cache any more.

    With `after` it is another model that reads it then.
    """
    if session is None or not session.last_input:
        return Price()
    tokens, rates = session.last_input, Rates.of(after or cached)
    ttl = max((t.seconds or 0 for t in cached.cache.ttls), default=0)
    if session.used_at and ttl and (now - datetime.fromisoformat(session.used_at)).total_seconds() > ttl:
        return Price(tokens, 0.0, expired=True)
    anew, read = rates.write, Rates.of(cached).read
    cost = None if anew is None or read is None else tokens * (anew - read) / MILLION
    return Price(tokens, cost)


async def decide(
    policy: str, action: str, command: str, price: Price, said: str, ask: Ask
) -> tuple[Choice, str]:
    """Whether an action is to be done now, at the next boundary, or not yet; and what is to be told.

    `policy` is `cache.guard`, `said` what the person has already chosen, `command` how that is said.
    """
    if chosen := _SAID.get(said):
        return chosen, ""
    told = f"{action}: {price}."
    if policy == "allow" or not price.tokens or price.expired:
        return "now", told
    if policy == "stage":
        return "later", told
    if policy == "ask":
        answer = await ask(Question("clarify", f"{told} When?", tuple(_CHOICES)))
        if answer in _CHOICES:
            return _CHOICES[answer], "Nothing was done." if _CHOICES[answer] == "no" else ""
    return "no", f"{told} Say {command} now to do it all the same, or {command} later for the next boundary."


# -- staged -----------------------------------------------------------------------------------------------


@frozen
class Staged:
    """Something that waits for the next boundary: `epoch` is the one in which it was said, `at` when."""

    what: What
    name: str
    epoch: int
    at: str

    def __str__(self) -> str:
        if self.what == "refresh":
            return "a new prompt"
        return f"the model {self.name}" if self.what == "model" else f"the tools {self.name}"


def staged(state: str) -> tuple[Staged, ...]:
    """What waits in a session, by its stored state."""
    return tuple(Staged(**entry) for entry in json.loads(state).get("staged", ()))


def stage(session: Session, what: What, name: str = "") -> Staged:
    """Have something wait for the next boundary, in place of what waited of its kind."""
    entry = Staged(what, name, session.record.epoch, session.clock().isoformat(timespec="seconds"))
    others = [s for s in staged(session.record.state) if s.what != what]
    _put(session, (*others, entry))
    return entry


def unstage(session: Session, what: What) -> None:
    """Nothing of this kind waits any more."""
    known = staged(session.record.state)
    if any(s.what == what for s in known):
        _put(session, tuple(s for s in known if s.what != what))


def _put(session: Session, entries: tuple[Staged, ...]) -> None:
    session.remember(staged=[asdict(entry) for entry in entries])


async def landed(session: Session, store: Store) -> tuple[Staged, ...]:
    """What waited for a boundary that has come since; it waits no longer."""
    known = staged(session.record.state)
    if not known:
        return ()
    epochs = await store.epochs(session.record.id)
    last = max((e.n for e in epochs if e.reason in BOUNDARIES), default=-1)
    found = tuple(s for s in known if s.epoch < last)
    if found:
        _put(session, tuple(s for s in known if s not in found))
    return found


def when(used: int, profile: ModelProfile, compaction: CompactionConfig) -> str:
    """When the next boundary comes, in words; `used` are the tokens of the conversation so far."""
    words = "with /refresh, /compress or /new"
    if not profile.context_window:
        return words
    limit = int(profile.context_window * compaction.threshold)
    return (
        f"{words}, or by itself when the conversation is summarised, at about {limit:,} tokens ({used:,} now)"
    )


def taking_over(session: Session, profile: ModelProfile, known: ModelProfile) -> tuple[Notice, ...]:
    """A word before another model than the last reads a session; `known` is what is known of the last."""
    record = session.record
    if not session.last_input or (record.provider, record.model) == (profile.provider, profile.name):
        return ()
    price = price_of(session, known, session.clock(), profile)
    return (Notice("info", f"{profile.name} takes over from {record.model}: {price}", Origin("cache")),)
