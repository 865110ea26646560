"""The real engine with the real model, in a small window. What it says is never looked at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from hermes.messages import Completed, Message, ModelRequest, PromptRead, Usage
from hermes.paths import Home
from hermes.providers.endpoints import Endpoint
from hermes.providers.local.engine import Engine, Settings
from hermes.providers.local.model import LocalModel
from hermes.providers.local.weights import EMBEDDED, embedded_weights
from hermes.providers.profiles import profile_for

WINDOW = 1024
RULES = "".join(f"- rule {n}: keep the prefix byte-stable, section {n * 7}.\n" for n in range(11))
CONTEXT = "".join(f"- note {n}: the project keeps its files in folder {n * 3}.\n" for n in range(12))


@dataclass(frozen=True)
class Heard:
    usage: Usage
    read: tuple[PromptRead, ...]

    @property
    def cached(self) -> float:
        """The part of the prompt that was not read again."""
        return self.usage.cache_read / self.usage.input


def weights(home: Path) -> str:
    path = embedded_weights(Home(str(home)))
    assert path, "the weights are missing; make test installs them"
    return path


def engine(home: Path, idle_seconds: float = 60.0, patience: float = 10.0) -> Engine:
    return Engine(Home(str(home)), Settings(weights(home), WINDOW, idle_seconds, 0, patience))


def model(home: Path, states_mb: int = 64, idle_seconds: float = 60.0) -> LocalModel:
    profile = profile_for("smollm2-135m", "local", context_window=WINDOW)
    return LocalModel(Endpoint("local", gguf=EMBEDDED), profile, engine(home, idle_seconds), states_mb)


@asynccontextmanager
async def stopping(home: Path) -> AsyncIterator[None]:
    """End the engine behind a test."""
    try:
        yield
    finally:
        await engine(home).stop()


@asynccontextmanager
async def talking(home: Path) -> AsyncIterator[LocalModel]:
    """A model as a process has it that begins and ends here; the engine stays."""
    begun = model(home)
    try:
        yield begun
    finally:
        await begun.close()


async def ask(asked: LocalModel, text: str, *system: str) -> Heard:
    """One short answer."""
    tiers = (*system, "", "", "")[:3] if system else (RULES, "", "")
    request = ModelRequest("smollm2-135m", tiers, (), (Message("user", text),), max_tokens=2)
    read, done = [], None
    async with aclosing(asked.stream(request)) as events:
        async for event in events:
            if isinstance(event, PromptRead):
                read.append(event)
            elif isinstance(event, Completed):
                done = event
    assert done is not None
    return Heard(done.usage, tuple(read))
