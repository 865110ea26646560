"""One turn: answers, tools, interruptions, limits. The byte oracle watches every one of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from hermes.agent.loop import Limits
from hermes.errors import ModelError
from hermes.messages import Message, ModelRequest, ToolCall
from hermes.providers.scripted import PROFILE, ScriptedModel, Step, call
from hermes.turns import NoticeShown, TextShown, ToolFinished, ToolStarted, TurnEnded, TurnRequest
from tests.agent.talk import Talk, failing, make_tool

Play = Callable[..., Talk]


def roles(talk: Talk) -> list[str]:
    return [m["role"] for m in talk.last_messages()]


def results(talk: Talk) -> list[str]:
    return [m["content"] for m in talk.last_messages() if m["role"] == "tool"]


def test_an_answer_is_shown_as_it_comes_and_kept(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        assert await talk.say("hello") == "Good day to you."
        assert talk.shown() == "Good day to you."
        assert isinstance(talk.events[-1], TurnEnded)
        assert talk.events[-1].reason == "done"
        stored = await talk.store.messages(talk.agent.session_id)
        assert [(s.seq, s.message.role, s.message.text) for s in stored] == [
            (0, "user", "hello"),
            (1, "assistant", "Good day to you."),
        ]

    play(scene, ["Good day to you."])


def test_the_clean_text_and_what_rides_along_are_kept_apart(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("hello  ")
        sent = talk.last_messages()[-1]["content"]
        assert sent == "[now: Mon 2026-03-30 (-0700) 14:30]\n\nhello  "
        (stored, _) = await talk.store.messages(talk.agent.session_id)
        assert stored.message.text == "hello  "
        assert [(a.kind, a.place) for a in stored.message.annex] == [("clock", "before")]

    play(scene, ["Hi."])


def test_results_stand_in_the_order_of_the_calls(play: Play) -> None:
    first, second = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        await second.wait()
        first.set()
        return "slow"

    async def quick() -> str:
        second.set()
        await first.wait()  # both run at once, or neither would end
        return "quick"

    async def scene(talk: Talk) -> None:
        await talk.say("go")
        tools = [m for m in talk.last_messages() if m["role"] == "tool"]
        assert [(m["tool_call_id"], m["content"]) for m in tools] == [
            ("call_slow", "slow"),
            ("call_quick", "quick"),
        ]
        ended = [e.call.name for e in talk.events if isinstance(e, ToolFinished)]
        assert sorted(ended) == ["quick", "slow"]

    tools = [make_tool("slow", slow, parallel=True), make_tool("quick", quick, parallel=True)]
    play(scene, [Step(calls=(call("slow"), call("quick"))), "done"], tools)


def test_a_tool_that_must_be_alone_is(play: Play) -> None:
    running: list[str] = []

    def alone() -> str:
        assert running == []
        return "alone"

    async def together() -> str:
        running.append("x")
        await asyncio.sleep(0)
        running.pop()
        return "together"

    async def scene(talk: Talk) -> None:
        await talk.say("go")
        assert [m["content"] for m in talk.last_messages() if m["role"] == "tool"] == [
            "together",
            "alone",
            "together",
        ]

    calls = (call("t", "{}", "1"), call("a", "{}", "2"), call("t", "{}", "3"))
    play(scene, [Step(calls=calls), "done"], [make_tool("t", together, parallel=True), make_tool("a", alone)])


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        (ToolCall("1", "echo", "{not json"), "the arguments of echo are not valid JSON"),
        (ToolCall("1", "echo", "[1]"), "the arguments of echo must be one JSON object"),
        (ToolCall("1", "echo", '{"txt": "a"}'), "echo has no argument 'txt'; did you mean 'text'?"),
        (ToolCall("1", "echo", '{"text": 5}'), "echo: 'text' must be a string"),
        (ToolCall("1", "ecko", "{}"), "there is no tool 'ecko'; the tools are echo, fails, refuses"),
        (
            ToolCall("1", "fails", "{}"),
            "fails failed: the tool fails failed and was left out",
        ),
        (ToolCall("1", "refuses", "{}"), "it did not work"),
        (ToolCall("1", "echo", ""), "(no output)"),
    ],
)
def test_the_model_always_gets_an_answer_it_can_act_on(play: Play, wanted: ToolCall, answer: str) -> None:
    async def scene(talk: Talk) -> None:
        assert await talk.say("go") == "understood"
        result = talk.last_messages()[-1]
        assert result["tool_call_id"] == "1"
        assert result["content"].startswith(answer)

    tools = [
        make_tool("echo", lambda text="": text, takes=["text"]),
        make_tool("fails", lambda: 1 // 0),
        make_tool("refuses", failing()),
    ]
    play(scene, [Step(calls=(wanted,)), "understood"], tools)


def test_half_a_surrogate_pair_goes_nowhere(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("broken \ud83d here")
        await talk.say("again")
        stored = await talk.store.messages(talk.agent.session_id)
        assert stored[0].message.text == "broken \ufffd here"

    play(scene, [Step(calls=(call("t"),)), "one", "two"], [make_tool("t", lambda: "half \udc00")])


def test_what_the_person_says_meanwhile_is_heard_before_the_next_call(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("go")
        assert roles(talk)[-3:] == ["assistant", "tool", "user"]
        assert talk.last_messages()[-1]["content"] == "rather the other file"

    def work() -> str:
        talks[0].agent.steer("rather the other file")
        return "read"

    talks: list[Talk] = []

    async def noting(talk: Talk) -> None:
        talks.append(talk)
        await scene(talk)

    play(noting, [Step(calls=(call("t"),)), "done"], [make_tool("t", work)])


def test_at_the_last_step_there_is_one_grace_call(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        assert await talk.say("go") == "what I have so far"
        assert talk.events[-1].calls == 3
        assert "[This turn has used up its steps." in talk.last_messages()[-1]["content"]
        before, last = json.loads(talk.model.bodies[0]), json.loads(talk.model.bodies[-1])
        assert before["tools"] == last["tools"]

    steps = [Step(calls=(call("t", "{}", str(n)),)) for n in range(2)]
    play(scene, [*steps, "what I have so far"], [make_tool("t", lambda: "ok")], limits=Limits(max_turns=2))


def test_a_grace_call_that_asks_for_more_ends_the_turn(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("go")
        assert talk.events[-1] == replace(talk.events[-1], reason="max_turns", calls=2)
        assert await talk.say("go on") == "fine"
        assert roles(talk)[-4:] == ["assistant", "tool", "assistant", "user"]

    steps = [Step(calls=(call("t", "{}", str(n)),)) for n in range(2)]
    play(scene, [*steps, "fine"], [make_tool("t", lambda: "ok")], limits=Limits(max_turns=1))


def test_a_call_that_fails_again_and_again_is_noticed(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("go")
        assert ["3 times in a row" in r for r in results(talk)] == [False, False, True]

    steps = [Step(calls=(call("t", '{"a": "1"}', str(n)),)) for n in range(3)]
    play(scene, [*steps, "I give up"], [make_tool("t", failing(), takes=["a"])])


def test_of_two_failing_calls_each_is_noticed(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("go")
        told = ["times in a row" in r for r in results(talk)]
        assert told == [False] * 4 + [True, False]  # the second one looked at something else in between

    def step(n: int) -> Step:
        other = "x" if n < 2 else "y"
        return Step(calls=(call("t", "{}", f"a{n}"), call("t", f'{{"a": "{other}"}}', f"b{n}")))

    play(scene, [step(0), step(1), step(2), "I give up"], [make_tool("t", failing(), takes=["a"])])


def test_after_a_change_a_failing_call_is_worth_another_try(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("go")
        assert not any("in a row" in r for r in results(talk))

    steps = [Step(calls=(call("check", "{}", f"c{n}"), call("edit", "{}", f"e{n}"))) for n in range(4)]
    tools = [make_tool("check", failing(), effects=False), make_tool("edit", lambda: "edited")]
    play(scene, [*steps, "done"], tools)


def test_a_call_that_fails_without_end_ends_the_turn(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        assert await talk.say("go") == "I could not do it"
        assert talk.events[-1] == replace(talk.events[-1], reason="done", calls=7)
        assert "[This turn has used up its steps." in results(talk)[-1]
        notices = [e.notice.text for e in talk.events if isinstance(e, NoticeShown)]
        assert notices == ["t failed 6 times in a row with the same arguments; the model is asked to finish"]
        assert await talk.say("try something else") == "better"
        assert len(results(talk)) == 7

    steps = [Step(calls=(call("t", "{}", str(n)),)) for n in range(6)]
    again = Step(calls=(call("t", "{}", "again"),))
    play(scene, [*steps, "I could not do it", again, "better"], [make_tool("t", failing())])


def test_the_same_result_again_is_noticed_and_ends_nothing(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        assert await talk.say("go") == "done"
        told = [n for n, r in enumerate(results(talk), 1) if "has now given the same result" in r]
        assert told == [3, 6]

    steps = [Step(calls=(call("t", "{}", str(n)),)) for n in range(8)]
    play(scene, [*steps, "done"], [make_tool("t", lambda: "[exit code 1]")])


def test_when_the_window_fills_the_model_is_told_once(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("go")
        assert ["of the context window is used" in r for r in results(talk)] == [True, False]

    profile = replace(PROFILE, context_window=400)
    model = ScriptedModel(
        [Step(calls=(call("t", "{}", str(n)),)) for n in range(2)] + ["done"], profile=profile
    )
    play(scene, tools=[make_tool("t", lambda: "x" * 2000)], model=model)


def test_a_failing_model_is_told_of_and_the_session_goes_on(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("one")
        assert talk.events[-1].reason == "failed"
        notices = [e.notice.text for e in talk.events if isinstance(e, NoticeShown)]
        assert notices == ["the key was refused; set another"]
        assert await talk.say("two") == "better now"
        assert roles(talk)[1:] == ["user", "assistant", "user"]

    error = ModelError("the key was refused; set another", kind="auth")
    play(scene, [Step("half an ans", error=error), "better now"])


def test_stopping_while_the_model_speaks(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        events = talk.agent.run(TurnRequest("go"))
        async for event in events:
            if isinstance(event, TextShown):
                break
        await events.aclose()
        await interrupted(talk, "words words")

    play(scene, [Step("words " * 30), "going on"])


def test_stopping_before_the_model_speaks(play: Play) -> None:
    begun = asyncio.Event()

    def never(request: ModelRequest) -> Step:
        begun.set()
        return Step("never heard", gate=asyncio.Event())

    async def scene(talk: Talk) -> None:
        task = asyncio.create_task(talk.say("go"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await interrupted(talk, "[interrupted]")

    play(scene, [never, "going on"])


async def interrupted(talk: Talk, begins: str) -> None:
    """After a restart the session goes on from what was heard."""
    talk.restart()
    assert await talk.say("go on") == "going on"
    said = talk.last_messages()
    assert [m["role"] for m in said][1:] == ["user", "assistant", "user"]
    assert said[2]["content"].startswith(begins)
    assert said[2]["content"].endswith("[interrupted]")


def test_stopping_while_a_tool_runs(play: Play) -> None:
    begun = asyncio.Event()
    ended: list[str] = []

    async def forever() -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("stopped")
        return ""

    async def scene(talk: Talk) -> None:
        async def listen() -> None:
            async for _ in talk.agent.run(TurnRequest("go")):
                pass

        task = asyncio.create_task(listen())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == ["stopped"]
        talk.restart()
        assert await talk.say("and now?") == "it was stopped"
        said = talk.last_messages()
        assert [m["role"] for m in said][1:] == ["user", "assistant", "tool", "tool", "assistant", "user"]
        assert said[3]["content"].startswith("[interrupted: this call was stopped")
        assert said[4]["content"].startswith("[not run: the turn was stopped")

    calls = (call("forever"), call("later"))
    tools = [make_tool("forever", forever), make_tool("later", lambda: "never")]
    play(scene, [Step(calls=calls), "it was stopped"], tools)


def test_what_is_about_to_act_outside_is_on_record_first(play: Play) -> None:
    seen: list[list[str]] = []

    async def scene(talk: Talk) -> None:
        async def look() -> str:
            stored = await talk.store.messages(talk.agent.session_id)
            seen.append([s.message.role for s in stored])
            return "ok"

        talk.agent.tools = {"t": make_tool("t", look)}
        await talk.say("go")

    play(scene, [Step(calls=(call("t"),)), "done"])
    assert seen == [["user", "assistant"]]


def test_a_step_is_one_commit_when_nothing_acts_outside(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        steps: list[str] = []
        commit = talk.store.commit

        class Counting:
            def __getattr__(self, name: str) -> object:
                return getattr(talk_store, name)

            async def commit(self, session_id: str, step: object) -> None:
                steps.append(session_id)
                await commit(session_id, step)  # type: ignore[arg-type]

        talk_store = talk.store
        talk.agent.store = Counting()  # type: ignore[assignment]
        await talk.say("go")
        assert len(steps) == 4  # the question, two steps, the end

    steps = [Step(calls=(call("t", "{}", str(n)),)) for n in range(2)]
    play(scene, [*steps, "done"], [make_tool("t", lambda: "ok", effects=False)])


def test_prefill_stands_before_the_first_message(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        prefill = (Message("user", "Sample question"), Message("assistant", "Sample answer"))
        await talk.say("hello", prefill=prefill)
        assert [m["content"].splitlines()[-1] for m in talk.last_messages()[1:]] == [
            "Sample question",
            "Sample answer",
            "hello",
        ]
        await talk.say("again", prefill=prefill)
        assert len(talk.last_messages()) == 6

    play(scene, ["Hi.", "Hi again."])


def test_an_answer_may_have_as_much_as_the_model_that_gives_it_can_write(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("hello")
        terse = ScriptedModel(["hi"] * 2, profile=replace(PROFILE, name="terse", output_limit=4096))
        talk.agent.set_model(terse)
        await talk.say("and you?")
        small = replace(PROFILE, name="small", context_window=4096, small=True)
        talk.agent.set_model(ScriptedModel(["hi"], profile=small))
        await talk.say("and you?")
        asked = [talk.model.requests[-1], terse.requests[-1], talk.agent.model.requests[-1]]  # type: ignore[attr-defined]
        assert [request.max_tokens for request in asked] == [8192, 4096, 512]

    play(scene, ["hi"])


def test_tools_are_told_in_one_order(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("hello")
        body = json.loads(talk.model.bodies[-1])
        assert [t["function"]["name"] for t in body["tools"]] == ["a", "m", "z"]

    play(scene, ["Hi."], [make_tool(n, lambda: "") for n in ("z", "a", "m")])


def test_events_tell_of_tools(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("go")
        started = [e for e in talk.events if isinstance(e, ToolStarted)]
        finished = [e for e in talk.events if isinstance(e, ToolFinished)]
        assert [e.call.name for e in started] == ["t"]
        assert [(e.result, e.error) for e in finished] == [("ok", False)]
        assert finished[0].seconds >= 0

    play(scene, [Step(calls=(call("t"),)), "done"], [make_tool("t", lambda: "ok")])
