"""Sixty turns in which everything changes that can, on both stores and both wires; nothing sent moves."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import hermes
from hermes.agent.overlays import fenced, overlay
from hermes.agent.result_notes import Hints
from hermes.agent.subdirectory_hints import Conversation, Hinted
from hermes.contracts import CacheRules, CacheTtl
from hermes.messages import Annex, Message, ModelRequest, ToolCall
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.scripted import PROFILE, ScriptedModel, Step
from hermes.security.policy import Policies
from hermes.sessions.contract import Store
from hermes.turns import EphemeralOverlay
from tests.agent.talk import Talk, Ticking, failing, make_tool
from tests.sessions.conftest import Place, place, postgres_server
from tests.world import write

__all__ = ["place", "postgres_server"]

TURNS = 60
MARKS = CacheRules("marks", 1024, None, 4, 20, (CacheTtl("5m", 1.25, 300), CacheTtl("1h", 2.0, 3600)), 0.1)


@dataclass
class Torturer:
    """Makes a turn, and something else, happen; all by one seed."""

    talk: Talk
    order: random.Random
    written: int = 0
    others: dict[str, ScriptedModel] = field(default_factory=dict)

    async def turn(self, number: int) -> None:
        for name in self.order.sample(sorted(_MISCHIEF), 2):
            _MISCHIEF[name](self, number)
        overlays = tuple(self._overlays(number))
        text = self.order.choice(["go on", "more  ", "and\nthen?\n", "缓存 é 👩‍💻", "say \ud83d nothing"])
        await self.talk.say(f"{text} {number}", overlays=overlays)

    def _overlays(self, number: int) -> Iterator[EphemeralOverlay]:
        if number % 3 == 0:
            recalled = f"recalled in turn {number}: {'x' * self.order.randrange(200)}  "
            yield overlay("recall", recalled, policies=Policies(), place="before")[0]
        if number % 5 == 0:
            yield EphemeralOverlay(Annex("plugin", f"[a plugin was here {self.order.random()}]"))
        speaker = self.order.choice(["Alice", "Bob"])
        yield EphemeralOverlay(Annex("gateway", f"[from {speaker}]", "before"), "standing")

    def write_memory(self, number: int) -> None:
        self.written += 1
        write(Path(self.talk.home.memories) / "MEMORY.md", f"fact {self.written}\n§\nanother\n")

    def edit_rules(self, number: int) -> None:
        write(self.talk.project / "AGENTS.md", f"Rule of turn {number}.\n")

    def install_skill(self, number: int) -> None:
        name = f"skill-{number}"
        folder = Path(self.talk.home.skills) / "torture" / name
        write(folder / "SKILL.md", f"---\nname: {name}\ndescription: Of turn {number}\n---\n")

    def personality(self, number: int) -> None:
        self.talk.agent.set_personality(self.order.choice(["pirate", "concise", "none", "noir"]))

    def ephemeral(self, number: int) -> None:
        self.talk.agent.ephemeral_system_prompt = self.order.choice(["", "Be brief.", f"Turn {number}."])

    def restart(self, number: int) -> None:
        self.talk.restart()

    def late_tool(self, number: int) -> None:
        self.talk.tools = (*self.talk.tools[:4], make_tool(f"late_{number}", lambda: "late"))
        self.talk.restart()

    def lose_tool(self, number: int) -> None:
        self.talk.agent.switch_tool("quick", on=self.order.random() < 0.5)

    def midnight(self, number: int) -> None:
        clock = self.talk.clock
        assert isinstance(clock, Ticking)
        clock.now += timedelta(hours=self.order.randrange(1, 30))

    def other_model(self, number: int) -> None:
        """Another model of the family, and back; it goes on with the same script."""
        profile = self.talk.model.profile
        name = "scripted-2" if profile.name == "scripted-1" else "scripted-1"
        self.talk.model.profile = replace(profile, name=name)
        self.talk.agent.set_model(self.talk.model)

    def git_init(self, number: int) -> None:
        write(self.talk.project / ".git" / "HEAD", f"ref: refs/heads/branch-{number}\n")


_MISCHIEF = {
    name: getattr(Torturer, name)
    for name in (
        "write_memory",
        "edit_rules",
        "install_skill",
        "personality",
        "ephemeral",
        "restart",
        "late_tool",
        "lose_tool",
        "midnight",
        "other_model",
        "git_init",
    )
}


class Answers:
    """What the model says: words, or calls of tools good and bad, then words; all by one seed."""

    def __init__(self, seed: int) -> None:
        self.order = random.Random(seed)
        self.calls = 0
        self.pending = 0

    def __call__(self, request: ModelRequest) -> Step:
        if not self.pending:
            self.pending = self.order.choice([0, 0, 1, 2, 5])
            if not self.pending:
                return Step(f"answer {self.calls}" + self.order.choice(["", "  ", "\n", " é"]))
        self.pending -= 1
        if not self.pending:
            return Step("done with the tools ")
        return Step(
            self.order.choice(["", "let me look  "]),
            tuple(self._call() for _ in range(self.order.choice([1, 1, 3]))),
        )

    def _call(self) -> ToolCall:
        self.calls += 1
        name = self.order.choice(["quick", "together", "fails", "skill_view", "unknown"])
        arguments = self.order.choice(
            ["{}", '{"text": "a b "}', '{ "text" : "é" }', "{broken", '{"nope": 1}']
        )
        return ToolCall(f"call_{self.calls}", name, arguments)


def model_for(wire: str) -> ScriptedModel:
    answers = Answers(7)
    script = iter(lambda: answers, None)  # the same callable for ever
    if wire == "openai":
        return ScriptedModel(script, codec=OpenAiChat())
    return ScriptedModel(script, profile=replace(PROFILE, cache=MARKS), codec=AnthropicMessages())


def hints(order: random.Random) -> Hints:
    """Hints of folders that some calls entered, as the tracker of such hints gives them."""

    def hint(conversation: Conversation, call: ToolCall, result: Message) -> Hinted:
        if order.random() < 0.7:
            return Hinted()
        text = fenced("hint", f"Rules of folder {order.randrange(9)}: be kind.  ")
        return Hinted((Annex("hint", text),))

    return hint


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_sixty_turns(place: Place, tmp_path: Path, wire: str) -> None:
    async def scene(store: Store) -> tuple[Talk, list[str], list[Any]]:
        tools = [
            make_tool("quick", lambda text="": f"quick {text}\n", takes=["text"]),
            make_tool(
                "together", lambda text="": f"together {text}  ", parallel=True, effects=False, takes=["text"]
            ),
            make_tool("fails", failing("it broke  "), takes=["text"]),
            make_tool("skill_view", lambda text="": "", effects=False, takes=["text"]),
        ]
        talk = Talk(tmp_path, store, tools=tools, model=model_for(wire), hints=hints(random.Random(5)))
        torturer = Torturer(talk, random.Random(3))
        for number in range(TURNS):
            await torturer.turn(number)
        session_id = talk.agent.session_id
        reasons = [e.reason for e in await store.epochs(session_id)]
        return talk, reasons, [await rebuilt(store, session_id, n) for n in range(len(talk.model.bodies))]

    talk, reasons, bodies = place.run(scene)
    assert resumed_elsewhere(place, talk) == body_without_tail(talk)
    assert reasons == ["new session"]
    assert bodies == talk.model.bodies
    messages = [
        json.dumps(json.loads(b)["messages"], ensure_ascii=False).removesuffix("]") for b in talk.model.bodies
    ]
    for before, after in pairwise(messages):
        assert after.startswith(before)
    heads = {json.dumps([json.loads(b).get("system"), json.loads(b)["tools"]]) for b in talk.model.bodies}
    assert len(heads) == 1
    assert len(talk.model.bodies) > TURNS


def body_without_tail(talk: Talk) -> bytes:
    """The last request without what may change from call to call, and the answer to it."""
    model = talk.model
    return (
        model.bodies[-1].partition(b'],"model":')[0]
        + b","
        + b"".join(model.codec.fragments((answered(talk),), model.profile, "user"))
    )


def answered(talk: Talk) -> Message:
    assert talk.agent.session is not None
    return talk.agent.session.visible[-1]


def resumed_elsewhere(place: Place, talk: Talk) -> bytes:
    """What another process, under another hash seed, would go on from."""
    kind = "postgres" if place.location.startswith("postgres") else "sqlite"
    command = [sys.executable, "-m", "tests.agent.resume_child", kind, place.location, talk.agent.session_id]
    here = Path(__file__).parents[1]
    path = os.pathsep.join([str(Path(hermes.__file__).parents[1]), str(here)])
    variables = {
        **os.environ,
        "PYTHONPATH": path,
        "PYTHONHASHSEED": "77",
        "TZ": "Asia/Kolkata",
        "LC_ALL": "C",
    }
    done = subprocess.run(command, env=variables, cwd=here, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


async def rebuilt(store: Store, session_id: str, call: int) -> bytes:
    """A past request, from what is stored."""
    made = (await store.calls(session_id))[call]
    fragments = await store.fragments(session_id, made.epoch)
    head, tail = await store.blob(session_id, made.head), await store.blob(session_id, made.tail)
    return head + b",".join(f.body for f in fragments[: made.fragments]) + tail
