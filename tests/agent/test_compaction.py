"""A conversation that grows too long is summarised, and nothing of it is lost."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import pairwise

import pytest

from hermes.agent.compaction.compactor import GIVE_UP
from hermes.agent.overlays import PRESSURE
from hermes.agent.session import Session
from hermes.errors import StoreError
from hermes.messages import Annex, Message, ModelRequest
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.scripted import PROFILE, ScriptedModel, Step, call
from hermes.sessions.records import Step as StoredStep
from hermes.sessions.sqlite import SqliteStore
from hermes.tooling import Tool, ToolContext, ToolSpec
from hermes.turns import TurnEnded, TurnRequest
from tests.agent.compaction_world import (
    OVERLOADED,
    TOO_LONG,
    WRAPPING,
    World,
    account,
    events_of,
    failing,
    in_world,
    long,
    model,
    notices,
    outline,
    say,
    say_one,
    session,
)
from tests.world import write

STARTS = "info: the conversation is being summarised: it takes about "
KEPT = "the older messages are kept and can be searched"
LOST = "nothing of it is lost"
SMALL = "compaction: {keep_tail: 2}\n"


def reader(name: str = "look", text: str = "") -> Tool:
    async def run(context: ToolContext, what: str = "", name: str = "") -> str:
        return text or long(f"result-{what}", 900)

    schema = {
        "type": "object",
        "properties": {n: {"type": "string", "description": n} for n in ("what", "name")},
        "required": [],
        "additionalProperties": False,
    }
    return Tool(ToolSpec(name, "Looks.", json.dumps(schema)), run, effects=False)


@in_world(SMALL)
async def test_it_is_summarised_when_the_threshold_is_passed(world: World) -> None:
    talker = model([long("a1"), long("a2"), long("a3"), account("It was so."), "a4"], 14_100)
    agent = world.agent(talker)
    assert await say(agent, long("u1"), long("u2"), long("u3")) == []
    before = outline(session(agent).visible)
    told = await say(
        agent,
        "u4 short",
    )
    assert before == [(r, f"{r[0]}{n}") for n in (1, 2, 3) for r in ("user", "assistant")]
    assert outline(session(agent).visible) == [
        ("user", "u1"),
        ("user", "ACCOUNT"),
        ("user", "u3"),
        ("assistant", "a3"),
        ("user", "u4"),
        ("assistant", "a4"),
    ]
    assert [t.startswith(STARTS) for t in told] == [True, False]
    assert KEPT in told[1]


@in_world(SMALL)
async def test_the_question_stands_behind_all_that_was_sent(world: World) -> None:
    talker = model([long("a1"), "a2", account("x"), "a3"])
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    await events_of(agent.compact())
    asked, before = talker.bodies[2], talker.bodies[1]
    tail = talker.codec.tail(talker.requests[1], talker.profile)
    assert asked.startswith(before.removesuffix(tail) + b",")
    assert [json.loads(b)["messages"][0] for b in (before, asked)] == [json.loads(before)["messages"][0]] * 2
    added = json.loads(asked)["messages"][len(json.loads(before)["messages"]) :]
    assert [m["role"] for m in added] == ["assistant", "user"]
    assert added[1]["content"].startswith("Write an account of this conversation so far")
    assert session(agent).usage.cache_read > 0


@in_world(SMALL)
async def test_nothing_leaves_the_store_and_all_is_still_found(world: World) -> None:
    talker = model([long("a1"), long("zebra"), long("a3"), account("x"), "a4"])
    agent = world.agent(talker)
    await say(agent, long("u1"), long("quagga"), long("u3"))
    before = await world.store.messages(agent.session_id)
    await events_of(agent.compact())
    after = await world.store.messages(agent.session_id)
    assert after[: len(before)] == before
    assert [(m.message.role, m.message.text) for m in after[len(before) :]] == [("user", "")]
    assert [e.reason for e in await world.store.epochs(agent.session_id)] == ["new session", "compaction"]
    for word in ("zebra", "quagga"):
        assert [h.session for h in await world.store.search(word)] == [agent.session_id]


@in_world(SMALL)
async def test_each_request_can_be_made_again_also_that_for_the_summary(world: World) -> None:
    talker = model([long("a1"), long("a2"), account("x"), "a3"])
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    await events_of(agent.compact())
    await say(agent, "u3")
    made = []
    for done in await world.store.calls(agent.session_id):
        fragments = (await world.store.fragments(agent.session_id, done.epoch))[: done.fragments]
        head, tail = [await world.store.blob(agent.session_id, d) for d in (done.head, done.tail)]
        made.append(head + b",".join(f.body for f in fragments) + tail)
    assert made == talker.bodies
    assert [c.stop for c in await world.store.calls(agent.session_id)] == ["end", "end", "aside", "end"]


def as_resumed(one: Session) -> dict[str, object]:
    names = ("record", "prompt", "tools", "visible", "fragments", "standing", "next_seq", "calls", "usage")
    inner = ("last_input", "answered", "_reason", "_chain", "_unsent")
    return {"known": one._books.known, **{name: getattr(one, name) for name in (*names, *inner)}}


@pytest.mark.parametrize("more", [0, 1, 2])
@pytest.mark.parametrize("codec", [None, AnthropicMessages()])
def test_a_resumed_session_is_the_same_and_goes_on_with_the_same_bytes(
    more: int, codec: object, tmp_path: object
) -> None:
    @in_world(SMALL)
    async def test(world: World) -> None:
        talker = model([long("a1"), long("a2"), account("x"), "b1", "b2", "c1", "c2"], codec=codec)
        agent = world.agent(talker, personality="pirate")
        await say(agent, long("u1"), long("u2"))
        await events_of(agent.compact())
        await say(agent, *["more"] * more)
        resumed = await Session.resume(world.store, agent.session_id, world.clock)
        assert as_resumed(resumed) == as_resumed(session(agent))
        again = world.agent(talker, agent.session_id, personality="pirate")
        await say(again, "go on", "and on")  # the scripted model fails when a byte moves
        assert len(talker.bodies) == 5 + more

    test(tmp_path)


@in_world(SMALL)
async def test_an_unrelated_task_follows_a_summary_that_only_tells(world: World) -> None:
    """L01: what was asked before the cut is history, the person's words come last."""
    talker = model([long("a1"), long("a2"), account("The person asked for task A."), "about B"])
    agent = world.agent(talker)
    await say(agent, long("Task-A"), long("more"))
    await events_of(agent.compact())
    assert await say_one(agent, "Task-B") == replace(
        TurnEnded("about B"), usage=(await world.store.calls(agent.session_id))[-1].usage, calls=1
    )
    sent = talker.requests[-1].messages
    assert outline(sent)[-3:] == [("user", "more"), ("assistant", "a2"), ("user", "Task-B")]
    told = next(m for m in sent if any(a.kind == "summary" for a in m.annex))
    assert told.sent.startswith(WRAPPING)
    assert told.text == ""


@in_world(SMALL)
async def test_after_a_finished_answer_nothing_runs(world: World) -> None:
    """L01: a summary alone starts no turn, neither now nor when the session is taken up again."""
    talker = model([long("a1"), long("a2"), account("The person asked for task A.")])
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    told = await events_of(agent.compact())
    again = await Session.resume(world.store, agent.session_id, world.clock)
    assert len(talker.requests) == 3
    assert [type(e).__name__ for e in told] == ["NoticeShown"] * 2
    assert outline(again.visible)[-1] == ("assistant", "a2")


@in_world(SMALL)
async def test_a_provider_that_fails_costs_nothing(world: World) -> None:
    """L02: three times overloaded; all is kept, people are told, then it rests until it must."""
    steps = [
        long("a1"),
        long("a2"),
        long("a3"),
        *[s for n in (4, 5, 6) for s in (failing(OVERLOADED), f"a{n}")],
    ]
    talker = model([*steps, "a7", failing(TOO_LONG), account("x"), "a8"], 15_000)
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"), long("u3"))
    session(agent).last_input = 14_000
    for n in (4, 5, 6):
        agent.compactor._rests_until = 0
        told = await say(agent, f"u{n}")
        session(agent).last_input = 14_000
        assert [OVERLOADED.args[0] in t and LOST in t for t in told] == [False, True]
    assert agent.compactor.failures == GIVE_UP
    agent.compactor._rests_until = 0
    assert await say(agent, "u7") == []
    expected = [(r, f"{r[0]}{n}") for n in range(1, 8) for r in ("user", "assistant")]
    assert outline(session(agent).visible) == expected
    told = await say(agent, "u8")
    assert [t.startswith(STARTS) for t in told] == [True, False]
    assert agent.compactor.failures == 0
    assert outline(session(agent).visible)[-2:] == [("user", "u8"), ("assistant", "a8")]


@in_world(SMALL)
async def test_after_a_failure_it_rests_until_the_conversation_has_grown(world: World) -> None:
    talker = model([long("a1"), long("a2"), failing(OVERLOADED), "a3", "a4", account("x"), "a5"], 10_000)
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    assert len(await say(agent, long("u3", 300))) == 2
    assert await say(agent, "u4") == []
    assert len(await say(agent, long("u5", 1000))) == 2


@in_world("compaction: {keep_tail: 1}\n")
async def test_a_summary_that_gains_nothing_is_not_taken(world: World) -> None:
    talker = model(["a1", "a2", account(long("x", 3000)), "a3"])
    agent = world.agent(talker)
    await say(agent, "u1", "u2")
    before = as_resumed(session(agent))
    told = notices(await events_of(agent.compact()))
    assert told[-1] == (
        "warning: the conversation was not summarised: the summary is hardly shorter than what it tells of; "
        "nothing of it is lost"
    )
    paid = ("calls", "usage", "known")
    after = as_resumed(session(agent))
    assert {k: v for k, v in after.items() if k not in paid} == {
        k: v for k, v in before.items() if k not in paid
    }
    await say(agent, "u3")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Step("", (call("look"),)), "the model gave no text"),
        (Step("Certainly, I go on with it now."), "the model wrote something else"),
        (Step(account("x"), stop="length"), "the summary was not finished"),
        (Step("no", stop="refused"), "the model refused"),
    ],
)
def test_an_answer_that_is_no_summary_is_not_taken(answer: Step, why: str, tmp_path: object) -> None:
    @in_world(SMALL)
    async def test(world: World) -> None:
        agent = world.agent(model([long("a1"), long("a2"), answer, "a3"]))
        await say(agent, long("u1"), long("u2"))
        told = notices(await events_of(agent.compact()))
        assert told[-1] == f"warning: the conversation was not summarised: {why}; nothing of it is lost"
        assert await say(agent, "u3") == []

    test(tmp_path)


@in_world(SMALL)
async def test_calls_beside_a_summary_are_not_run(world: World) -> None:
    talker = model([long("a1"), long("a2"), Step(account("x"), (call("look"),))])
    agent = world.agent(talker, tools=[reader()])
    await say(agent, long("u1"), long("u2"))
    await events_of(agent.compact())
    visible = session(agent).visible
    assert outline(visible)[1] == ("user", "ACCOUNT")
    assert not [m for m in visible if m.tool_calls or m.role == "tool"]


@in_world(SMALL)
async def test_what_was_stopped_leaves_the_session_as_it_was(world: World) -> None:
    gate = asyncio.Event()
    talker = model([long("a1"), long("a2"), Step(account("x"), gate=gate), "a3"])
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    before, stored = as_resumed(session(agent)), await world.store.messages(agent.session_id)
    work = asyncio.create_task(events_of(agent.compact()))
    while len(talker.requests) < 3:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert as_resumed(session(agent)) == before
    assert await world.store.messages(agent.session_id) == stored
    assert await say(agent, "u3") == []


class Failing(SqliteStore):
    """A store on a full disk, while `full`."""

    full = False

    async def commit(self, session_id: str, step: StoredStep) -> None:
        if self.full:
            raise StoreError("the disk is full")
        await super().commit(session_id, step)


@in_world(SMALL)
async def test_a_store_that_fails_meanwhile_gets_all_of_it_later(world: World) -> None:
    await world.store.close()
    world.store = store = Failing(world.store.path)
    talker = model([long("a1"), long("a2"), account("x"), "a3"])
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    store.full = True
    told = notices(await events_of(agent.compact()))
    assert [t for t in told if "the disk is full" in t] == [
        "error: this step is not saved yet (the disk is full); it is tried again with the next one"
    ]
    store.full = False
    assert await say(agent, "u3") == []
    resumed = await Session.resume(store, agent.session_id, world.clock)
    assert as_resumed(resumed) == as_resumed(session(agent))


@in_world(SMALL)
async def test_a_turn_that_is_stopped_while_it_makes_room_can_go_on(world: World) -> None:
    gate = asyncio.Event()
    talker = model([long("a1"), Step("", (call("look"),)), Step(account("x"), gate=gate), "a3"], 8_000)
    agent = world.agent(talker, tools=[reader(text=long("result", 3000))])
    await say(agent, long("u1"))
    work = asyncio.create_task(events_of(agent.run(TurnRequest("u2"))))
    while len(talker.requests) < 3:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert outline(session(agent).visible) == [
        ("user", "u1"),
        ("assistant", "a1"),
        ("user", "u2"),
        ("assistant", ""),
        ("tool", "result"),
        ("assistant", "[interrupted]"),
    ]
    resumed = await Session.resume(world.store, agent.session_id, world.clock)
    assert as_resumed(resumed) == as_resumed(session(agent))


@in_world(SMALL)
async def test_a_second_summary_takes_the_place_of_the_first(world: World) -> None:
    first, second = (
        account("The first."),
        f'{WRAPPING}\n\n<added kind="history">\n{account("Both.")}\n</added>',
    )
    talker = model([long("a1"), long("a2"), first, long("a3"), long("a4"), second, "a5"])
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    await events_of(agent.compact())
    await say(agent, long("u3"), long("u4"))
    await events_of(agent.compact())
    await say(agent, "u5")
    visible = session(agent).visible
    expected = [("user", "u1"), ("user", "ACCOUNT"), ("user", "u4"), ("assistant", "a4")]
    assert outline(visible) == [*expected, ("user", "u5"), ("assistant", "a5")]
    sent = "".join(m.sent for m in visible)
    assert sent.count(WRAPPING) == 1
    assert sent.count('<added kind="history">') == 1
    assert "Both." in sent
    assert "The first." not in sent
    assert [e.reason for e in await world.store.epochs(agent.session_id)][1:] == ["compaction", "compaction"]


@in_world(SMALL)
async def test_a_request_that_is_too_long_is_made_again_once(world: World) -> None:
    talker = model([long("a1"), long("a2", 300), failing(TOO_LONG), account("x"), "a3"], None)
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    ended = await say_one(agent, "u3")
    assert (ended.text, ended.reason) == ("a3", "done")
    assert outline(talker.requests[-1].messages) == [
        ("user", "u1"),
        ("user", "ACCOUNT"),
        ("assistant", "a2"),
        ("user", "u3"),
    ]
    spent = [c.usage for c in await world.store.calls(agent.session_id)][-2:]
    assert ended.usage == spent[0].plus(spent[1])


@in_world(SMALL)
async def test_a_request_that_stays_too_long_fails_and_loses_nothing(world: World) -> None:
    script = [long("a1"), long("a2"), failing(TOO_LONG), account("x"), failing(TOO_LONG), "a4"]
    agent = world.agent(model(script, None))
    await say(agent, long("u1"), long("u2"))
    told = await say(agent, "u3")
    assert told[-1] == "error: the request is too long"
    assert await say(agent, "u4") == []
    assert outline(session(agent).visible)[-4:] == [
        ("user", "u3"),
        ("assistant", "[interrupted]"),
        ("user", "u4"),
        ("assistant", "a4"),
    ]


@in_world(SMALL)
async def test_when_even_the_question_is_too_long_results_are_shortened_for_it(world: World) -> None:
    script = [Step("", (call("look"),)), long("a1"), "a2", failing(TOO_LONG), account("x")]
    talker = model(script)
    agent = world.agent(talker, tools=[reader()])
    await say(agent, "u1", "u2")
    told = notices(await events_of(agent.compact()))
    assert KEPT in told[-1]
    asked = json.loads(talker.bodies[-1])["messages"]
    result = next(m for m in asked if m["role"] == "tool")
    assert len(result["content"]) < 4000 < len(long("result-", 900))
    assert [c.stop for c in await world.store.calls(agent.session_id)] == [
        "tool_calls",
        "end",
        "end",
        "aside",
    ]


@in_world("compaction: {keep_tail: 3}\n")
async def test_in_the_middle_of_a_turn_the_question_stays_after_the_summary(world: World) -> None:
    steps = iter(Step("", (call("look", json.dumps({"what": str(n)}), f"c{n}"),)) for n in range(7))

    def answer(request: ModelRequest) -> Step | str:
        if request.session_id.endswith(":aside"):
            return account("It looked.")
        return next(steps, Step("done"))

    talker = model([answer] * 9)
    agent = world.agent(talker, tools=[reader()])
    ended = await say_one(agent, "Look-everywhere please")
    assert (ended.text, ended.reason) == ("done", "done")
    sent = [r.messages for r in talker.requests if not r.session_id.endswith(":aside")]
    before, after = next((a, b) for a, b in pairwise(sent) if outline(b)[0] == ("user", "ACCOUNT"))
    assert len(before) > 5
    assert outline(after) == [
        ("user", "ACCOUNT"),
        ("user", "Look-everywhere"),
        ("assistant", ""),
        ("tool", f"result-{len(before) // 2}"),
    ]


@in_world(SMALL)
async def test_where_nothing_is_old_long_results_are_shortened(world: World) -> None:
    """The very first step brings more than the window takes: there is nothing to tell of yet."""
    talker = model([Step("", (call("look"),)), "done"], 8_000)
    agent = world.agent(talker, tools=[reader(text=long("result", 6000))])
    ended = await say_one(agent, "u1")
    assert (ended.text, ended.reason) == ("done", "done")
    stored = [m.message for m in await world.store.messages(agent.session_id)]
    assert [m.text for m in stored if m.role == "tool"] == [long("result", 6000), ""]
    assert len(talker.bodies[-1]) < 20_000


@in_world(SMALL)
async def test_rules_outlive_two_summaries_word_for_word(world: World) -> None:
    """L04: of the context file in the prompt; hints, pins and skills beside the account, once each."""
    skill = "# Review\nAlways read the tests first.  \n"
    script = [Step("", (call("skill_view", '{"name":"review"}'),)), long("a1"), long("a2"), account("x")]
    talker = model([*script, long("a3"), long("a4"), account("y"), "a5"])
    agent = world.agent(talker, tools=[reader("skill_view", skill)])
    hint, pin = "Never touch gen/.\n", "Delete no data."

    agent.session = await agent._begin()
    agent.session_id = agent.session.record.id
    await say(agent, long("u1"))
    agent.session.append(Message("user", "u2", (Annex("pinned", pin), Annex("hint", hint))))
    await say(agent, long("u3"))
    await events_of(agent.compact())
    await say(agent, long("u4"), long("u5"))
    await events_of(agent.compact())
    await say(agent, "u6")
    request = talker.requests[-1]
    text = "".join((*request.system, *(m.sent for m in request.messages)))
    assert [text.count(rule) for rule in (hint, pin, skill, "Always run `make lint` before")] == [1, 1, 1, 1]
    assert [m.text for m in request.messages if m.role == "tool"] == []


@in_world(SMALL)
async def test_what_stands_is_said_again_and_what_ended_is_not(world: World) -> None:
    talker = model([long("a1"), long("a2"), long("a3"), account("x"), "a4"])
    agent = world.agent(talker, personality="pirate")
    await say(agent, long("u1"))
    agent.set_personality("noir")
    await say(agent, long("u2"), long("u3"))
    session(agent).stand({**session(agent).standing, PRESSURE: "80"})
    await events_of(agent.compact())
    told = session(agent).visible[1]
    assert [a.kind for a in told.annex] == ["summary", "personality"]
    assert set(session(agent).standing) == {"personality"}
    await say(agent, "u4")
    assert [a.kind for a in session(agent).visible[-2].annex] == ["clock"]


@in_world("compaction: {keep_tail: 2, keep_head: 0}\n")
async def test_what_could_not_be_read_any_more_is_said_again(world: World) -> None:
    talker = model([long("a1"), long("a2"), account("x"), "a3"])
    agent = world.agent(talker, personality="pirate")
    await say(agent, long("u1"), long("u2"))
    await events_of(agent.compact())
    texts = [m.sent for m in session(agent).visible]
    assert [("captain" in t) for t in texts] == [True, False, False]


@in_world(SMALL)
async def test_the_prompt_is_the_same_object_when_nothing_in_it_changed(world: World) -> None:
    talker = model([long("a1"), long("a2"), account("x"), "a3"])
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    before = session(agent).prompt
    await events_of(agent.compact())
    assert session(agent).prompt is before


@in_world(SMALL)
async def test_a_tool_that_came_late_is_there_from_then_on(world: World) -> None:
    talker = model([long("a1"), long("a2"), account("x"), "a3"])
    agent = world.agent(talker)
    await say(agent, long("u1"))
    agent.tools = {"look": reader()}
    await say(agent, long("u2"))
    await events_of(agent.compact())
    await say(agent, "u3")
    assert [[t.name for t in r.tools] for r in talker.requests] == [[], [], [], ["look"]]
    resumed = await Session.resume(world.store, agent.session_id, world.clock)
    assert resumed.tools == session(agent).tools


@in_world("compaction: {keep_tail: 3}\n")
async def test_a_late_tool_that_a_summary_brings_can_be_called_in_the_same_turn(world: World) -> None:
    steps = iter(Step("", (call("look", json.dumps({"what": str(n)}), f"c{n}"),)) for n in range(99))

    def answer(request: ModelRequest) -> Step | str:
        if request.session_id.endswith(":aside"):
            return account("It looked.")
        if "late" not in [t.name for t in request.tools]:
            return next(steps)
        if request.messages[-1].name != "late":
            return Step("", (call("late"),))
        return f"late said {request.messages[-1].text}"

    agent = world.agent(model([answer] * 20), tools=[reader()])
    await agent.stage("tools")  # a session begins
    agent.tools = {"look": reader(), "late": reader("late", "that it is here")}
    ended = await say_one(agent, "Look")
    assert (ended.text, ended.reason) == ("late said that it is here", "done")


@pytest.mark.parametrize("restored", [False, True])
def test_only_what_changed_is_different_in_the_prompt(restored: bool, tmp_path: object) -> None:
    """A23: also when the process that resumes knows the new memory from its beginning."""

    @in_world(SMALL)
    async def test(world: World) -> None:
        talker = model([long("a1"), long("a2"), account("x"), "a3", "a4"])
        agent = world.agent(talker)
        await say(agent, long("u1"))
        before = session(agent).prompt
        write(world.project.parent / "home" / "memories" / "MEMORY.md", "A new fact.\n")
        if restored:
            agent = world.agent(talker, agent.session_id)
        await say(agent, long("u2"))
        await events_of(agent.compact())
        after = session(agent).prompt
        changed = [a.slot for a, b in zip(after.sections, before.sections, strict=True) if a != b]
        assert changed == ["memory"]
        assert "A new fact." in after.text
        await say(agent, "u3", "u4")
        kinds = [[a.kind for a in m.annex] for m in session(agent).visible if m.role == "user"]
        assert kinds == [
            ["clock"],
            ["summary"],
            ["memory changed", "clock"],
            ["memory changed", "clock"],
            ["clock"],
        ]

    test(tmp_path)


@in_world("compaction:\n  keep_tail: 2\n  template: |\n    ## Facts\n    What is known.\n    ## Mood\n")
async def test_people_say_what_a_summary_must_tell(world: World) -> None:
    talker = model([long("a1"), long("a2"), "## Facts\nOne."])
    agent = world.agent(talker)
    await say(agent, long("u1"), long("u2"))
    told = notices(await events_of(agent.compact("the {facts}")))
    question = talker.requests[-1].messages[-1].text
    assert "## Facts\nWhat is known.\n## Mood" in question
    assert question.endswith("kept with special care: the {facts}")
    assert told[-1] == "warning: the summary has nothing under: Mood"


@in_world()
async def test_there_is_nothing_to_summarise_at_the_beginning(world: World) -> None:
    talker = model(["a1"])
    agent = world.agent(talker)
    await say(agent, "u1")
    assert notices(await events_of(agent.compact())) == [
        "warning: the conversation was not summarised: nothing in it is old enough to be summarised; "
        "nothing of it is lost"
    ]
    assert len(talker.requests) == 1


def test_the_threshold_counts_what_is_still_to_come(tmp_path: object) -> None:
    @in_world()
    async def test(world: World) -> None:
        talker = ScriptedModel(["a1"], profile=replace(PROFILE, context_window=100_000))
        agent = world.agent(talker)
        await say(agent, "u1")
        session(agent).last_input = 84_900
        due = [agent.compactor.due(session(agent), talker.profile, text) for text in ("", long("word", 200))]
        assert due == [False, True]

    test(tmp_path)
