"""Sixty turns in which everything changes that can, on both stores and both wires; nothing sent moves."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import hermes
from hermes.agent.overlays import overlay
from hermes.messages import Annex, Message
from hermes.providers.cache_marks import unmarked
from hermes.providers.scripted import ScriptedModel
from hermes.security.policy import Policies
from hermes.sessions.contract import Store
from hermes.sessions.records import CallRecord, EpochRecord
from hermes.sessions.replay import request_body, verify
from hermes.turns import EphemeralOverlay, NoticeShown
from tests.agent.talk import Talk, Ticking, make_tool
from tests.providers.mark_rules import Rules
from tests.sessions.conftest import Place, place, postgres_server
from tests.torture import MARKS, Answers, hints, model_for, tools_for
from tests.world import make_home, write

__all__ = ["place", "postgres_server"]

TURNS = 60
PLAN = {
    12: "elsewhere",
    25: "compaction",
    33: "elsewhere",
    40: "other provider",
    43: "first provider",
    50: "compaction",
    54: "compaction without change",
}
"""What happens before a turn, besides what happens by chance; before the last nothing else does."""
EPOCHS = ["new session", "compaction", "other takes over", "scripted takes over", "compaction", "compaction"]
QUIET = range(50, 55)


@dataclass
class Torturer:
    """Makes a turn, and something else, happen; all by one seed. `sent` is every request, in order."""

    talk: Talk
    wire: str
    location: str
    answers: Answers
    order: random.Random
    written: int = 0
    happened: set[str] = field(default_factory=set)
    sent: list[bytes] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    first: ScriptedModel | None = None

    async def turn(self, number: int) -> None:
        if planned := PLAN.get(number):
            await getattr(self, planned.replace(" ", "_"))()
            self.happened.add(planned)
        self.answers.quiet = number in QUIET
        if number not in QUIET:
            for name in self.order.sample(MISCHIEF, 2):
                getattr(self, name)(number)
                self.happened.add(name)
        text = self.order.choice(["go on", "more  ", "and\nthen?\n", "缓存 é 👩‍💻", "say \ud83d nothing"])
        await self.talk.say(f"{text} {number}", overlays=tuple(self._overlays(number)))
        self.told += [e.notice.text for e in self.talk.events if isinstance(e, NoticeShown)]
        self._collect()

    def _overlays(self, number: int) -> Iterator[EphemeralOverlay]:
        if number % 3 == 0:
            recalled = f"recalled in turn {number}: {'x' * self.order.randrange(200)}  "
            yield overlay("recall", recalled, policies=Policies(), place="before")[0]
        if number % 5 == 0:
            yield EphemeralOverlay(Annex("plugin", f"[a plugin was here {self.order.random()}]"))
        speaker = self.order.choice(["Alice", "Bob"])
        yield EphemeralOverlay(Annex("gateway", f"[from {speaker}]", "before"), "standing")

    def _collect(self) -> None:
        self.sent += self.talk.model.sent
        self.talk.model.sent.clear()

    # -- by chance ----------------------------------------------------------------------------------------

    def write_memory(self, number: int) -> None:
        self.written += 1
        write(Path(self.talk.home.memories) / "MEMORY.md", f"fact {self.written}\n§\nanother\n")

    def edit_rules(self, number: int) -> None:
        write(self.talk.project / "AGENTS.md", f"Rule of turn {number}.\n")

    def edit_soul(self, number: int) -> None:
        write(Path(self.talk.home.soul), f"You are Hermes.\nYou remember turn {number}.\n")

    def install_skill(self, number: int) -> None:
        name = f"skill-{number}"
        folder = Path(self.talk.home.skills) / "torture" / name
        write(folder / "SKILL.md", f"---\nname: {name}\ndescription: Of turn {number}\n---\n")

    def personality(self, number: int) -> None:
        self.talk.agent.set_personality(self.order.choice(["pirate", "concise", "none", "noir"]))

    def ephemeral(self, number: int) -> None:
        self.talk.agent.ephemeral_system_prompt = self.order.choice(["", "Be brief.", f"Turn {number}."])

    def eviction(self, number: int) -> None:
        self.talk.restart()

    def late_tool(self, number: int) -> None:
        self.talk.tools = (*tools_for(self.talk.home), make_tool(f"late_{number}", lambda: "late"))
        self.talk.restart()

    def switch_tool(self, number: int) -> None:
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

    # -- as planned ---------------------------------------------------------------------------------------

    async def compaction(self) -> None:
        async for event in self.talk.agent.compact():
            if isinstance(event, NoticeShown):
                self.told.append(event.notice.text)
        self._collect()

    compaction_without_change = compaction

    async def elsewhere(self) -> None:
        """Another process, under another hash seed, locale and zone, says a turn."""
        here = Path(__file__).parents[1]
        variables = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path(hermes.__file__).parents[1]), str(here)]),
            "PYTHONHASHSEED": "77",
            "TZ": "Asia/Kolkata",
            "LC_ALL": "C",
        }
        asked = [str(self.talk.root), self.location, self.talk.agent.session_id, self.wire]
        command = [sys.executable, "-m", "tests.torture_child", *asked]
        done = subprocess.run(command, env=variables, cwd=here, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr.decode()
        self.sent.append(done.stdout)

    async def other_provider(self) -> None:
        """The other wire, with another provider behind it."""
        self.first = self.talk.model
        wire = "openai" if self.wire == "anthropic" else "anthropic"
        self.talk.model = model_for(wire, Answers(11), "other")
        self.talk.agent.set_model(self.talk.model)

    async def first_provider(self) -> None:
        assert self.first is not None
        self.talk.model = self.first
        self.talk.agent.set_model(self.first)


MISCHIEF = (
    "edit_rules",
    "edit_soul",
    "ephemeral",
    "eviction",
    "git_init",
    "install_skill",
    "late_tool",
    "midnight",
    "other_model",
    "personality",
    "switch_tool",
    "write_memory",
)


@dataclass
class Record:
    """What the store has of the session afterwards."""

    messages: list[Message]
    epochs: Sequence[EpochRecord]
    calls: Sequence[CallRecord]
    bodies: list[bytes]
    problems: Sequence[str]

    @classmethod
    async def of(cls, store: Store, session_id: str) -> Record:
        calls = await store.calls(session_id)
        bodies = [await request_body(store, session_id, call.n) for call in calls]
        messages = [s.message for s in await store.messages(session_id)]
        problems = (*await verify(store, session_id), *await store.check())
        return cls(messages, await store.epochs(session_id), calls, bodies, problems)


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_sixty_turns(place: Place, tmp_path: Path, wire: str) -> None:
    home = make_home(tmp_path / "home")
    write(Path(home.config), "compaction: {keep_tail: 4}\n")

    async def scene(store: Store) -> tuple[Torturer, Record]:
        answers, tools = Answers(7), tools_for(home)
        talk = Talk(
            tmp_path, store, tools=tools, model=model_for(wire, answers), hints=hints(random.Random(5))
        )
        torturer = Torturer(talk, wire, place.location, answers, random.Random(3))
        for number in range(TURNS):
            await torturer.turn(number)
        return torturer, await Record.of(store, talk.agent.session_id)

    torturer, record = place.run(scene)
    assert torturer.happened == {*MISCHIEF, *PLAN.values()}
    assert missing(record.messages, torturer.told) == []
    assert record.problems == ()
    assert record.bodies == torturer.sent
    assert [e.reason for e in record.epochs] == EPOCHS
    assert len(record.bodies) > TURNS
    assert_nothing_moved(record)
    assert_equal_across_boundaries(record)
    assert_taken(record)


def missing(messages: Sequence[Message], told: Sequence[str]) -> list[str]:
    """What of the named events left no trace in what was sent or told."""
    annexes = [a for m in messages for a in m.annex]
    kinds = {a.kind for a in annexes}
    days = {a.text.partition("(")[0] for a in annexes if a.kind == "clock" and "(" in a.text}
    seen = {
        "a tool was called": any(m.role == "tool" and not m.error for m in messages),
        "a call failed": any(m.role == "tool" and m.error for m in messages),
        "a tool wrote memory": any(m.name == "memory" and not m.error for m in messages),
        "a tool was off": any("is switched off" in m.text for m in messages),
        "a tool came late": any("came after this session began" in text for text in told),
        "midnight": len(days) > 5,
        "another process": any("gone on with elsewhere" in text for text in told),
        "another speaker": len({a.text for a in annexes if a.kind == "gateway"}) > 1,
        "an account": any(a.kind == "summary" for a in annexes),
        **{kind: kind in kinds for kind in ("recall", "hint", "plugin")},
    }
    for kind in ("personality", "ephemeral", *(f"{what} changed" for what in CHANGED)):
        texts = [a.text for a in annexes if a.kind == kind]
        seen[kind] = any(text.startswith("<added") for text in texts)
    for kind in ("personality", "ephemeral", "model changed"):
        seen[f"{kind} ended"] = any(a.kind == kind and a.text.startswith("[") for a in annexes)
    return [name for name, found in seen.items() if not found]


CHANGED = ("memory", "skills", "context", "identity", "model")


def beginning(body: bytes) -> bytes:
    """A request without marks, and without what may change from call to call."""
    return unmarked(body).partition(b'],"model":')[0]


def assert_nothing_moved(record: Record) -> None:
    """In an epoch each request begins with all of the one before; so does a question beside it."""
    epoch, before = -1, b""
    for call, body in zip(record.calls, record.bodies, strict=True):
        now = beginning(body)
        if call.epoch != epoch:
            epoch, before = call.epoch, now.partition(b'"messages"')[0]
        assert now.startswith(before), f"call {call.n}"
        if call.stop != "aside":
            before = now


def assert_equal_across_boundaries(record: Record) -> None:
    """The prompt moves only where something in it changed; a provider comes back to what it has cached."""
    bodies: dict[int, list[bytes]] = {}
    for call, body in zip(record.calls, record.bodies, strict=True):
        if call.stop != "aside":
            bodies.setdefault(call.epoch, []).append(beginning(body))
    assert bodies[3][0].startswith(bodies[1][-1])  # another provider was asked in between
    prompts = [set(map(head, bodies[n])) for n in range(len(EPOCHS))]
    assert all(len(prompt) == 1 for prompt in prompts)
    assert prompts[4] == prompts[5] != prompts[3] == prompts[1] != prompts[0]


def assert_taken(record: Record) -> None:
    """The rules of Anthropic's wire for its requests: marks, and who speaks after whom."""
    rules, epoch = Rules(MARKS.minimum_tokens or 0), -1
    for call, body in zip(record.calls, record.bodies, strict=True):
        asked = json.loads(body)
        if "system" not in asked:
            continue
        assert_in_turns(asked["messages"])
        if call.epoch != epoch:
            rules, epoch = Rules(MARKS.minimum_tokens or 0), call.epoch
        if call.stop != "aside":
            rules.check(body)


def assert_in_turns(messages: Sequence[Any]) -> None:
    """The person begins and has the last word, and what was called is answered at once and in order."""
    assert (messages[0]["role"], messages[-1]["role"]) == ("user", "user")
    for said, after in pairwise([*messages, {"content": []}]):
        asked, given = (
            [block[key] for block in m["content"] if isinstance(block, dict) and block["type"] == kind]
            for m, kind, key in ((said, "tool_use", "id"), (after, "tool_result", "tool_use_id"))
        )
        assert asked == given


def head(body: bytes) -> str:
    """The tools and the prompt of a request."""
    asked = json.loads(body + b"]}")
    system = asked.get("system") or asked["messages"][0]
    return json.dumps([system, asked["tools"]])
