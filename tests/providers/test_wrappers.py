"""Trying again, and letting another model answer."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from hermes.contracts import Model, ModelProfile
from hermes.errors import ModelError
from hermes.messages import Completed, Message, ModelEvent, ModelRequest, Restarted, TextDelta
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.scripted import ScriptedModel, Step
from hermes.providers.wrappers import Fallback, Retrying, RetryPolicy
from tests.providers.loopback import Clock
from tests.providers.talks import CLAUDE, request


def failing(kind: str, *, text: str = "", retry_after: float | None = None) -> Step:
    return Step(text, error=ModelError(f"it is {kind}", kind=kind, retry_after=retry_after))


class Patience:
    """Time that passes only by waiting."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock.now += seconds

    def wrap(self, model: Model, **policy: float) -> Retrying:
        return Retrying(model, RetryPolicy(**policy), sleep=self.sleep, clock=self.clock, jitter=lambda: 1.0)


def heard(model: Model, asked: ModelRequest | None = None) -> list[ModelEvent]:
    async def run() -> list[ModelEvent]:
        async with aclosing(model.stream(asked or request())) as events:
            return [event async for event in events]

    return asyncio.run(run())


def said(events: list[ModelEvent]) -> str:
    """The answer as a screen would have it: what came before a restart is void."""
    text = ""
    for event in events:
        text = (
            ""
            if isinstance(event, Restarted)
            else text + (event.text if isinstance(event, TextDelta) else "")
        )
    return text


def test_it_tries_again_and_says_so() -> None:
    patience = Patience()
    model = ScriptedModel([failing("overloaded"), failing("network", text="half an ans"), "whole"])
    events = heard(patience.wrap(model))
    assert [e for e in events if isinstance(e, Restarted)] == [
        Restarted("it is overloaded", 0.5),
        Restarted("it is network", 1.0),
    ]
    assert said(events) == "whole"
    assert isinstance(events[-1], Completed)
    assert patience.waits == [0.5, 1.0]
    assert len(set(model.bodies)) == 1


@pytest.mark.parametrize("kind", ["auth", "context", "request", "other"])
def test_what_waiting_does_not_mend_fails_at_once(kind: str) -> None:
    patience = Patience()
    with pytest.raises(ModelError, match=kind):
        heard(patience.wrap(ScriptedModel([failing(kind), "never"])))
    assert patience.waits == []


def test_it_waits_as_long_as_it_is_asked_to() -> None:
    patience = Patience()
    heard(patience.wrap(ScriptedModel([failing("rate", retry_after=42.0), "ok"])))
    assert patience.waits == [42.0]


def test_patience_is_time_and_ends() -> None:
    patience = Patience()
    model = patience.wrap(ScriptedModel([failing("overloaded")] * 99), patience=100.0)
    with pytest.raises(ModelError, match="overloaded"):
        heard(model)
    assert patience.waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    patience = Patience()
    with pytest.raises(ModelError, match="rate"):
        heard(patience.wrap(ScriptedModel([failing("rate", retry_after=3600.0)])))
    assert patience.waits == []


def test_jitter_spreads_the_waits() -> None:
    policy = RetryPolicy()
    assert [policy.wait(2, jitter, None) for jitter in (0.0, 0.5, 1.0)] == [0.5, 0.75, 1.0]
    assert policy.wait(10_000, 1.0, None) == policy.longest


def test_another_model_takes_over_and_stays() -> None:
    first = ScriptedModel([failing("auth"), "never"])
    second = ScriptedModel(["from the second", "again"], profile=CLAUDE, codec=AnthropicMessages())
    model = Fallback([first, second])
    assert (model.codec.name, model.profile) == ("openai-chat/1", first.profile)
    fragments = first.codec.fragments(request().messages, first.profile)
    events = heard(model, request(fragments=fragments))
    assert events[0] == Restarted(
        "it is auth. anthropic:claude-sonnet-4-5 takes over.", model="anthropic:claude-sonnet-4-5"
    )
    assert said(events) == "from the second"
    assert (model.codec.name, model.profile) == ("anthropic-messages/1", CLAUDE)
    asked = second.requests[0]
    assert (asked.model, asked.fragments, asked.epoch) == (
        "claude-sonnet-4-5",
        (),
        "anthropic:claude-sonnet-4-5 took over",
    )
    assert said(heard(model)) == "again"


@pytest.mark.parametrize("kind", ["context", "request"])
def test_what_is_wrong_everywhere_is_not_tried_elsewhere(kind: str) -> None:
    second = ScriptedModel(["never"])
    with pytest.raises(ModelError, match=kind):
        heard(Fallback([ScriptedModel([failing(kind)]), second]))
    assert second.requests == []


def test_when_the_last_fails_too_its_failure_is_told() -> None:
    with pytest.raises(ModelError, match="rate"):
        heard(Fallback([ScriptedModel([failing("auth")]), ScriptedModel([failing("rate")])]))


def test_after_all_have_failed_the_first_is_asked_again() -> None:
    first, second = ScriptedModel([failing("network"), "back"]), ScriptedModel([failing("network")])
    model = Fallback([first, second])
    with pytest.raises(ModelError, match="network"):
        heard(model)
    assert model.model is first
    assert said(heard(model)) == "back"


def test_wrappers_close_what_they_wrap_and_streams_that_are_left() -> None:
    first, second = ScriptedModel([]), ScriptedModel([])
    asyncio.run(Fallback([Retrying(first), second]).close())
    assert (first.closed, second.closed) == (True, True)


def test_leaving_in_the_middle_ends_the_call_below() -> None:
    left: list[str] = []

    class Watched(ScriptedModel):
        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            try:
                async for event in super().stream(request):
                    yield event
            finally:
                left.append(request.model)

    async def run() -> None:
        async with aclosing(
            Fallback([Retrying(Watched(["a long answer " * 9]))]).stream(request())
        ) as events:
            await anext(events)

    asyncio.run(run())
    assert left == ["m-1"]


def test_a_fallback_needs_a_model() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Fallback([])


def test_profiles_without_a_provider_have_their_bare_name() -> None:
    other = ScriptedModel(["x"], profile=ModelProfile(name="bare"))
    events = heard(Fallback([ScriptedModel([failing("auth")]), other]), request((Message("user", "u"),)))
    assert isinstance(events[0], Restarted)
    assert events[0].model == "bare"
