"""The model on this machine: the first word on a first turn, on a second one, and after a restart.

    make bench-local

Ratios of one run. The home and the project are new; the prompt is the one that `hermes chat` sends there.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from contextlib import aclosing
from pathlib import Path

from hermes.agent.loop import Limits
from hermes.agent.system_prompt import load_sources
from hermes.paths import Home, ensure_home
from hermes.providers.local.model import LocalModel
from hermes.run_agent import AgentOptions, AIAgent
from hermes.turns import PromptProgress, TextShown, ToolStarted, TurnEnded, TurnRequest

RULES = "# Rules\n\n" + "".join(f"- Keep module {n} below {n * 9 + 200} lines.\n" for n in range(30))
GOAL = 5.0
"""How many times sooner the second turn's first word must come than the first's."""


async def first_word(agent: AIAgent, text: str) -> tuple[float, float, bool]:
    """Seconds to the first word, the part of the prompt that was cached, and whether it was read anew."""
    begun, first, cached, read = time.perf_counter(), 0.0, 0.0, False
    async with aclosing(agent.run(TurnRequest(text))) as events:
        async for event in events:
            read |= isinstance(event, PromptProgress)
            if isinstance(event, TextShown | ToolStarted | TurnEnded):
                first = first or time.perf_counter() - begun
            if isinstance(event, TurnEnded):
                cached = event.usage.cache_read / max(event.usage.input, 1)
    return first, cached, read


def _agent(home: Home, project: Path) -> AIAgent:
    return AIAgent(
        load_sources(home),
        model="local",
        cwd=str(project),
        options=AgentOptions(limits=Limits(2, max_tokens=8)),
    )


async def measure(folder: Path) -> dict[str, float]:
    home, project = Home(str(folder / "home")), folder / "project"
    ensure_home(home, "You are Hermes.\n")
    project.mkdir()
    (project / "AGENTS.md").write_text(RULES, encoding="utf-8")
    agent = _agent(home, project)
    model = agent.model.model  # type: ignore[attr-defined]  # behind its retries
    assert isinstance(model, LocalModel)
    try:
        await model.engine.address()  # a start of the process is not what is measured
        cold, _, _ = await first_word(agent, "Hello.")
        second, again, _ = await first_word(agent, "And which rules hold here?")
        await agent.close()
        await model.engine.stop()
        later = _agent(home, project)
        restarted, kept, read = await first_word(later, "Hello once more.")
        await later.close()
    finally:
        await model.engine.stop()
    return {
        "first turn, seconds": round(cold, 3),
        "second turn, seconds": round(second, 3),
        "after a restart, seconds, start of the engine included": round(restarted, 3),
        "second turn, times sooner": round(cold / second, 1),
        "after a restart, times sooner": round(cold / restarted, 1),
        "cached on the second turn": round(again, 3),
        "cached after a restart": round(kept, 3),
        "read anew after a restart": float(read),
    }


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(Path(folder)))
    print(json.dumps(found, indent=1))
    return 0 if found["second turn, times sooner"] >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
