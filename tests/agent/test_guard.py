"""What ends an epoch tells its price first, or waits for the next boundary; the same on both stores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hermes.agent.guard import Price, price_of, staged
from hermes.commands import Conversation, answer
from hermes.contracts import Prices
from hermes.errors import ModelError
from hermes.providers.profiles import profile_for
from hermes.providers.scripted import PROFILE, ScriptedModel, Step
from hermes.providers.wrappers import Fallback
from hermes.turns import AnswerRestarted, NoticeShown, Question
from tests.agent.conftest import assert_append_only
from tests.agent.talk import Talk, make_tool
from tests.sessions.conftest import Place, place, postgres_server
from tests.world import NOW, make_home, write

__all__ = ["place", "postgres_server"]

PRICED = replace(PROFILE, prices=Prices(input=10.0, output=10.0, cache_read=1.0))
HOUSE = 'providers:\n  house: {base_url: "http://127.0.0.1:9/v1"}\n'
LONG = "Look at it. " * 600


def play(
    place: Place,
    root: Path,
    scene: Callable[[Talk], Awaitable[None]],
    guard: str = "tell",
    config: str = HOUSE,
) -> Talk:
    """A scene on a store; afterwards each request begins with the one before, or has a reason not to."""
    make_home(root / "home")
    write(root / "home" / "config.yaml", f"{config}cache: {{guard: {guard}}}\n")

    async def go() -> Talk:
        async with place.opened() as store:
            model = ScriptedModel(["ok"] * 9, profile=PRICED)
            talk = Talk(root, store, model=model, tools=[make_tool("look", lambda: "seen")])
            await scene(talk)
            await talk.agent.close()
            return talk

    talk = asyncio.run(go())
    assert_append_only(talk.model)
    return talk


def notices(talk: Talk) -> list[str]:
    return [e.notice.text for e in talk.events if isinstance(e, NoticeShown)]


async def reasons(talk: Talk) -> list[str]:
    return [e.reason for e in await talk.store.epochs(talk.agent.session_id)]


def test_tell_waits_for_the_word(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say(LONG)
        tokens = talk.agent.session.last_input  # type: ignore[union-attr]
        cost = tokens * 9.0 / 1e6
        told = await answer(conversation, "/refresh")
        assert told == (
            f"A new prompt: about {tokens:,} tokens that are cached now are read anew: ${cost:.4f} more "
            "than from the cache. Say /refresh now to do it all the same, or /refresh later for the next "
            "boundary. What has changed is told to the model without that."
        )
        told = await answer(conversation, "/model house:clever")
        assert told == (
            f"clever takes over: about {tokens:,} tokens that are cached now are read anew: no prices are "
            "known. Say /model house:clever now to do it all the same, or /model house:clever later for the "
            "next boundary."
        )
        assert await reasons(talk) == ["new session"]
        assert talk.agent.model is talk.model
        assert (await answer(conversation, "/refresh now")).startswith("The prompt was built anew")
        assert await reasons(talk) == ["new session", "refresh"]
        assert (await answer(conversation, "/model house:clever now")).startswith(
            "Model: clever at house@127.0.0.1:9"
        )
        assert talk.agent.model.profile.name == "clever"

    play(place, tmp_path, scene)


def test_what_waits_is_stored_shown_and_lands_at_the_boundary(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say(LONG)
        assert await answer(conversation, "/cache pending") == "Nothing waits for a boundary."
        told = await answer(conversation, "/model house:clever later")
        assert told.startswith("The model house:clever comes with /refresh, /compress or /new, or by itself")
        await talk.say("go on")
        assert talk.agent.model is talk.model, "no boundary has come"
        talk.restart()
        conversation = Conversation(talk.agent)
        told = await answer(conversation, "/cache pending")
        assert told.startswith("The model house:clever, since 2026")
        assert "at about 170,000 tokens" in told
        await talk.agent.undo()
        assert len(staged(talk.agent.session.record.state)) == 1, "what stays is cached: it is no boundary"  # type: ignore[union-attr]
        await answer(conversation, "/refresh now")
        assert talk.agent.model.profile.name == "clever"
        assert await answer(conversation, "/cache pending") == "Nothing waits for a boundary."
        record = await talk.store.get(talk.agent.session_id)
        assert record is not None
        assert staged(record.state) == ()

    play(place, tmp_path, scene)


def test_a_staged_model_begins_the_next_session(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say(LONG)
        assert "comes with" in await answer(conversation, "/model house:clever")
        assert talk.agent.model is talk.model
        await answer(conversation, "/new")
        assert talk.agent.model.profile.name == "clever"

    play(place, tmp_path, scene, guard="stage")


@pytest.mark.parametrize(
    ("said", "epochs", "waits"),
    [("now", 2, 0), ("at the next boundary", 1, 1), ("not at all", 1, 0), ("", 1, 0)],
)
def test_ask(place: Place, tmp_path: Path, said: str, epochs: int, waits: int) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> str:
        asked.append(question)
        return said

    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        talk.agent.ask = ask
        await talk.say(LONG)
        told = await answer(conversation, "/refresh")
        assert len(await reasons(talk)) == epochs
        assert len(staged(talk.agent.session.record.state)) == waits  # type: ignore[union-attr]
        assert ("Say /refresh now" in told) is (said == "")
        assert asked[0].text.endswith("more than from the cache. When?")

    play(place, tmp_path, scene, guard="ask")


def test_allow_does_it_and_tells(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say(LONG)
        told = await answer(conversation, "/model house:clever")
        assert told.startswith("Model: clever at house@127.0.0.1:9. clever takes over: about ")
        await answer(conversation, "/refresh")
        assert await reasons(talk) == ["new session", "refresh"]

    play(place, tmp_path, scene, guard="allow")


def test_a_tool_that_came_late_waits(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say(LONG)
        late = make_tool("hear", lambda: "heard")
        talk.agent.tools = {**talk.agent.tools, "hear": late}
        await talk.say("go on")
        assert any("hear came after this session began" in text for text in notices(talk))
        record = await talk.store.get(talk.agent.session_id)
        assert record is not None
        assert [str(s) for s in staged(record.state)] == ["the tools hear"]
        told = await answer(conversation, "/tools on hear")
        assert "hear comes at the next boundary" in told
        assert "With /refresh now: about " in told
        await answer(conversation, "/refresh now")
        assert await answer(conversation, "/cache pending") == "Nothing waits for a boundary."
        assert "hear" in {t.name for t in talk.agent.session.tools}  # type: ignore[union-attr]

    play(place, tmp_path, scene)


def test_another_model_on_any_face_is_told_of_once(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say(LONG)
        other = ScriptedModel(["ok"] * 3, profile=replace(PRICED, name="other-1"))
        talk.agent.set_model(other)
        await talk.say("go on")
        (told,) = [t for t in notices(talk) if "takes over" in t]
        assert told.startswith("other-1 takes over from scripted-1: about ")
        await talk.say("go on")
        assert not [t for t in notices(talk) if "takes over" in t]

    play(place, tmp_path, scene)


def test_a_personality_goes_to_the_tail(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say(LONG)
        told = await answer(conversation, "/personality pirate")
        assert "It is told at the tail, in about" in told
        assert "all that is cached stays cached" in told
        await talk.say("go on")
        assert await reasons(talk) == ["new session"]

    play(place, tmp_path, scene, guard="ask")


def test_what_has_expired_costs_nothing_more(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say(LONG)
        session = talk.agent.session
        assert session is not None
        claude = profile_for("claude-sonnet-4-5", "anthropic")
        tokens = session.last_input
        assert price_of(session, claude, NOW) == Price(tokens, tokens * (3.75 - 0.3) / 1e6)
        assert price_of(session, claude, NOW + timedelta(hours=2)) == Price(tokens, 0.0, expired=True)
        assert price_of(None, claude, NOW) == Price()

    play(place, tmp_path, scene)


def test_a_summary_waits_where_that_is_the_rule(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say(LONG)
        told = await answer(conversation, "/compress the plan")
        assert "Nothing was summarised. It is done with /refresh" in told
        assert await reasons(talk) == ["new session"]

    play(place, tmp_path, scene, guard="stage")


def test_a_late_tool_comes_at_once_where_that_is_allowed(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say(LONG)
        talk.agent.tools = {**talk.agent.tools, "hear": make_tool("hear", lambda: "heard")}
        told = await answer(conversation, "/tools on hear")
        assert told.endswith("The prompt was built anew, and they are there.")
        assert "hear" in {t.name for t in talk.agent.session.tools}  # type: ignore[union-attr]
        assert await reasons(talk) == ["new session", "refresh"]

    play(place, tmp_path, scene, guard="allow")


def test_a_model_that_steps_in_is_told_of_with_its_price(place: Place, tmp_path: Path) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say(LONG)
        gone = ScriptedModel([Step(error=ModelError("it is down", kind="overloaded"))], profile=PRICED)
        other = ScriptedModel(["ok"], profile=replace(PRICED, name="other-1", provider="elsewhere"))
        talk.agent.set_model(Fallback([gone, other]))
        await talk.say("go on")
        (told,) = [e.reason for e in talk.events if isinstance(e, AnswerRestarted)]
        assert told.startswith("it is down. elsewhere:other-1 takes over. What that adds: about ")
        assert await reasons(talk) == ["new session", "elsewhere takes over"]

    play(place, tmp_path, scene)
