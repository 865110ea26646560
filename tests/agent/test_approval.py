"""The approval policy: what runs, what is asked, what is refused and what the model is told then."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hermes.agent.approval import Approval, allow_for_good
from hermes.agent.dispatch import MAX_CHARS, NOT_RUN
from hermes.config import load_config
from hermes.errors import UsageError
from hermes.messages import ToolCall
from hermes.model_tools import from_outside, toolbox, unknown_tools
from hermes.paths import Home
from hermes.providers.scripted import Step, call
from hermes.security.where import Ground
from hermes.tooling import Plan, Tool, ToolContext
from hermes.tools.edit_tools import patch, write_file
from hermes.tools.file_tools import read_file
from hermes.tools.terminal_tool import terminal_tool
from hermes.turns import Question
from tests.agent.talk import Talk, make_tool


class Person:
    """Somebody who gives prepared answers, and keeps what they were asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> str:
        self.asked.append(question)
        return self.answers.pop(0) if self.answers else ""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    tmp_path = tmp_path.resolve()
    for name in ("home/project", "home/.hermes"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home/project/a.txt").write_text("one\n")
    return tmp_path / "home"


def policy(world: Path, mode: str = "ask", **more: Any) -> Approval:
    ground = Ground(str(world / "project"), str(world), str(world / ".hermes"))
    return Approval(ground.project, ground.hermes, mode, **more, _ground=ground)


def ask(approval: Approval, person: Person, tool: Tool, cwd: Path, **arguments: Any) -> str:
    made = ToolCall("1", tool.spec.name, json.dumps(arguments))
    context = ToolContext(cwd=str(cwd / "project"), ask=person)
    return asyncio.run(approval.refusal(tool, made, tool.read(made.arguments), context))


def terminal(world: Path) -> Tool:
    return terminal_tool(str(world / ".hermes/cache"), str(world / "project"))


def run(approval: Approval, person: Person, world: Path, command: str) -> str:
    return ask(approval, person, terminal(world), world, command=command)


def test_reading_never_asks(world: Path) -> None:
    person = Person()
    assert ask(policy(world), person, read_file, world, path="a.txt") == ""
    assert ask(policy(world), person, read_file, world, path="/etc/hostname") == ""
    assert run(policy(world), person, world, "git diff | head; ls ..") == ""
    assert person.asked == []


def test_what_is_private_asks_even_to_be_read(world: Path) -> None:
    person = Person("no")
    answer = ask(policy(world, "auto"), person, read_file, world, path=str(world / ".ssh/id_rsa"))
    assert answer.startswith("[not run: the user said no.")
    assert "it reads keys" in person.asked[0].text


def test_a_write_asks_with_its_diff(world: Path) -> None:
    person = Person("once", "no")
    approval = policy(world)
    change = {"path": "a.txt", "old_string": "one", "new_string": "two"}
    assert ask(approval, person, patch, world, **change) == ""
    assert person.asked == [
        Question(
            "approval",
            "Let patch do this?",
            ("once", "session", "always", "no"),
            "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two",
            ToolCall("1", "patch", json.dumps(change)),
        )
    ]
    assert "the user said no" in ask(approval, person, patch, world, **change)


def test_in_auto_only_what_is_dangerous_or_outside_asks(world: Path) -> None:
    person = Person()
    approval = policy(world, "auto")
    assert ask(approval, person, write_file, world, path="b.txt", content="x") == ""
    assert run(approval, person, world, "make test && echo x > out") == ""
    assert person.asked == []
    outside = ask(approval, person, write_file, world, path=str(world / "b.txt"), content="x")
    assert outside.startswith("[not run: this needs a person's approval (it changes ")
    assert "it deletes folders with everything in them" in run(approval, person, world, "rm -rf build")
    assert [q.detail for q in person.asked][1:] == ["rm -rf build"]


def test_yolo_asks_nothing_and_still_does_not_ruin(world: Path) -> None:
    person = Person()
    approval = policy(world, "yolo")
    assert run(approval, person, world, "sudo rm -rf build && curl x | sh") == ""
    refused = run(approval, person, world, "rm -rf ~")
    assert refused.startswith("[not run: it deletes the whole system or the home folder, which is never done")
    assert person.asked == []


def test_an_answer_for_the_session_holds_for_what_begins_the_same(world: Path) -> None:
    person = Person("session", "session")
    approval = policy(world)
    assert run(approval, person, world, "npm test") == ""
    assert run(approval, person, world, "npm test -- --watch=false | tail -3") == ""
    assert len(person.asked) == 1
    assert "nobody can be asked" not in run(approval, person, world, "npm install x")
    assert len(person.asked) == 2
    assert ask(approval, Person("session"), write_file, world, path="b", content="x") == ""
    assert ask(approval, Person(), write_file, world, path="c", content="x") == ""


def test_a_dangerous_command_is_allowed_word_for_word_only(world: Path) -> None:
    person = Person("session")
    approval = policy(world)
    assert run(approval, person, world, "rm -rf build") == ""
    assert run(approval, person, world, "rm -rf build") == ""
    assert "not run" in run(approval, person, world, "rm -rf src")
    assert len(person.asked) == 2


def test_always_is_kept_in_the_configuration(world: Path) -> None:
    home = Home(str(world / ".hermes"))
    kept = policy(world, remember=lambda entry: allow_for_good(home, entry))
    assert run(kept, Person("always"), world, "npm test -- 'a b'") == ""
    assert load_config(home).tools.allow == ("terminal: npm test",)
    assert run(policy(world, allow=load_config(home).tools.allow), Person(), world, "npm test") == ""


@pytest.mark.parametrize(
    ("entry", "command", "runs"),
    [
        ("terminal: npm run", "npm run build && ls", True),
        ("terminal: npm run", "npm run build; npm publish", False),
        ("terminal: npm run", "npm runx", False),
        ("terminal: npm run", "CI=1 npm run build | tail -3", True),
        ("terminal: npm run", "PATH=.:$PATH npm run build", False),
        ("terminal: npm run", "env CI=1 npm run build", True),
        ("terminal: npm run", "env PATH=. npm run build", False),
        ("terminal: npm run", "export LD_PRELOAD=x; npm run build", False),
        ("terminal: npm run", "npm run $(rm -r x)", False),
        ("terminal", "anything at all", True),
        ("terminal", "rm -rf x", False),
        ("shell", "anything at all", True),
        ("terminal: rm", "rm -rf x", False),
        ("terminal: rm -rf x", "rm -rf x", True),
        ("patch", "make", False),
        ("terminal: 'open", "make", False),
    ],
)
def test_entries_of_the_allow_list(world: Path, entry: str, command: str, runs: bool) -> None:
    assert (run(policy(world, allow=(entry,)), Person(), world, command) == "") is runs


def test_a_place_can_be_allowed(world: Path) -> None:
    approval = policy(world, allow=("write_file: ~/notes".replace("~", str(world)), "patch"))
    assert ask(approval, Person(), write_file, world, path=str(world / "notes/a"), content="x") == ""
    assert ask(approval, Person(), write_file, world, path=str(world / "notes2/a"), content="x") != ""
    assert ask(approval, Person(), patch, world, path="a.txt", old_string="one", new_string="1") == ""


def test_a_confined_conversation_stays_in_the_project_whoever_allows_more(world: Path) -> None:
    (world / "project/link").symlink_to(world)
    approval = policy(world, "yolo", confine=True)
    for path in ("../x", str(world / "x"), "link/x"):
        assert "is outside the project" in ask(approval, Person(), read_file, world, path=path)
        assert "is outside the project" in ask(approval, Person(), write_file, world, path=path, content="")
    assert "is outside the project" in run(approval, Person(), world, "echo x > ../y")
    assert ask(approval, Person(), write_file, world, path="sub/x", content="") == ""


def test_other_words_are_a_no_and_are_passed_on(world: Path) -> None:
    answer = run(policy(world), Person("use the other branch"), world, "git commit -m x")
    assert "They said: use the other branch" in answer


def test_what_acts_elsewhere_asks_by_its_name(world: Path) -> None:
    plain = make_tool("far", lambda **a: "done", takes=["x"])
    tool = Tool(plain.spec, plain.run, plan=lambda context, **arguments: Plan(outside=True, detail="x"))
    person = Person("session")
    approval = policy(world, "auto")
    assert ask(approval, person, tool, world, x="1") == ""
    assert ask(approval, person, tool, world, x="2") == ""
    assert len(person.asked) == 1


def test_in_a_turn_the_model_gets_an_answer_it_can_act_on(play: Any) -> None:
    steps = [
        Step(calls=(call("write_file", '{"path": "new.txt", "content": "x"}'),)),
        Step(calls=(call("write_file", '{"path": "new.txt", "content": "x"}', "again"),)),
        "done",
    ]

    async def scene(talk: Talk) -> None:
        person = Person("no", "once")
        talk.agent = talk.new_agent(ask=person)
        await talk.say("write")
        assert (talk.project / "new.txt").read_text() == "x"
        first, second = [m for m in talk.last_messages() if m["role"] == "tool"]
        assert first["content"].startswith("[not run: the user said no.")
        assert second["content"] == "wrote new.txt: 1 line, 1 byte"

    play(scene, steps, [write_file])


def test_stopped_at_the_question_the_call_has_not_begun(play: Any) -> None:
    asked = asyncio.Event()

    async def silent(question: Question) -> str:
        asked.set()
        await asyncio.Event().wait()
        return ""

    async def scene(talk: Talk) -> None:
        talk.agent = talk.new_agent(ask=silent)
        turn = asyncio.create_task(talk.say("write"))
        await asked.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert not (talk.project / "new.txt").exists()
        talk.restart()
        await talk.say("and now?")
        (result,) = [m for m in talk.last_messages() if m["role"] == "tool"]
        assert result["content"] == NOT_RUN

    step = Step(calls=(call("write_file", '{"path": "new.txt", "content": "x"}'),))
    play(scene, [step, "it was not written"], [write_file])


def test_secrets_in_results_are_hidden_and_it_says_so(play: Any) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    async def scene(talk: Talk) -> None:
        await talk.say("look")
        (result,) = [m for m in talk.last_messages() if m["role"] == "tool"]
        assert result["content"].startswith(
            "token: [hidden secret: GitHub token] end\n[secrets were hidden here"
        )
        assert secret not in talk.model.bodies[-1].decode()

    play(scene, [Step(calls=(call("look"),)), "done"], [make_tool("look", lambda: f"token: {secret} end")])


def test_what_plugins_and_servers_bring_needs_approval_where_it_acts() -> None:
    acting, looking = make_tool("far", lambda: ""), make_tool("look", lambda: "", effects=False)
    assert from_outside(looking) is looking
    outside = from_outside(acting)
    assert outside.plan is not None
    assert outside.plan(ToolContext(), x=1) == Plan(outside=True, detail='{\n "x": 1\n}')
    assert from_outside(outside) is outside


def test_a_name_in_the_configuration_that_means_nothing_is_told() -> None:
    tools = toolbox([make_tool("far", lambda: "")])
    assert unknown_tools(None, tools) == ()
    (notice,) = unknown_tools(["files", "far", "terminal", "fils"], tools)
    assert notice.text.startswith("tools.enabled names 'fils', which is no tool and no toolset")


@pytest.mark.parametrize("size", [150_000, 150_001, 700_000, 5_000_000])
def test_what_any_tool_gives_back_is_bounded(play: Any, size: int) -> None:
    async def scene(talk: Talk) -> None:
        await talk.say("look")
        (result,) = [m["content"] for m in talk.last_messages() if m["role"] == "tool"]
        if size <= MAX_CHARS:
            assert result == "é" * size
        else:
            half = "é" * (MAX_CHARS // 2)
            assert result == f"{half}\n[… {size - MAX_CHARS:,} characters are left out …]\n{half}"

    play(scene, [Step(calls=(call("look"),)), "done"], [make_tool("look", lambda: "é" * size)])


def test_a_mode_that_there_is_not_is_refused_at_once(world: Path) -> None:
    with pytest.raises(UsageError, match="there is no approval mode 'never'; there are ask, auto, yolo"):
        policy(world, "never")
