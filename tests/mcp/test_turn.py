"""Servers in a conversation: the list is frozen with the session, what changes is staged and told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hermes.agent.extensions import Extensions
from hermes.providers.scripted import Step, call
from hermes.turns import NoticeShown, ToolFinished
from tests.agent.talk import Talk
from tests.mcp.world import fleet, http_server, web

Play = Callable[..., Talk]


def tools(body: bytes) -> list[str]:
    listed: list[dict[str, Any]] = json.loads(body)["tools"]
    return [t["function"]["name"] for t in listed]


def notices(talk: Talk) -> list[str]:
    return [e.notice.text for e in talk.events if isinstance(e, NoticeShown)]


def test_a_conversation_over_a_restart_and_a_changed_list(play: Play, tmp_path: Path) -> None:
    with http_server() as url:

        def extend(talk: Talk, folder: str) -> None:
            talk.agent = talk.new_agent(talk.agent.session_id, approval="yolo")
            made, _ = fleet(tmp_path / folder, a=web(url, tools=("add", "grow", "born", "much")))
            talk.agent.extensions = Extensions(fleet=made)

        async def scene(talk: Talk) -> None:
            extend(talk, "one")
            assert await talk.say("What is 2 and 3?") == "five"
            (result,) = [e.result for e in talk.events if isinstance(e, ToolFinished)]
            assert result == "5"
            await talk.say("Grow.")
            assert talk.agent.extensions.fleet is not None
            connection = talk.agent.extensions.fleet.connections["a"]
            while connection.version < 2:
                await talk.agent.extensions.fleet.lane.wait(lambda: None, 5)
            await talk.say("And now?")
            assert any("(new: mcp__a__born; gone: mcp__a__much)" in t for t in notices(talk))
            assert any(t.startswith("mcp__a__born came after this session began") for t in notices(talk))
            await talk.agent.close()
            extend(talk, "two")
            assert await talk.say("What is 3 and 4?") == "seven"
            assert [e.result for e in talk.events if isinstance(e, ToolFinished)] == ["7"]
            await talk.agent.refresh()
            await talk.say("At last?")
            await talk.agent.close()

        script = [
            Step(calls=(call("mcp__a__add", '{"a": 2, "b": 3}', "c1"),)),
            "five",
            Step(calls=(call("mcp__a__grow", "{}", "c2"),)),
            "grown",
            "yes",
            Step(calls=(call("mcp__a__add", '{"a": 3, "b": 4}', "c3"),)),
            "seven",
            "there",
        ]
        talk = play(scene, script)
    before = ["mcp__a__add", "mcp__a__grow", "mcp__a__much"]
    assert [tools(body) for body in talk.model.bodies[:-1]] == [before] * 7
    assert tools(talk.model.bodies[-1]) == ["mcp__a__add", "mcp__a__born", "mcp__a__grow"]
    system = json.loads(talk.model.bodies[0])["messages"][0]["content"]
    assert (
        system.index("# Project Context") < system.index("# Tool Servers") < system.index("Use add for sums.")
    )
    assert system.index("Use add for sums.") < system.index("## Persistent Memory")


def test_a_server_cannot_say_of_itself_that_it_is_harmless(play: Play, tmp_path: Path) -> None:
    with http_server() as url:
        made, _ = fleet(tmp_path, a=web(url))

        async def scene(talk: Talk) -> None:
            talk.agent.extensions = Extensions(fleet=made)
            await talk.say("What is 2 and 3?")
            (result,) = [e.result for e in talk.events if isinstance(e, ToolFinished)]
            assert "needs a person's approval" in result
            await talk.agent.close()

        play(scene, [Step(calls=(call("mcp__a__add", '{"a": 2, "b": 3}'),)), "I may not."])


def test_a_server_that_is_away_breaks_nothing(play: Play, tmp_path: Path) -> None:
    made, _ = fleet(tmp_path, a={"url": "http://127.0.0.1:9/mcp"})

    async def scene(talk: Talk) -> None:
        talk.agent.extensions = Extensions(fleet=made)
        assert await talk.say("Hello?") == "hello"
        (text,) = notices(talk)
        assert text.startswith("the MCP server a failed")
        await talk.agent.close()

    play(scene, ["hello"])
