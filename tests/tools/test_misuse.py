"""Whatever a model calls a tool with, it gets an answer: one it can act on, and never a failure of Hermes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.agent.approval import Approval
from hermes.agent.dispatch import MAX_CHARS, Step, run_calls
from hermes.arguments import ALIASES
from hermes.config import load_config
from hermes.memory.scope import OWNER, memory_files
from hermes.messages import Message, ToolCall, ToolSpec
from hermes.model_tools import builtin_tools, toolbox
from hermes.security.policy import Policies
from hermes.sessions.sqlite import SqliteStore
from hermes.tool_names import TOOL_NAMES
from hermes.tooling import Tool, ToolContext
from hermes.tools.delegate_tool import Errand, Report, delegate_tool
from hermes.turns import NoticeShown
from tests.world import make_home, make_project

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text("ab/.\\ \n\0\ud800é*$'\"", max_size=12)
    | st.sampled_from(["", ".", "..", "/", "~", "a.txt", "-1", "1e9", "[]", "null", "x" * 5000])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "status", "action", "content", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


class Bench:
    """All tools over one home and project, and a policy that lets ordinary work in the project be done."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = make_home(root / "home"), make_project(root / "project")
        (self.project / "a.txt").write_text("one\ntwo\n")
        self.store = SqliteStore(str(root / "sessions.db"))
        config = load_config(self.home)
        policies = Policies.from_config(config.security.scan, ())
        memory = memory_files(config.memory, OWNER, None)
        sends = delegate_tool(report, {"default": "does a task"}, 24_000)
        self.tools = toolbox(
            builtin_tools(self.home, config, policies, self.store, str(self.project), memory, (sends,))
        )
        self.approval = Approval(str(self.project), self.home.root, "auto", confine=True)

    def call(self, name: str, arguments: str) -> Message:
        """The result of one call. No notice may come: it would tell of a failure of ours."""

        async def whole() -> Message:
            step = Step.of((ToolCall("1", name, arguments),))
            context = ToolContext(cwd=str(self.project))
            async for event in run_calls(step, self.tools, context, self.approval.refusal):
                assert not isinstance(event, NoticeShown), event
            return step.messages()[0]

        return asyncio.run(whole())


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("misuse"))
    yield made
    for tool in made.tools.values():
        if tool.close is not None:
            asyncio.run(tool.close())
    asyncio.run(made.store.close())


async def report(errand: Errand, context: ToolContext) -> Report:
    """What a sub-agent would: it says its task back."""
    return Report(errand.label, errand.task)


NAMES = sorted(TOOL_NAMES)


def guesses(bench: Bench, name: str) -> list[str]:
    """The parameters of a tool, what models call them, and what it has none of."""
    known = list(json.loads(bench.tools[name].spec.parameters)["properties"])
    return [*known, *known, *(sorted(ALIASES[k])[0] for k in known if k in ALIASES), "zebra", ""]


def acceptable(result: Message) -> bool:
    result.text.encode()
    return bool(result.text.strip()) and len(result.text) <= MAX_CHARS + 500


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_wild_arguments_are_answered(bench: Bench, name: str, data: st.DataObject) -> None:
    given_ = data.draw(st.dictionaries(st.sampled_from(guesses(bench, name)), VALUES, max_size=5))
    assert acceptable(bench.call(name, json.dumps(given_)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"path": "a', "are not valid JSON"),
        ("[1, 2]", "must be one JSON object"),
        ("7", "must be one JSON object"),
        ("[" * 100_000, "are not valid JSON"),
        ('{"zebra": 1}', "has no argument 'zebra'"),
        ('{"arguments": {"zebra": 1}}', "has no argument 'zebra'"),
    ],
)
def test_what_is_no_call_at_all_is_answered(bench: Bench, name: str, arguments: str, said: str) -> None:
    result = bench.call(name, arguments)
    assert result.error
    assert said in result.text


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("read_file", {"file_path": "a.txt"}, "1\tone"),
        ("read_file", {"filename": "a.txt", "start_line": "2", "reason": "look"}, "2\ttwo"),
        ("read_file", {"arguments": {"path": "a.txt"}}, "1\tone"),
        ("read_file", {"path": 5}, "'path' must be a string"),
        ("read_file", {"path": "a.txt", "limit": "many"}, "'limit' must be an integer"),
        ("read_file", {"path": "a.txt", "limit": 1.0}, "1\tone\n[lines 1 to 1 of 2"),
        ("read_file", {"path": "a.txt", "offset": 10**400}, "is past its end"),
        ("read_file", {"path": "a.txt", "file": "b.txt"}, "has no argument 'file'"),
        ("terminal", {"cmd": "echo hi"}, "hi"),
        (
            "terminal",
            {"command": "echo hi", "timeout_ms": 5},
            "has no argument 'timeout_ms'; did you mean",
        ),
        ("write_file", {"file_path": "n.txt", "text": "x"}, "wrote n.txt"),
        ("write_file", {"path": "n.txt", "content": {"a": 1}}, "'content' must be a string"),
        ("write_file", {"path": "n.txt"}, "needs the argument 'content'"),
        ("patch", {"file": "n.txt", "old_str": "x", "newString": "y"}, "patched n.txt"),
        ("patch", {"path": "n.txt", "old_string": "\ud800", "new_string": ""}, "half a character"),
        ("search_files", {"regex": "two", "include": "*.txt", "dir": "."}, "a.txt:2:two"),
        ("search_files", {"query": "two", "output_mode": "content"}, "a.txt:2:two"),
        ("search_files", {"pattern": "two", "glob": "2024"}, "nothing matches 'two' in . that fit 2024"),
        ("search_files", {"pattern": "two", "glob": '["*.txt"]'}, "a.txt:2:two"),
        ("no_such_tool", {}, "there is no tool 'no_such_tool'; the tools are"),
    ],
)
def test_what_models_guess_is_understood_or_told(
    bench: Bench, name: str, arguments: object, said: str
) -> None:
    assert said in bench.call(name, json.dumps(arguments)).text


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": ["string", "null"]}, "5"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "5"),
        ({"type": "array"}, [1, {"a": 2}]),
        ({"type": "object"}, {"a": [1]}),
        ({}, "x"),
    ],
)
def test_schemas_of_others_are_not_read_into(schema: object, value: object) -> None:
    async def run(context: ToolContext, **arguments: object) -> str:
        return json.dumps(arguments)

    whole = {"type": "object", "properties": {"v": schema}}
    tool = Tool(ToolSpec("far", "Far.", json.dumps(whole)), run)
    assert json.loads(asyncio.run(tool.call(json.dumps({"v": value}), ToolContext()))) == {"v": value}
    assert tool.read('{"other": null}') == {"other": None}
