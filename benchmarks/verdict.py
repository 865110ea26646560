"""`make bench-verdict`: what the cache ledger foretells, against what a real engine reports; what it costs.

A session of many turns is played against llama.cpp's server with a small model (engine.py), whose cache is
counted token by token. `agree` is how many calls read as many tokens from the cache as had been foretold,
give or take one, the engine's granularity. The verdict on each call is taken too.

Costs are measured as CPU time of the quickest of many calls, beside the time in which this machine hashes
100 KB, so that figures of different machines can be compared.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from engine import Engine

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.providers.test_local_engine import Visit, say  # noqa: E402
from tests.wire.rig import CLAUDE, GPT  # noqa: E402
from tests.wire.test_cost import seconds_a_call  # noqa: E402
from tests.world import write  # noqa: E402

from hermes.agent.loop import Limits  # noqa: E402
from hermes.providers.profiles import profile_for  # noqa: E402
from hermes.run_agent import AIAgent  # noqa: E402
from hermes.wire.review import review  # noqa: E402

TURNS = 40
GOAL = 0.95


class Called(NamedTuple):
    """Tokens of one call: foretold as cached, reported as cached; and the verdict."""

    foretold: int
    reported: int
    cause: str


async def played(url: str, folder: Path, turns: int) -> list[Called]:
    """A session with everything that happens in one: recall, personality, restart, files that change."""
    here = Visit(folder, url)
    agent = here.agent()
    for n in range(turns):
        agent.limits = Limits(max_tokens=(4, 24, 64)[n % 3])  # some answers end by themselves, some are cut
        if n % 13 == 5:
            agent.set_personality(("pirate", "none")[n % 2])
        if n % 17 == 7:
            write(here.project / "AGENTS.md", f"Say less. {n}\n")
        if n % 20 == 11:
            agent = await _restarted(agent, here)
        if n == turns // 2:
            write(Path(here.home.soul), "You are Hermes. Answer in few words.\n")
            await agent.refresh()
        text = f"Question {n}: " + "what is it, and why? " * (1 + n % 4) + "  \n" * (n % 2)
        await say(agent, text, recall="Ann lives in Borgo." if n % 5 == 2 else "")
    entries = await review(here.store, agent.session_id, profile_for)
    await agent.close()
    await here.store.close()
    return [Called(e.wire.predicted, e.wire.usage.cache_read, e.verdict.cause) for e in entries]


async def _restarted(agent: AIAgent, here: Visit) -> AIAgent:
    await agent.close()
    return here.agent(agent.session_id)


def agreement(calls: list[Called], within: int = 1) -> float:
    """The share of calls, the first aside, that read what was foretold."""
    rest = calls[1:]
    return sum(abs(c.foretold - c.reported) <= within for c in rest) / len(rest)


def hash_seconds() -> float:
    data, best = b"x" * 100_000, 1.0
    for _ in range(50):
        began = time.thread_time()
        hashlib.sha256(data).digest()
        best = min(best, time.thread_time() - began)
    return best


def main() -> int:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        with closing(Engine(sys.executable, folder / "engine.log")) as engine:
            calls = asyncio.run(played(f"{engine.url}/v1", folder, TURNS))
    share = agreement(calls)
    print(f"calls {len(calls)}, agree {share:.1%} (goal {GOAL:.0%})")
    print("verdicts", dict(Counter(c.cause for c in calls)))
    for c in calls[1:]:
        if abs(c.foretold - c.reported) > 1:
            print(f"  foretold {c.foretold}, reported {c.reported}: {c.cause}")
    unit = hash_seconds()
    for profile in (CLAUDE, GPT):
        for messages in (100, 1000, 4000):
            seconds = seconds_a_call(messages, profile)
            told = f"{1e6 * seconds:.0f} us a call, {seconds / unit:.1f} hashes"
            print(f"{profile.name}: {messages} messages, {told}")
    return 0 if share >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
