"""A home, a project, a store and agents whose model is scripted, for conversations that grow long."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from hermes.agent.loop import Limits
from hermes.agent.session import Session
from hermes.config import load_config
from hermes.errors import ModelError
from hermes.messages import Message
from hermes.paths import Home
from hermes.prompts import prompt_text
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.scripted import PROFILE, Answer, ScriptedModel, Step
from hermes.run_agent import AgentOptions, AIAgent
from hermes.sessions.sqlite import SqliteStore
from hermes.tooling import Tool
from hermes.turns import Event, NoticeShown, TurnEnded, TurnRequest
from tests.world import NOW, known, make_home, make_project, sources, write

HEADINGS = [line for line in prompt_text("compaction_template").split("\n") if line.startswith("## ")]
WRAPPING = str(prompt_text("compaction_history"))
OVERLOADED = ModelError("the provider is overloaded (529)", kind="overloaded", status=529)
TOO_LONG = ModelError("the request is too long", kind="context", status=400)


def account(text: str) -> str:
    """An answer of a model that was asked for a summary."""
    return "\n".join(f"{heading}\n{text}" for heading in HEADINGS)


def long(word: str, times: int = 1500) -> str:
    return f"{word} " * times


class World:
    """Everything on disk under `root`; each agent made here goes on where its session was left."""

    def __init__(self, root: Path, config: str = "") -> None:
        self.home: Home = make_home(root / "home")
        self.project = make_project(root / "project")
        known(self.home, self.project)
        if config:
            write(root / "home" / "config.yaml", config)
        assert load_config(self.home).notices == ()
        self.store = SqliteStore(str(root / "sessions.db"))
        self._now: datetime = NOW

    def clock(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now

    def agent(
        self, model: ScriptedModel, session_id: str = "", tools: Iterable[Tool] = (), personality: str = ""
    ) -> AIAgent:
        return AIAgent(
            sources(self.home),
            self.store,
            model,
            tools,
            cwd=str(self.project),
            session_id=session_id,
            personality=personality,
            options=AgentOptions(ephemeral_system_prompt="", limits=Limits(), clock=self.clock),
        )


def model(script: Iterable[Answer], window: int | None = 20_000, codec: object = None) -> ScriptedModel:
    profile = replace(PROFILE, context_window=window)
    return ScriptedModel(script, profile=profile, codec=codec or OpenAiChat())  # type: ignore[arg-type]


def failing(error: ModelError) -> Step:
    return Step(error=error)


async def events_of(events: AsyncGenerator[Event, None]) -> list[Event]:
    return [event async for event in events]


async def say(agent: AIAgent, *texts: str) -> list[str]:
    """What people are told in these turns, one after the other."""
    told: list[str] = []
    for text in texts:
        told += notices(await events_of(agent.run(TurnRequest(text))))
    return told


async def say_one(agent: AIAgent, text: str) -> TurnEnded:
    ended = (await events_of(agent.run(TurnRequest(text))))[-1]
    assert isinstance(ended, TurnEnded)
    return ended


def notices(events: Iterable[Event]) -> list[str]:
    return [f"{e.notice.level}: {e.notice.text}" for e in events if isinstance(e, NoticeShown)]


def session(agent: AIAgent) -> Session:
    assert agent.session is not None
    return agent.session


def outline(messages: Iterable[Message]) -> list[tuple[str, str]]:
    """Role and first word of each message, as the model sees them; an account by its name."""
    return [
        (m.role, "ACCOUNT" if any(a.kind == "summary" for a in m.annex) else m.text.split(" ")[0])
        for m in messages
    ]


def in_world(config: str = "") -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    """Run an async test in a fresh world."""

    def make(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        async def run(root: Path) -> None:
            world = World(root, config)
            try:
                await test(world)
            finally:
                await world.store.close()

        def wrapped(tmp_path: Path) -> None:
            asyncio.run(run(tmp_path))

        functools.update_wrapper(wrapped, test)
        del wrapped.__wrapped__  # type: ignore[attr-defined]
        return wrapped

    return make
