"""/undo, /retry, /copy, /export, /context, /usage, /prompt: what they tell and what they leave behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from hermes.agent.taking_back import REASON
from hermes.commands import Conversation, answer
from hermes.contracts import Prices
from hermes.providers.scripted import PROFILE, ScriptedModel, Step, call
from hermes.turns import Question
from tests.agent.conftest import play
from tests.agent.talk import Talk, make_tool

__all__ = ["play"]

Play = Callable[..., Talk]
PRICED = replace(PROFILE, prices=Prices(input=1.0, output=10.0, cache_read=0.1))


def last_words(talk: Talk) -> list[str]:
    return [m["content"].rpartition("\n")[2] for m in talk.last_messages()[1:]]


def test_a_turn_taken_back_is_no_longer_seen_and_stays_on_record(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        assert await answer(conversation, "/undo") == "There is no turn to take back."
        await talk.say("first")
        await talk.say("second")
        told = await answer(conversation, "/undo")
        assert told.startswith('Taken back: "second" and all that followed. Its ')
        assert "still cached" in told
        await talk.say("third")
        assert last_words(talk) == ["first", "one", "third"]
        stored = [s.message.text for s in await talk.store.messages(talk.agent.session_id)]
        assert stored == ["first", "one", "second", "two", "third", "three"]
        epochs = await talk.store.epochs(talk.agent.session_id)
        assert [e.reason for e in epochs] == ["new session", REASON]

    talk = play(scene, ["one", "two", "three"])
    before, after = talk.model.bodies[0], talk.model.bodies[2]
    assert after.startswith(before.partition(b'],"model"')[0])  # what stays is the same bytes


def test_another_process_goes_on_where_it_was_taken_back(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("first")
        await talk.say("second")
        await talk.agent.undo()
        talk.restart()
        assert [m.text for m in (await talk.agent.undo())] == ["first", "one"]
        talk.restart()
        assert await talk.agent.undo() == ()
        await talk.say("again")
        assert last_words(talk) == ["again"]

    play(scene, ["one", "two", "three"])


def test_what_stood_since_the_turn_is_said_again(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        talk.agent.set_personality("pirate")
        await talk.say("first")
        talk.agent.set_personality("noir")
        await talk.say("second")
        await talk.agent.undo()
        await talk.say("third")
        assert "private detective" in talk.last_messages()[-1]["content"]
        await talk.agent.undo()
        talk.agent.set_personality("none")
        await talk.say("fourth")
        assert "no longer" in talk.last_messages()[-1]["content"]

    play(scene, ["ok"] * 4)


def test_retry_says_the_same_again_and_counts_only_that_turn(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say("first")
        await talk.say("second")
        told = [await answer(conversation, "/retry")]
        assert conversation.take_said() == "second"
        assert conversation.take_said() == ""
        await talk.say("second")
        told.append(await answer(conversation, "/retry"))
        calls = await talk.store.calls(talk.agent.session_id)
        assert [t.split(" tokens")[0] for t in told] == [
            f"Once more. Its {c.usage.input + c.usage.output}" for c in calls[1:]
        ]
        assert "$0.00" in told[0]

    play(scene, model=ScriptedModel(["one", "two", "two"], profile=PRICED))


def test_what_was_said_to_steer_begins_no_turn(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        talk.agent.steer("mind the docs")
        await talk.say("look")
        taken = await talk.agent.undo()
        assert [m.text for m in taken] == ["look", "", "seen", "mind the docs", "done"]

    tools = [make_tool("t", lambda: "seen")]
    play(scene, [Step(calls=(call("t"),)), "done"], tools)


def test_usage_tells_money_and_what_it_were_without_a_cache(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        assert await answer(conversation, "/usage") == "Nothing has been asked yet."
        for _ in range(3):
            await talk.say("x" * 4000)
        told = (await answer(conversation, "/usage")).splitlines()
        usage = talk.agent.session.usage  # type: ignore[union-attr]
        assert usage.cache_read > 0
        spent = (usage.input - 0.9 * usage.cache_read + 10 * usage.output) / 1e6
        without = (usage.input + 10 * usage.output) / 1e6
        assert told[1].startswith(f"${spent:.4f} spent; without a cache it would be ${without:.4f} (prices: ")

    play(scene, model=ScriptedModel(["ok"] * 3, profile=PRICED))


def test_context_tells_what_fills_the_window(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say("hello " * 50)
        told = await answer(conversation, "/context")
        names = [line[:20].strip() for line in told.splitlines()]
        assert names[:3] == ["prompt: stable", "prompt: context", "prompt: volatile"]
        assert {"tool list", "your messages", "answers", "free", "in use"} <= set(names)

    play(scene, ["ok"], [make_tool("t", lambda: "")])


def test_the_prompt_of_this_session_is_explained(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        assert "has not begun" in await answer(conversation, "/prompt")
        await talk.say("hello")
        assert "project context" in await answer(conversation, "/prompt")
        assert await answer(conversation, "/prompt full") == talk.agent.session.prompt.text  # type: ignore[union-attr]
        assert "AGENTS.md:1" in await answer(conversation, "/prompt This is the atlas project.")
        talk.restart()
        assert "project context" in await answer(Conversation(talk.agent), "/prompt")

    play(scene, ["ok"])


def test_an_answer_or_a_code_block_is_copied(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        copied: list[str] = []
        conversation = Conversation(talk.agent, copy=copied.append)
        assert "no answer" in await answer(conversation, "/copy")
        await talk.say("code?")
        await answer(conversation, "/copy")
        await answer(conversation, "/copy 2")
        assert copied == [talk.shown(), "b = 2\n"]
        assert "has 2 code blocks" in await answer(conversation, "/copy 3")
        assert "/export" in await answer(Conversation(talk.agent), "/copy")

    play(scene, ["First:\n```\na = 1\n```\nthen\n~~~py\nb = 2\n~~~\n"])


def test_a_conversation_is_exported(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        assert "nothing to write" in await answer(conversation, "/export")
        await talk.say("hello")
        told = await answer(conversation, "/export talk.md")
        assert told == f"Written to {talk.project / 'talk.md'}: 4 messages."
        assert (talk.project / "talk.md").read_text().splitlines()[2:] == [
            "## You",
            "",
            "hello",
            "",
            "`t` {}",
            "",
            "<details><summary>t</summary>",
            "",
            "````",
            "```",
            "````",
            "",
            "</details>",
            "",
            "## Assistant",
            "",
            "done",
        ]
        assert "is there already" in await answer(conversation, "/export talk.md")
        await answer(conversation, "/export talk.json")
        body = json.loads((talk.project / "talk.json").read_text())
        assert [m["role"] for m in body["messages"]] == ["user", "assistant", "tool", "assistant"]
        await answer(conversation, "/export talk.jsonl")
        assert len((talk.project / "talk.jsonl").read_text().splitlines()) > 4

    tools = [make_tool("t", lambda: "```")]
    play(scene, [Step(calls=(call("t"),)), "done"], tools)


def test_resume_without_an_id_lets_the_person_pick(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        await talk.say("first session")
        first = talk.agent.session_id
        await answer(conversation, "/new")
        await talk.say("second session")
        asked: list[Question] = []

        async def pick(question: Question) -> str:
            asked.append(question)
            return question.choices[0]

        assert "Say which" in await answer(conversation, "/resume")
        talk.agent.ask = pick
        assert await answer(conversation, "/resume") == f"Going on with session {first}."
        assert len(asked[0].choices) == 1

    play(scene, ["ok"] * 2)
