"""Memory in a conversation: what is written moves no prompt, and is seen where it was said it would be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.commands import Conversation, answer
from hermes.config import Config
from hermes.memory.entries import ids
from hermes.memory.scope import OWNER, MemoryScope, memory_files
from hermes.messages import ToolCall
from hermes.paths import Home
from hermes.providers.scripted import Step, call
from hermes.security.policy import Policies
from hermes.tools.memory_tool import memory_tool
from tests.agent.conftest import play
from tests.agent.talk import Talk

__all__ = ["play"]

Play = Callable[..., Talk]


def asks(call_id: str, **arguments: str) -> ToolCall:
    return call("memory", json.dumps(arguments), call_id)


@pytest.fixture
def tools(tmp_path: Path) -> list[object]:
    return [memory_tool(Home(str(tmp_path / "home")), memory_files(Config().memory, OWNER), Policies())]


def test_writes_in_a_session_leave_its_prompt_alone(play: Play, tools: list[object]) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("hello")
        frozen = talk.agent.session.prompt if talk.agent.session else None
        for turn in range(3):
            await talk.say(f"turn {turn}")
        assert talk.agent.session
        assert talk.agent.session.prompt is frozen
        assert {r.system for r in talk.model.requests} == {talk.model.requests[0].system}
        results = [m["content"] for m in talk.last_messages() if m["role"] == "tool"]
        assert [r.split(" [")[0] for r in results] == ["added", "added", "replaced"]
        assert len(max(results, key=len)) < 400  # an edit does not echo the whole memory
        told = "\n".join(str(m["content"]) for m in talk.last_messages() if m["role"] == "user")
        assert told.count("+- Deploys on Thursday") == 1

        fresh = talk.new_agent()
        talk.agent = fresh
        await talk.say("a new session")
        assert "- Deploys on Thursday" in str(talk.last_messages()[0]["content"])

    add = asks("c1", action="add", content="Deploys on Friday")
    more = asks("c2", action="add", content="Builds run nightly")
    change = asks("c3", action="replace", entry="Friday", content="Deploys on Thursday")
    play(scene, ["hi", Step(calls=(add, more, change)), "done", "ok", "ok", "yes"], tools)


def test_what_was_written_can_be_read_at_once(play: Play, tools: list[object]) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("remember and tell")
        results = [m["content"] for m in talk.last_messages() if m["role"] == "tool"]
        assert f"[{ids(['Likes tea'])[0]}] Likes tea" in results[1]

    add = asks("c1", action="add", target="user", content="Likes tea")
    read = asks("c2", action="read")
    play(scene, [Step(calls=(add,)), Step(calls=(read,)), "done"], tools)


def test_the_person_sees_and_changes_it(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        conversation = Conversation(talk.agent)
        listed = await answer(conversation, "/memory")
        assert listed.startswith("memory: 4 entries, ")
        name = ids(["Default editor is nvim"])[0]
        assert f"[{name}] Default editor is nvim" in listed
        assert (await answer(conversation, f"/memory remove {name}")).startswith(f"remove [{name}]")
        assert (await answer(conversation, "/memory undo")).startswith(f"add [{name}]")
        assert await answer(conversation, "/memory") == listed
        assert (await answer(conversation, "/memory add user Likes tea")).startswith("add [")
        assert "[" + ids(["Likes tea"])[0] in await answer(conversation, "/memory")
        assert "Not done: [" in await answer(conversation, "/memory add the default editor is nvim")
        assert (await answer(conversation, "/memory remove x")).startswith("No entry has the id x")
        assert (await answer(conversation, "/memory eat")).startswith("Say /memory")

    play(scene)


def test_a_face_says_whose_memory_it_is(play: Play) -> None:
    async def scene(talk: Talk) -> None:
        stranger = MemoryScope("direct", "telegram", user="7")
        talk.agent = talk.new_agent(memory_scope=stranger)
        await talk.say("hello")
        assert talk.agent.session
        assert "Alice" not in talk.agent.session.prompt.text
        conversation = Conversation(talk.agent)
        assert (await answer(conversation, "/memory")).startswith("memory (user): 0 entries")
        await answer(conversation, "/memory add A fact of theirs")
        await talk.say("again")
        assert "A fact of theirs" in str(talk.last_messages()[-1]["content"])
        talk.agent = talk.new_agent(memory_scope=MemoryScope("group", "telegram", room="1"))
        await talk.say("in a group")
        assert talk.agent.session
        assert "A fact of theirs" not in talk.agent.session.prompt.text

    play(scene, ["ok"] * 3)
