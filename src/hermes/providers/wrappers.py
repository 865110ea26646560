"""Models that wrap models: try again, or let another one answer."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from hermes.contracts import Codec, Model, ModelProfile
from hermes.errors import ModelError
from hermes.frozen import frozen
from hermes.messages import ModelEvent, ModelRequest, Restarted

PASSING = frozenset({"network", "overloaded", "rate"})
"""Kinds of failures that waiting may mend."""

ITS_OWN = PASSING | {"auth", "other"}
"""Kinds of failures that another provider may not have."""


@frozen
class RetryPolicy:
    """How long to keep trying, in seconds: `patience` in all, waits from `first`, doubling, to `longest`.

    A server that cannot be reached at all is given up sooner, after `unreachable`.
    """

    patience: float = 180.0
    unreachable: float = 20.0
    first: float = 0.5
    longest: float = 30.0

    def wait(self, tries: int, jitter: float, asked: float | None) -> float:
        """The wait after so many failed tries; `jitter` is from 0 to 1, `asked` what the provider wants."""
        backoff = min(self.first * (1 << min(tries - 1, 16)), self.longest)
        return max(backoff * (0.5 + jitter / 2), asked or 0.0)


class Retrying:
    """A model that is called again while its failures pass and patience lasts; each time is told of.

    The bytes are the same each time, so what a failed call wrote to the provider's cache is of use.
    """

    def __init__(
        self,
        model: Model,
        policy: RetryPolicy = RetryPolicy(),  # noqa: B008 - it is a value
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.model = model
        self.policy = policy
        self._sleep = sleep
        self._clock = clock
        self._jitter = jitter

    @property
    def profile(self) -> ModelProfile:
        return self.model.profile

    @property
    def codec(self) -> Codec:
        return self.model.codec

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        begun, tries = self._clock(), 0
        while True:
            try:
                async with aclosing(self.model.stream(request)) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                tries += 1
                wait = self.policy.wait(tries, self._jitter(), error.retry_after)
                patience = self.policy.unreachable if error.kind == "network" else self.policy.patience
                left = begun + patience - self._clock()
                if error.kind not in PASSING or wait > left:
                    raise
                reason = str(error)
            yield Restarted(reason, wait)
            await self._sleep(wait)

    async def close(self) -> None:
        await self.model.close()


class Fallback:
    """Several models in order: when one cannot answer, the next takes over and stays. When none can, the next
    call begins with the first again: it is the one that is wanted, and its cache may still hold the prompt.

    The next one is another provider or model: what was serialised for the one before it is not used, its
    cache holds nothing, and an epoch ends. `Restarted.model` says so.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise ValueError("a fallback needs at least one model")
        self.models = tuple(models)
        self._at = 0

    @property
    def model(self) -> Model:
        """The model that answers now."""
        return self.models[self._at]

    @property
    def profile(self) -> ModelProfile:
        return self.model.profile

    @property
    def codec(self) -> Codec:
        return self.model.codec

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        while True:
            try:
                async with aclosing(self.model.stream(request)) as events:
                    async for event in events:
                        yield event
                return
            except ModelError as error:
                if error.kind not in ITS_OWN:
                    raise
                if self._at + 1 == len(self.models):
                    self._at = 0
                    raise
                reason = str(error)
            self._at += 1
            profile = self.profile
            name = f"{profile.provider}:{profile.name}" if profile.provider else profile.name
            request = replace(request, model=profile.name, fragments=(), epoch=f"{name} took over")
            yield Restarted(f"{reason}. {name} takes over.", model=name)

    async def close(self) -> None:
        for model in self.models:
            await model.close()
