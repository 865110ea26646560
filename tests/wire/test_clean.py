"""Sessions in which nothing goes wrong: the verdict accuses nobody, and what was predicted comes true."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hermes.contracts import ModelProfile
from hermes.messages import Annex, Message, ToolCall
from hermes.providers.accounting import BYTES_PER_TOKEN
from hermes.providers.cache_marks import MarkPolicy
from hermes.turns import EphemeralOverlay, TurnEnded, TurnRequest
from hermes.wire.blocks import Block
from hermes.wire.ledger import Ledger, read_calls
from hermes.wire.review import take
from tests.providers.loopback import Reply
from tests.wire.faults import TOOLS, WORDS
from tests.wire.rig import CLAUDE, GPT, POINTS, Rig
from tests.world import write

Scene = Callable[[Rig], Awaitable[None]]


async def plain(rig: Rig) -> None:
    for n in range(5):
        await rig.say(f"{n} {WORDS}")


async def short_pauses(rig: Rig) -> None:
    for _ in range(4):
        await rig.say()
        rig.wait(290)


async def restarted(rig: Rig) -> None:
    await rig.say(WORDS)
    await rig.restart()
    await rig.say()
    await rig.restart()
    await rig.say(WORDS)


async def files_change(rig: Rig) -> None:
    """What changes outside is told at the tail."""
    await rig.say()
    write(rig.project / "AGENTS.md", "Use nothing.\n")
    await rig.say()
    write(Path(rig.home.path("memories/MEMORY.md")), "Likes tea\n")
    await rig.say(WORDS)


async def personality(rig: Rig) -> None:
    await rig.say()
    rig.agent.set_personality("pirate")
    await rig.say()
    rig.agent.set_personality("none")
    await rig.say()


async def recall(rig: Rig) -> None:
    for n in range(3):
        turn = TurnRequest("Who?", (EphemeralOverlay(Annex("recall", f"Ann {n} {WORDS}")),))
        *_, ended = [event async for event in rig.agent.run(turn)]
        assert isinstance(ended, TurnEnded)
        rig.wait(1)


async def white_space(rig: Rig) -> None:
    for text in ("  a  ", "b\n\n", "\tc", "é缓存👩‍💻 "):
        await rig.say(text)


async def many_tools(rig: Rig) -> None:
    """Turns of several calls with several results each."""
    calls = tuple(ToolCall(f"c{n}", "beta", json.dumps({"path": WORDS, "limit": n})) for n in range(12))
    again = tuple(ToolCall(f"d{n}", "alpha", "{}") for n in range(12))
    rig.server.replies = iter([Reply(calls=calls), Reply(calls=again, thinking="hm"), Reply("Done."), "Aye."])
    await rig.say()
    await rig.say()


async def long_turn(rig: Rig) -> None:
    await rig.say()
    for n in range(25):
        rig.session.append(Message("user", f"Also {n}. {WORDS}"))
    await rig.say()
    await rig.say()


async def long_lifetime(rig: Rig) -> None:
    policy = MarkPolicy(prompt="1h", messages="1h") if rig.profile is CLAUDE else MarkPolicy()
    await rig.use(rig.model(rig.profile, policy))
    await rig.say()
    rig.wait(1700 if rig.profile is POINTS else 3500)
    await rig.say()
    await rig.say()


SCENES: tuple[Scene, ...] = (
    plain,
    short_pauses,
    restarted,
    files_change,
    personality,
    recall,
    white_space,
    many_tools,
    long_turn,
    long_lifetime,
)


@pytest.mark.parametrize("profile", [CLAUDE, GPT, POINTS], ids=lambda p: p.name)
@pytest.mark.parametrize("scene", SCENES, ids=lambda s: s.__name__)
def test_nobody_is_accused(scene: Scene, profile: ModelProfile, tmp_path: Path) -> None:
    entries = Rig(tmp_path, profile, tools=TOOLS).play(scene)
    assert [e.verdict.cause for e in entries] == ["first", *["hit"] * (len(entries) - 1)], entries[-1].verdict
    for entry in entries:
        assert entry.wire.usage.cache_read == entry.expected.read == entry.wire.predicted, entry.verdict


def four_bytes(block: Block) -> float:
    """Tokens as the server counts them."""
    role = block.role if block.kind != "tool" else "tools"
    value = json.loads(block.own)
    plain: Any = {"type": "text", "text": value} if isinstance(value, str) else value
    text = json.dumps([role, plain], ensure_ascii=False, separators=(",", ":"))
    return len(text.encode()) / BYTES_PER_TOKEN


async def everything(rig: Rig) -> None:
    """Hits, pauses too long, a refresh, a restart, a long turn, tools."""
    await rig.say(WORDS)
    await rig.say()
    rig.wait(400)
    await rig.say()
    rig.edit("project/AGENTS.md", "make lint", "make all")
    await rig.agent.refresh()
    await rig.say(WORDS)
    await rig.restart()
    await many_tools(rig)
    rig.server.replies = iter(["Aye."] * 9)
    await long_turn(rig)
    rig.wait(2000)
    await rig.say()
    await rig.say()


@pytest.mark.parametrize("profile", [CLAUDE, POINTS], ids=lambda p: p.name)
def test_predictions_are_exact(profile: ModelProfile, tmp_path: Path) -> None:
    """With the server's own measure of tokens, every number is foretold."""
    found = []

    async def scene(rig: Rig) -> None:
        await everything(rig)
        ledger = Ledger(four_bytes, exact=True)
        for wire, _ in await read_calls(rig.store, rig.agent.session_id):
            expected = take(ledger, wire, profile).expected
            found.append((expected.expected, expected.read, expected.write, expected.uncached, wire.usage))

    Rig(tmp_path, profile, tools=TOOLS).play(scene)
    assert len(found) > 10
    assert {f[0] for f in found} >= {"first", "hit", "expired", "changed"}
    for why, read, written, uncached, usage in found:
        told = (usage.cache_read, usage.cache_write, usage.input - usage.cache_read - usage.cache_write)
        assert (read, written, uncached) == told, why
