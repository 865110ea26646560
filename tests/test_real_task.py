"""A real task from the first word to the commit: the scripted model, every other part as it is.

Over a small git repository: plan, search, read, run the tests, patch, run them again, remember, view a skill,
hand over a part, ask, commit, and go on in another process. The byte oracle holds throughout.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hermes.messages import ToolCall
from hermes.prompt import WorkDir
from hermes.providers.scripted import ScriptedModel, Step
from hermes.run_agent import AgentOptions, AIAgent
from hermes.sessions.sqlite import SqliteStore
from hermes.turns import NoticeShown, Question, ToolFinished, TurnEnded, TurnRequest
from tests.agent.conftest import assert_append_only
from tests.agent.talk import Ticking
from tests.world import make_home, sources, write

CART = "def total(prices, discount=0):\r\n    whole = sum(prices)\r\n    return whole + whole * discount\r\n"
TESTS = """\
import unittest

from shop.cart import total


class TotalTest(unittest.TestCase):
    def test_discount(self):
        self.assertEqual(total([10, 10], 0.5), 10)
"""
UNITTEST = f"{sys.executable} -m unittest -q 2>&1"
BUG = "return whole + whole * discount"
MENDED = "return whole - whole * discount"
PLAN = [{"text": "find the bug", "status": "in_progress"}, {"text": "mend it"}, {"text": "commit"}]


def make_repository(root: Path) -> Path:
    write(root / "AGENTS.md", "A shop. Run the tests before you commit.\n")
    write(root / "shop/AGENTS.md", "Money is never rounded here.\n")
    write(root / "shop/__init__.py", "")
    (root / "shop/cart.py").write_bytes(CART.encode())
    write(root / "test_cart.py", TESTS)
    write(root / ".gitignore", "__pycache__/\nbuild/\n")
    write(root / "build/cart.py", "def total(): ...\n")
    for command in (
        "init -q -b main",
        "config user.name A",
        "config user.email a@example.org",
        "config commit.gpgsign false",
        "add .",
        "commit -q -m begin",
    ):
        git(root, *command.split())
    return root


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def use(name: str, number: int, /, **arguments: Any) -> Step:
    return Step(calls=(ToolCall(f"call_{number}", name, json.dumps(arguments)),))


FIRST = [
    use("todo", 1, items=PLAN),
    use("search_files", 2, pattern="def total"),
    Step(
        calls=(
            ToolCall("call_3", "read_file", '{"file_path": "shop/cart.py"}'),
            ToolCall("call_4", "read_file", '{"path": "test_cart.py", "offset": 6}'),
        )
    ),
    use("terminal", 5, command=UNITTEST),
    use("patch", 6, path="shop/cart.py", old_string="return  whole + whole*discount", new_string=MENDED),
    use("patch", 7, path="shop/cart.py", old_string=BUG, new_string=MENDED),
    use("terminal", 8, command=UNITTEST),
    use("memory", 9, action="add", content="The shop's tests run with python -m unittest"),
    use("skill_view", 10, name="code-review"),
    use("delegate_task", 11, task="Read shop/cart.py and say whether discount is subtracted."),
    use("read_file", 12, path="shop/cart.py"),  # the sub-agent's first call
    "It is subtracted.",  # and its report
    use("clarify", 13, question="Which message for the commit?", choices=["Mend total", "Fix"]),
    use("terminal", 14, command="git push --force"),
    "The bug is mended; the commit is left.",
]
SECOND = [
    use("todo", 15),
    use(
        "terminal",
        16,
        command="git commit -qam 'Mend total'; git status -s",
    ),
    use("todo", 17, items=[{**item, "status": "completed"} for item in PLAN]),
    "Done.",
]


class Person:
    """Lets ordinary work be done, and nothing be forced."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, question: Question) -> str:
        self.asked.append((question.kind, question.detail or question.text))
        if question.kind == "clarify":
            return question.choices[0]
        return "no" if "Careful" in question.text else "session"


class Desk:
    """A home, a repository, a store and a model that goes through both turns."""

    def __init__(self, root: Path, store: SqliteStore) -> None:
        self.home = make_home(root / "home")
        self.repository = make_repository(root / "repository")
        self.store = store
        self.person = Person()
        self.model = ScriptedModel([*FIRST, *SECOND])
        self.clock = Ticking()
        self.results: dict[str, ToolFinished] = {}

    async def turn(self, text: str, session_id: str = "") -> AIAgent:
        """One turn of an agent that another process might have made."""
        agent = AIAgent(
            sources(self.home),
            self.store,
            self.model,
            cwd=WorkDir(str(self.repository)),
            session_id=session_id,
            ask=self.person,
            options=AgentOptions(clock=self.clock, ephemeral_system_prompt=""),
        )
        async for event in agent.run(TurnRequest(text)):
            assert not (isinstance(event, NoticeShown) and event.notice.level == "error"), event
            if isinstance(event, ToolFinished):
                self.results[event.call.id] = event
            if isinstance(event, TurnEnded):
                assert event.reason == "done"
        await agent.close()
        return agent

    def answer(self, number: int) -> str:
        return self.results[f"call_{number}"].result


def test_a_real_task(tmp_path: Path) -> None:
    async def whole() -> Desk:
        store = SqliteStore(str(tmp_path / "sessions.db"))
        try:
            desk = Desk(tmp_path, store)
            agent = await desk.turn("The discount is wrong. Mend it and commit.")
            await desk.turn("Go on.", agent.session_id)
            return desk
        finally:
            await store.close()

    desk = asyncio.run(whole())
    assert_append_only(desk.model)

    assert desk.answer(2) == "shop/cart.py:1:def total(prices, discount=0):"
    assert desk.answer(3) == f"1\tdef total(prices, discount=0):\n2\t    whole = sum(prices)\n3\t    {BUG}"
    assert "FAILED (failures=1)" in desk.answer(5)
    assert desk.results["call_6"].error
    assert f"line 3 is most like it: {BUG!r}" in desk.answer(6)
    assert f"-    {BUG}\n+    {MENDED}" in desk.answer(7)
    assert desk.answer(8).endswith("OK")
    assert (desk.repository / "shop/cart.py").read_bytes() == CART.replace(BUG, MENDED).encode()
    assert "The shop's tests run with python -m unittest" in Path(desk.home.memories, "MEMORY.md").read_text()
    assert desk.answer(10) == "# code-review"
    assert "It is subtracted." in desk.answer(11)
    assert desk.answer(13) == "The user answers: Mend total"
    assert desk.answer(14).startswith("[not run: the user said no.")
    assert desk.answer(15) == "0 of 3 done\n[>] find the bug\n[ ] mend it\n[ ] commit"
    assert desk.answer(16) == "(no output)"
    assert desk.answer(17).startswith("3 of 3 done")
    assert git(desk.repository, "log", "--format=%s", "--name-only").split() == [
        "Mend", "total", "shop/cart.py", "begin", ".gitignore", "AGENTS.md", "shop/AGENTS.md",
        "shop/__init__.py", "shop/cart.py", "test_cart.py",
    ]  # fmt: skip

    commands = [detail for kind, detail in desk.person.asked if kind == "approval"]
    assert commands[0] == UNITTEST
    assert commands[1].startswith("--- shop/cart.py")
    assert commands[2] == "git push --force"
    assert [kind for kind, _ in desk.person.asked].count("clarify") == 1

    last = desk.model.requests[-1]
    told = [m.call_id for m in last.messages if "Money is never rounded here." in m.sent]
    assert told == ["call_3"]  # the first call that went into the folder, and no other
    assert "Run the tests before you commit." in "".join(last.system)
    ours = [request for request in desk.model.requests if request.session_id == last.session_id]
    assert all((request.system, request.tools) == (last.system, last.tools) for request in ours)
    assert len(desk.model.requests) - len(ours) == 2  # those of the sub-agent
