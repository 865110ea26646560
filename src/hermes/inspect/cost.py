"""What every section of a prompt costs: in the first call, in each that finds it cached, over many."""

from __future__ import annotations

from collections.abc import Sequence

from hermes.contracts import ModelProfile
from hermes.frozen import frozen
from hermes.messages import ToolSpec
from hermes.prompt import SystemPrompt
from hermes.providers.tokens import count_each, counting_method
from hermes.wire.economics import MILLION, Rates, first_that_pays, price_source

TOOLS = "tool list"


@frozen
class Row:
    """One section. Dollars: `first` when it is written to the cache, `cached` for each call that reads it,
    `total` for all calls, `plain` for all without a cache, `change` for what is written again, with all that
    stands behind it, when it changes in mid-session. `None` where a price is not known.
    """

    tier: str
    section: str
    tokens: int
    first: float | None = None
    cached: float | None = None
    total: float | None = None
    plain: float | None = None
    change: float | None = None


@frozen
class PromptCost:
    """A prompt with its tools as a bill over so many `calls` that come in time for the cache.

    `pays_from` says for each lifetime from which call on caching is cheaper than not, `None` for never.
    `reached`: the prompt alone is long enough to be cached; `minimum` is what that takes, `None` if unknown.
    """

    model: str
    calls: int
    rows: tuple[Row, ...]
    total: Row
    rates: Rates
    prices: str
    method: str
    kind: str
    minimum: int | None
    reached: bool
    pays_from: tuple[tuple[str, int | None], ...]


def prompt_cost(
    prompt: SystemPrompt, tools: Sequence[ToolSpec], profile: ModelProfile, calls: int = 100
) -> PromptCost:
    """The bill of a prompt."""
    listed = "\n".join(f"{t.name} {t.description} {t.parameters}" for t in tools)
    parts = [("tools", TOOLS, listed)] if listed else []
    parts += [(s.tier.value, s.slot, s.text) for s in prompt.sections if s.text]
    sizes = [count.tokens for count in count_each([text for *_, text in parts], profile)]
    rules, rates = profile.cache, Rates.of(profile)
    whole = sum(sizes)
    reached = rules.minimum_tokens is not None and whole >= rules.minimum_tokens
    used = rates if rules.kind == "unknown" or (reached and rules.kind != "none") else _uncached(rates)
    rows, behind = [], whole
    for (tier, slot, _), tokens in zip(parts, sizes, strict=True):
        rows.append(_row(tier, slot, tokens, behind, used, calls))
        behind -= tokens
    return PromptCost(
        profile.name,
        calls,
        tuple(rows),
        _row("", "total", whole, whole, used, calls),
        rates,
        price_source(profile),
        counting_method(profile),
        rules.kind,
        rules.minimum_tokens,
        reached,
        tuple(
            (ttl.name, first_that_pays(rates, rates.uncached and rates.uncached * ttl.write))
            for ttl in rules.ttls
        ),
    )


def _uncached(rates: Rates) -> Rates:
    """What is paid where nothing is cached."""
    return rates._replace(read=rates.uncached, write=rates.uncached, write_long=rates.uncached)


def _row(tier: str, slot: str, tokens: int, behind: int, rates: Rates, calls: int) -> Row:
    first, cached = _price(tokens, rates.write), _price(tokens, rates.read)
    again, read = _price(behind, rates.write), _price(behind, rates.read)
    plain = _price(tokens, rates.uncached)
    return Row(
        tier,
        slot,
        tokens,
        first,
        cached,
        None if first is None or cached is None else first + (calls - 1) * cached,
        None if plain is None else calls * plain,
        None if again is None or read is None else again - read,
    )


def _price(tokens: int, rate: float | None) -> float | None:
    return None if rate is None else tokens * rate / MILLION
