"""A real session against a real server on this machine, with everything between them that can go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from itertools import repeat
from pathlib import Path

from hermes.agent.loop import Limits
from hermes.agent.session import Session
from hermes.contracts import ModelProfile
from hermes.messages import Usage
from hermes.paths import Home
from hermes.prompt import WorkDir
from hermes.providers.cache_marks import MarkPolicy
from hermes.providers.client import HttpModel
from hermes.providers.endpoints import Endpoint
from hermes.providers.keys import Key
from hermes.providers.profiles import profile_for
from hermes.run_agent import AgentOptions, AIAgent
from hermes.sessions.sqlite import SqliteStore
from hermes.tooling import Tool
from hermes.turns import TurnEnded, TurnRequest
from hermes.wire.review import Entry, review
from tests.providers.loopback import Loopback, Reply
from tests.world import NOW, make_project, sources, write

CLAUDE = profile_for("claude-sonnet-4-5", "anthropic")
OPUS = profile_for("claude-opus-4-1", "anthropic")
GPT = profile_for("gpt-4o", "openai")
POINTS = profile_for("gpt-5.6", "openai")
DEFAULT = MarkPolicy()
LONG = "".join(f"Rule {n}: say what you did, in one line, and why it was done.\n" for n in range(160))


class Rig:
    """One conversation. `server.proxy`, `server.serve_from`, `server.cache.forget` are what goes wrong."""

    def __init__(
        self,
        folder: Path,
        profile: ModelProfile = CLAUDE,
        replies: Iterable[Reply | str] = (),
        tools: Iterable[Tool] = (),
        soul: str = LONG,
        database: Path | None = None,
    ) -> None:
        self.folder = folder
        self.profile = profile
        self.server = Loopback(replies or repeat("Aye."), profile.cache)
        self.home = Home(str(folder / "home"))
        self.project = make_project(folder / "project")
        write(Path(self.home.soul), f"You are Hermes.\n{soul}")
        self.store = SqliteStore(str(database or folder / "sessions.db"))
        self.tools = tuple(tools)
        self.agent: AIAgent

    def play(self, scene: Callable[[Rig], Awaitable[None]]) -> tuple[Entry, ...]:
        """Run a scene; the calls of its session, each with the verdict on it."""

        async def go() -> tuple[Entry, ...]:
            async with self.server.running():
                self.agent = self.new_agent()
                await scene(self)
                entries = await self.entries()
                await self.agent.close()
                await self.store.close()
                return entries

        return asyncio.run(go())

    async def entries(self) -> tuple[Entry, ...]:
        known = {(p.name, p.provider): p for p in (CLAUDE, OPUS, GPT, POINTS, self.profile)}
        return await review(self.store, self.agent.session_id, lambda m, p: known[m, p])

    def model(self, profile: ModelProfile, policy: MarkPolicy = DEFAULT) -> HttpModel:
        wire = "anthropic-messages" if profile.provider == "anthropic" else "openai-chat"
        endpoint = Endpoint(profile.provider, self.server.base_url, wire, cache_key=wire == "openai-chat")
        return HttpModel(endpoint, profile, Key("", ""), policy)

    def new_agent(self, session_id: str = "") -> AIAgent:
        return AIAgent(
            sources(self.home),
            self.store,
            self.model(self.profile),
            self.tools,
            cwd=WorkDir(str(self.project)),
            session_id=session_id,
            options=AgentOptions(
                limits=Limits(),
                clock=lambda: NOW + timedelta(seconds=self.server.clock.now),
                ephemeral_system_prompt="",
            ),
        )

    async def restart(self) -> None:
        """Go on with the session as another process would."""
        await self.agent.close()
        self.agent = self.new_agent(self.agent.session_id)

    async def use(self, model: HttpModel) -> None:
        """Go on with another model."""
        await self.agent.model.close()
        self.agent.set_model(model)

    @property
    def session(self) -> Session:
        assert self.agent.session is not None
        return self.agent.session

    def edit(self, path: str, old: str, new: str) -> None:
        """Change a file below the folder of the rig."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert old in text
        write(file, text.replace(old, new, 1))

    def wait(self, seconds: float) -> None:
        self.server.clock.now += seconds

    async def say(self, text: str = "Go on.") -> Usage:
        *_, ended = [event async for event in self.agent.run(TurnRequest(text))]
        assert isinstance(ended, TurnEnded)
        assert ended.reason == "done", ended
        self.wait(1)
        return ended.usage
