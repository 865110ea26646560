"""todo: the list lives in the conversation, and comes back from there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes.providers.scripted import Step, call
from hermes.sessions.sqlite import SqliteStore
from hermes.tooling import ToolContext, ToolError
from hermes.tools.todo_tool import todo_tool
from tests.agent.conftest import assert_append_only
from tests.agent.talk import Talk

LIST = [
    {"text": "read the tests", "status": "done"},
    {"text": "mend it", "status": "in_progress"},
    {"text": "tell"},
]
SHOWN = "1 of 3 done\n[x] read the tests\n[>] mend it\n[ ] tell"


def in_store(tmp_path: Path, scene: Callable[[SqliteStore], Any]) -> Any:
    async def whole() -> Any:
        store = SqliteStore(str(tmp_path / "s.db"))
        try:
            return await scene(store)
        finally:
            await store.close()

    return asyncio.run(whole())


def give(tmp_path: Path, arguments: Any) -> str:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return in_store(tmp_path, lambda store: todo_tool(store).call(text, ToolContext()))  # type: ignore[no-any-return]


def test_the_list_is_shown_as_it_was_given(tmp_path: Path) -> None:
    assert give(tmp_path, {"items": LIST}) == SHOWN
    assert give(tmp_path, {"items": []}) == give(tmp_path, {}) == "the list is empty"


@pytest.mark.parametrize(
    "guess",
    [
        {"todos": [{"content": "a b", "status": "completed"}]},
        {"items": [{"task": "a b", "state": "Done"}]},
        {"items": json.dumps([{"text": "a\nb", "status": "done", "id": 1}]).replace(', "id": 1', "")},
        {"arguments": {"items": [{"text": "a b", "status": "DONE"}]}},
    ],
)
def test_what_models_guess_is_understood(tmp_path: Path, guess: object) -> None:
    assert give(tmp_path, guess) == "1 of 1 done\n[x] a b"
    assert give(tmp_path, {"items": ["a b"]}) == "0 of 1 done\n[ ] a b"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"items": [{"status": "done"}]}, r"'items\[0\]' needs 'text': What is to be done"),
        (
            {"items": [{"text": "a", "status": "soon"}]},
            r"'items\[0\].status' must be one of pending, in_progress",
        ),
        ({"items": [5]}, r"'items\[0\]' must be an object with text, status"),
        ({"items": [{"text": " "}]}, "item 1 has no text"),
        ({"items": [{"text": "x" * 501}]}, "item 1 is longer than 500"),
        ({"items": [{"text": "x"}] * 101}, "too many to follow"),
        ({"items": [{"text": "a", "owner": "me"}]}, "has no argument 'owner'; it takes text, status"),
        ({"items": [{"text": "\ud800"}]}, "half a character"),
    ],
)
def test_a_wrong_list_is_answered(tmp_path: Path, wrong: object, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        give(tmp_path, wrong)


def test_the_list_survives_a_restart_and_never_stands_in_the_prompt(tmp_path: Path) -> None:
    async def scene(store: SqliteStore) -> None:
        steps = [
            Step(calls=(call("todo", json.dumps({"items": LIST})),)),
            "planned",
            Step(calls=(call("todo", json.dumps({"items": [{"text": "x", "status": "no"}]}), "bad"),)),
            "oh",
            Step(calls=(call("todo", "{}", "again"),)),
            "there it is",
        ]
        talk = Talk(tmp_path, store, steps, [todo_tool(store)])
        await talk.say("plan")
        await talk.say("and")
        talk.restart()
        await talk.say("where were we?")
        assert [m["content"] for m in talk.last_messages() if m["role"] == "tool"][::2] == [SHOWN, SHOWN]
        assert talk.agent.session is not None
        assert "mend it" not in talk.agent.session.prompt.text
        assert_append_only(talk.model)

    in_store(tmp_path, scene)
