"""A turn that is stopped, at every point where it can be: the session goes on behind the same prefix."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.agent.session import STOPPED
from hermes.contracts import Codec
from hermes.messages import Annex, Message
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.scripted import PROFILE, ScriptedModel, Step, call
from hermes.sessions.sqlite import SqliteStore
from hermes.turns import EphemeralOverlay, TurnRequest
from tests.agent.conftest import assert_append_only
from tests.agent.talk import Talk, failing, make_tool
from tests.world import write

SAID = "the turn that is stopped"
SCRIPT = (
    Step("I look. " * 12, (call("one", "{}", "1"), call("two", "{}", "2"), call("bad", "{}", "3"))),
    Step("", (call("alone", "{}", "4"),), reasoning="and on"),
    Step("All is done. " * 8),
)


async def napping() -> str:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return "slept  "


def tools(talk: Callable[[], Talk]) -> Sequence[Any]:
    def steering() -> str:
        talk().agent.steer("rather the other one")
        return "steered"

    return (
        make_tool("one", napping, parallel=True, effects=False),
        make_tool("two", steering, parallel=True, effects=False),
        make_tool("bad", failing()),
        make_tool("alone", napping),
    )


class Stopped(Exception):
    """Leaves a turn after so many events."""


async def played(folder: Path, codec: Codec, events: int, ticks: int) -> bool:
    """Stop a turn after so many events, or at so many turns of the loop; whether it was stopped."""
    store = SqliteStore(str(folder / "sessions.db"))
    talks: list[Talk] = []
    model = ScriptedModel(
        ["Hello.", *SCRIPT, *["Going on."] * 3],
        profile=replace(PROFILE, system_mid_conversation=codec.name.startswith("anthropic")),
        codec=codec,  # type: ignore[arg-type]
    )
    talk = Talk(folder, store, tools=tools(lambda: talks[0]), model=model)
    talks.append(talk)
    try:
        await talk.say("first")
        talk.agent.set_personality("pirate")
        write(talk.project / "AGENTS.md", "Another rule.\n")
        task = asyncio.create_task(stop_after(talk, events))
        for _ in range(ticks):
            await asyncio.sleep(0)
        was_stopped = task.cancel()
        try:
            await task
        except (asyncio.CancelledError, Stopped):
            was_stopped = True
        model._script = iter(["Going on."] * 3)
        await goes_on(talk, was_stopped)
    finally:
        await store.close()
    assert_append_only(model)
    return was_stopped


async def stop_after(talk: Talk, events: int) -> None:
    running = talk.agent.run(
        TurnRequest(SAID, (EphemeralOverlay(Annex("gateway", "[from Bob]"), "standing"),))
    )
    try:
        async for _ in running:
            events -= 1
            if not events:
                raise Stopped
    finally:
        await running.aclose()


async def goes_on(talk: Talk, was_stopped: bool) -> None:
    """What was said is kept, each call has one result, and both this process and another go on."""
    assert talk.agent.session is not None
    visible = list(talk.agent.session.visible)
    stored = [s.message for s in await talk.store.messages(talk.agent.session_id)]
    assert stored == visible
    begun = len(visible) > len(("first", "Hello."))  # else it still waited for the session
    assert (SAID in [m.text for m in visible]) == begun
    assert visible[-1].role == "assistant"
    assert not visible[-1].tool_calls
    assert not (was_stopped and begun) or visible[-1].text.endswith((STOPPED, "All is done. "))
    for at, message in enumerate(visible):
        answers = [m.call_id for m in visible[at + 1 : at + 1 + len(message.tool_calls)]]
        assert answers == [c.id for c in message.tool_calls]
    assert said_of_standing(visible) == set(talk.agent.session.standing)
    await talk.say("and now?")
    sent = talk.model.bodies[-1]
    talk.restart()
    await talk.say("and in another process?")
    assert talk.model.bodies[-1].startswith(sent.removesuffix(tail_of(talk)))
    assert [e.reason for e in await talk.store.epochs(talk.agent.session_id)] == ["new session"]


def tail_of(talk: Talk) -> bytes:
    return talk.model.codec.tail(talk.model.requests[-1], talk.model.profile)


def said_of_standing(visible: Sequence[Message]) -> set[str]:
    """The standing kinds that the model can read; a stop must not make one count as said that is not."""
    kinds = {a.kind for m in visible for a in m.annex}
    return (kinds - {"clock", "repeated failure"}) | ({"once: day"} if "clock" in kinds else set())


@pytest.mark.parametrize("codec", [OpenAiChat(), AnthropicMessages()], ids=["openai", "anthropic"])
def test_at_every_event(tmp_path: Path, codec: Codec) -> None:
    events = 1
    while asyncio.run(played(made(tmp_path / str(events)), codec, events, 10_000)):
        events += 1
    assert events > 15


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(ticks=st.integers(2, 120), wire=st.sampled_from([OpenAiChat(), AnthropicMessages()]))
def test_at_every_moment(tmp_path: Path, ticks: int, wire: Codec) -> None:
    folder = tmp_path / f"{ticks}-{wire.name.partition('/')[0]}"
    if not folder.exists():
        asyncio.run(played(made(folder), wire, 0, ticks))


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
