"""Real servers: what they offer and answer, and what becomes of the slow, the dead and the poisoned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes.mcp.fleet import Fleet
from hermes.mcp.offer import LONGEST, MAX_RESULT
from hermes.messages import ToolSpec
from hermes.tooling import ToolContext, ToolError
from tests.mcp.demo import ATTACK
from tests.mcp.world import KEY, called, fleet, http_server, stdio, tool, using, web


def told(made: Fleet) -> list[str]:
    return [n.text for n in made.told()]


class TestStdio:
    def test_a_process_is_started_asked_and_started_anew_when_it_died(self, tmp_path: Path) -> None:
        env = {"SECRET": "${TOKEN}", "PLAIN": "yes"}
        made, notices = fleet(tmp_path, {"TOKEN": "tok-12345"}, a=stdio(env=env))
        assert notices == ()

        async def use(made: Fleet) -> None:
            assert told(made) == []
            assert await called(made, "mcp__a__environment", '{"name": "PLAIN"}') == "PLAIN=yes"
            assert await called(made, "mcp__a__environment", '{"name": "SECRET"}') == "SECRET=***"
            with pytest.raises(ToolError, match="died during this call, so it is not known whether it took"):
                await called(made, "mcp__a__die")
            assert told(made) == [
                "the MCP server a is gone: it died during a call; a call of its tools starts it anew"
            ]
            assert await called(made, "mcp__a__add", '{"a": 2, "b": 3}') == "5"
            assert told(made) == []

        using(made, use)

    def test_a_slow_one_is_told_of_and_comes_later(self, tmp_path: Path) -> None:
        ready = tmp_path / "ready"
        slow = stdio("--slow", str(ready), tools=("add",))
        bad = stdio("--fail", "no licence for tok-12345", env={"KEY": "tok-12345"}, cwd=str(tmp_path))
        made, _ = fleet(tmp_path, slow=slow, bad=bad, missing={"command": "/no/such"}, start_timeout=1.5)

        async def use(made: Fleet) -> None:
            assert made.tools == ()
            assert sorted(told(made)) == [
                "the MCP server bad failed: Connection closed; it last said: no licence for ***; "
                "a call of its tools tries again",
                "the MCP server missing failed: [Errno 2] No such file or directory: '/no/such'; "
                "a call of its tools tries again",
                "the MCP server slow has not answered within 1.5 s; its tools come at the next boundary "
                "after it does (a new session, /refresh, /compress)",
            ]
            ready.touch()
            await made.lane.wait(made.connections["slow"].connect, 30)
            assert [t.spec.name for t in made.tools] == ["mcp__slow__add"]
            late = made.late(ToolSpec("mcp__bad__x", "", "{}"))
            assert late is not None
            with pytest.raises(ToolError, match="the MCP server bad failed"):
                await late.call("{}", ToolContext())
            assert made.late(ToolSpec("terminal", "", "{}")) is None

        using(made, use)


class TestHttp:
    def test_tools_of_several_servers_in_one_order(self, tmp_path: Path) -> None:
        with http_server() as url:
            off = {**stdio(), "enabled": False}
            made, _ = fleet(tmp_path, b=web(url, tools=("picture", "add")), a=web(url), off=off)

            async def use(made: Fleet) -> None:
                assert told(made) == []
                names = [t.spec.name for t in made.tools]
                assert names == sorted(names)
                assert names[:2] == ["mcp__a__add", "mcp__a__environment"]
                assert names[-2:] == ["mcp__b__add", "mcp__b__picture"]
                odd = next(n for n in names if "odd" in n)
                assert (len(odd), odd.isascii()) == (LONGEST, True)
                assert await called(made, odd) == "odd indeed"
                one, other = tool(made, "mcp__a__add"), tool(made, "mcp__a__grow")
                assert (one.parallel, one.effects, other.parallel) == (True, True, False)
                assert one.spec.description == "Add two numbers."
                schema = json.loads(one.spec.parameters)
                assert one.spec.parameters == json.dumps(schema, sort_keys=True, separators=(",", ":"))
                both = "## a\n\nUse add for sums.\n\n## b\n\nUse add for sums."
                assert made.instructions().endswith(both)

            using(made, use)

    def test_answers(self, tmp_path: Path) -> None:
        with http_server() as url:
            made, _ = fleet(tmp_path, a=web(url), call_timeout=2.0)

            async def use(made: Fleet) -> None:
                assert await called(made, "mcp__a__picture") == (
                    "[image, image/png, 9 bytes: it cannot be shown here]\na picture"
                )
                much = await called(made, "mcp__a__much", f'{{"n": {MAX_RESULT + 1000}}}')
                assert len(much) < MAX_RESULT + 100
                assert "[… 1,000 characters are left out]" in much
                for arguments, reason in (
                    ('{"a": "x"}', "a\n  Input should be a valid integer"),
                    ("[1]", "must be one JSON object"),
                    ("{", "are not valid JSON"),
                ):
                    with pytest.raises(ToolError, match=reason):
                        await called(made, "mcp__a__add", arguments)
                with pytest.raises(ToolError, match="timed out"):
                    await called(made, "mcp__a__hang")

            using(made, use)

    def test_a_changed_list_is_pending(self, tmp_path: Path) -> None:
        with http_server() as url:
            made, _ = fleet(tmp_path, a=web(url))

            async def use(made: Fleet) -> None:
                before = made.connections["a"].version
                assert made.tools
                assert await called(made, "mcp__a__grow") == "grown"
                while made.connections["a"].version == before:
                    await made.lane.wait(lambda: None, 5)
                assert "mcp__a__born" in {t.spec.name for t in made.tools}
                assert told(made) == [
                    "the tools of the MCP server a have changed (new: mcp__a__born; gone: mcp__a__much); "
                    "that counts from the next boundary on (a new session, /refresh, /compress)"
                ]

            using(made, use)

    def test_poison_is_left_out_and_told(self, tmp_path: Path) -> None:
        with http_server(ATTACK, poisoned=True) as bad, http_server("x" * 3_000) as long:
            made, _ = fleet(tmp_path, a=web(bad), b=web(long))

            async def use(made: Fleet) -> None:
                names = {t.spec.name for t in made.tools}
                assert ("mcp__a__add" in names, "mcp__a__poisoned_tool" in names) == (True, False)
                instructions = made.instructions()
                assert "ZEBRA" not in instructions
                assert "## b\n\n" + "x" * 2_000 + " […]" in instructions
                texts = told(made)
                assert "the tool mcp__a__poisoned_tool of the MCP server a was left out" in texts
                assert any(t.startswith("the instructions of the MCP server a was blocked") for t in texts)
                assert "the instructions of the MCP server b were cut: 2,000 of 3,000 characters" in texts

            using(made, use)

    def test_a_frozen_tool_connects_when_it_is_called(self, tmp_path: Path) -> None:
        with http_server() as url:
            made, _ = fleet(
                tmp_path, {"K": KEY.split()[1]}, a=web(url, headers={"Authorization": "Bearer ${K}"})
            )

            async def use(made: Fleet) -> None:
                late = made.late(ToolSpec("mcp__a__add", "", "{}"))
                assert late is not None
                assert await late.call('{"a": 2, "b": 3}', ToolContext()) == "5"
                gone = made.late(ToolSpec("mcp__a__gone", "", "{}"))
                assert gone is not None
                with pytest.raises(ToolError, match="no longer has the tool mcp__a__gone"):
                    await gone.call("{}", ToolContext())

            using(made, use, start=False)

    def test_the_wrong_key_is_not_shown(self, tmp_path: Path) -> None:
        with http_server() as url:
            made, _ = fleet(tmp_path, web=web(url, headers={"Authorization": "Bearer wrong-key-77"}))

            async def use(made: Fleet) -> None:
                (text,) = told(made)
                assert "the MCP server web failed" in text
                assert "wrong-key-77" not in text

            using(made, use)

    def test_one_that_went_away_answers_so_and_is_connected_again(self, tmp_path: Path) -> None:
        with http_server() as url:
            made, _ = fleet(
                tmp_path, web=web(url), nobody={"url": "http://127.0.0.1:9/mcp"}, start_timeout=10.0
            )

            async def use(made: Fleet) -> None:
                (text,) = told(made)
                assert text.startswith("the MCP server nobody failed: ")
                connection = made.connections["web"]
                await made.lane.wait(connection.close, 10)
                assert not connection.up
                assert await called(made, "mcp__web__add", '{"a": 1, "b": 1}') == "2"

            using(made, use)
