"""Money: classes of tokens, dated prices, and what is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.contracts import CacheRules, CacheTtl, ModelProfile, Prices
from hermes.messages import Usage
from hermes.providers.profiles import profile_for
from hermes.sessions.records import CallRecord
from hermes.wire.economics import (
    Bill,
    Rates,
    Tokens,
    bill,
    bills,
    cost,
    dollars,
    first_that_pays,
    price_source,
)

CLAUDE = profile_for("claude-sonnet-4-5", "anthropic")
NOBODY = profile_for("nobody-knows-me", "somewhere")
COUNTS = st.integers(0, 10**7)
USAGES = st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)


@given(st.lists(USAGES, max_size=8))
def test_the_classes_of_any_session_sum_to_what_was_reported(usages: list[Usage]) -> None:
    """Also where a provider reports more cached tokens than there were."""
    total = Tokens()
    for usage in usages:
        classes = Tokens.of(usage)
        assert min(classes) >= 0
        assert (classes.input, classes.output) == (usage.input, usage.output)
        total = total.plus(classes)
    assert total.input == sum(u.input for u in usages)
    assert total.output == sum(u.output for u in usages)


def test_every_class_has_its_price() -> None:
    usage = Usage(input=1_000, cache_read=500, cache_write=300, output=100, cache_write_long=200)
    assert Tokens.of(usage) == Tokens(200, 500, 100, 200, 100)
    assert Rates.of(CLAUDE) == Rates(3.0, 0.3, 3.75, 6.0, 15.0)
    expected = (200 * 3.0 + 500 * 0.3 + 100 * 3.75 + 200 * 6.0 + 100 * 15.0) / 1e6
    assert cost(usage, CLAUDE) == pytest.approx(expected)


def test_where_writing_is_free_it_costs_what_reading_does() -> None:
    rates = Rates.of(profile_for("gpt-4o", "openai"))
    assert rates == Rates(2.5, 1.25, 2.5, 2.5, 10.0)


def test_what_is_not_known_is_not_guessed() -> None:
    usage = Usage(input=1_000, output=10)
    assert cost(usage, NOBODY) is None
    plain = ModelProfile("m", prices=Prices(input=1.0, output=2.0))
    assert cost(usage, plain) == pytest.approx(1_020 / 1e6)
    assert cost(replace(usage, cache_read=100), plain) is None, "what a hit costs there is not known"
    marks = CacheRules("marks", ttls=(CacheTtl("5m", 1.25, 300),), read=0.1)
    told = ModelProfile("m", prices=Prices(input=1.0, output=2.0), cache=marks)
    assert Rates.of(told) == Rates(1.0, 0.1, 1.25, 1.25, 2.0)
    assert price_source(NOBODY) == ""
    assert dollars(None) == "unknown"


def test_prices_have_a_source_and_a_day() -> None:
    assert price_source(CLAUDE).startswith("genai-prices ")
    assert ", as of 20" in price_source(CLAUDE)
    own = profile_for("claude-sonnet-4-5", "anthropic", {"sonnet": {"prices": {"input": 1.0}}})
    assert price_source(own).startswith("models.sonnet of config.yaml")
    assert Rates.of(own).uncached == 1.0


def test_bills_by_any_key() -> None:
    def call(n: int, model: str, day: str) -> CallRecord:
        return CallRecord(n, 0, f"{day}T10:00:00", "", "", 0, "", 0, Usage(1_000_000, output=0), model=model)

    profiles = {"claude": CLAUDE, "nobody": NOBODY}
    calls = [
        call(1, "claude", "2026-03-01"),
        call(2, "nobody", "2026-03-01"),
        call(3, "claude", "2026-03-02"),
    ]
    one = Usage(1_000_000)
    assert bill(calls, profiles.__getitem__) == Bill(3, Usage(3_000_000), 6.0, 6.0, unpriced=1)
    assert bills(calls, profiles.__getitem__, lambda c: c.started[:10]) == {
        "2026-03-01": Bill(2, Usage(2_000_000), 3.0, 3.0, unpriced=1),
        "2026-03-02": Bill(1, one, 3.0, 3.0),
    }


@given(st.floats(0.1, 50), st.floats(0, 0.99), st.floats(1, 4))
def test_break_even_is_the_first_call_that_is_cheaper(plain: float, hit: float, times: float) -> None:
    rates = Rates(plain, plain * hit, None, None, None)
    call = first_that_pays(rates, plain * times)
    assert call is not None

    def cached(calls: int) -> float:
        return plain * times + (calls - 1) * plain * hit

    assert cached(call) <= call * plain * (1 + 1e-9)
    if call > 1:
        assert cached(call - 1) >= (call - 1) * plain * (1 - 1e-9)


def test_what_never_pays() -> None:
    assert first_that_pays(Rates(1.0, 1.0), 1.25) is None
    assert first_that_pays(Rates(1.0, None), 1.25) is None
    assert first_that_pays(Rates(1.0, 0.1), 1.25) == 2
    assert first_that_pays(Rates(1.0, 0.1), 2.0) == 3
