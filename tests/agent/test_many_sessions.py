"""Many sessions in one process: what they have alike is there once, and none hears anything of another."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncGenerator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.contracts import CacheRules
from hermes.messages import Completed, Message, ModelEvent, ModelRequest, Usage
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.scripted import PROFILE, ScriptedModel, Step
from hermes.run_agent import AIAgent
from hermes.sessions.sqlite import SqliteStore
from hermes.turns import TurnRequest
from tests.agent.conftest import assert_append_only
from tests.agent.talk import Talk, make_tool
from tests.world import write

CODECS = (OpenAiChat(), AnthropicMessages())


async def say(agent: AIAgent, text: str) -> None:
    async for _ in agent.run(TurnRequest(text)):
        pass


def echoing(codec: Any) -> ScriptedModel:
    """A model that says again what it heard last, of whoever asks."""
    echo = iter(lambda: lambda request: Step(f"you said {request.messages[-1].text!r}"), None)
    return ScriptedModel(echo, codec=codec)


class Forgetful(ScriptedModel):
    """Answers, and holds nothing of what it was asked."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield Completed(Message("assistant", f"this is answer {len(request.messages)}"), Usage(10_000))


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_what_sessions_have_alike_is_one_object(tmp_path: Path, codec: Any) -> None:
    async def scene() -> None:
        store = SqliteStore(str(tmp_path / "sessions.db"))
        model = echoing(codec)
        talk = Talk(tmp_path, store, model=model, tools=(make_tool("look", lambda: ""),))
        agents = [talk.new_agent() for _ in range(3)]
        for agent in agents:
            await say(agent, "hello")
        agents.append(talk.new_agent(agents[0].session_id))  # one that was put away, beside itself
        await say(agents[-1], "are you there?")
        sessions = [s for agent in agents if (s := agent.session)]
        assert len(sessions) == 4
        for one, other in combinations(sessions, 2):
            assert one.tools is other.tools
            for mine, theirs in zip(one.prompt.layers[:2], other.prompt.layers[:2], strict=True):
                assert mine is theirs
            pairs = zip(one.prompt.sections, other.prompt.sections, strict=True)
            assert [a.slot for a, b in pairs if a is not b] in (["session line"], [])
        heads = [(r.system, r.tools, codec.layout(r, PROFILE)[0]) for r in model.requests]
        for (mine, tools, head), (theirs, others, beside) in combinations(heads, 2):
            assert tools is others
            assert all(a is b for a, b in zip(mine[:2], theirs[:2], strict=True))
            same = [(a, b) for a, b in zip(head, beside, strict=True) if a == b and len(a) > 60]
            assert len(same) >= 3  # the tools, the stable tier, that of the project
            assert all(a is b for a, b in same)
        await store.close()

    asyncio.run(scene())


def test_a_further_session_takes_less_than_its_prompt(tmp_path: Path) -> None:
    """A long prompt is held once, whatever is done with it: sent, laid out, stored, looked at for hints."""

    async def scene() -> tuple[int, int]:
        store = SqliteStore(str(tmp_path / "sessions.db"))
        profile = replace(PROFILE, cache=CacheRules("prefix", 1, step=1))  # so that the ledger is kept
        talk = Talk(tmp_path, store, model=Forgetful((), profile=profile))
        write(talk.project / "AGENTS.md", "".join(f"Rule {n}: do as in the last one.\n" for n in range(1200)))
        agents = [talk.new_agent() for _ in range(4)]
        for agent in agents:
            await say(agent, "warm")
        more = [talk.new_agent() for _ in range(20)]
        gc.collect()
        tracemalloc.start()
        for agent in more:
            await say(agent, "hello")
            await say(agent, "and again")
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert more[0].session is not None
        size = len(more[0].session.prompt.text)
        await store.close()
        return held // len(more), size

    each, size = asyncio.run(scene())
    assert size > 40_000
    assert each < size


Moves = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["say", "together", "put away", "compact"])))


@settings(max_examples=12, deadline=None)
@given(moves=Moves, codec=st.sampled_from(CODECS))
def test_nothing_of_a_session_reaches_another(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, str]], codec: Any
) -> None:
    """Each has a word of its own, in its messages, what is added to them and what its tools say."""
    root = tmp_path_factory.mktemp("many")

    async def scene() -> ScriptedModel:
        store = SqliteStore(str(root / "sessions.db"))
        model = echoing(codec)
        talk = Talk(root, store, model=model)

        def made(number: int, session_id: str = "") -> AIAgent:
            return talk.new_agent(session_id, ephemeral_system_prompt=f"Be like word{number}x.")

        agents = [made(number) for number in range(4)]
        for number, what in [(n, "say") for n in range(4)] + moves:
            if what == "together":
                await asyncio.gather(*(say(a, f"all at once word{n}x") for n, a in enumerate(agents)))
            elif what == "put away":
                agents[number] = made(number, agents[number].session_id)
            elif what == "compact":
                async for _ in agents[number].compact(f"keep word{number}x"):
                    pass
            else:
                await say(agents[number], f"this is of word{number}x")
        whose = {agent.session_id: number for number, agent in enumerate(agents)}
        for request, body in zip(model.requests, model.bodies, strict=True):
            own = whose[request.session_id.partition(":")[0]]
            assert [n for n in range(4) if f"word{n}x".encode() in body] == [own]
        await store.close()
        return model

    assert_append_only(asyncio.run(scene()))
