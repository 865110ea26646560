"""Kill -9 at any moment: what was acknowledged is there, and nothing else is left lying about."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hermes.sessions.base import ScriptStore
from hermes.sessions.replay import request_body, verify
from tests.sessions.conftest import Place

ROOT = Path(__file__).parents[2]


def victim(location: str, name: str, turns: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.sessions.victim", location, name, str(turns)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def killed(location: str, name: str, acknowledged: int, delay: float) -> int:
    """Kill a process that stores turns, some time after so many; how many it acknowledged."""
    process = victim(location, name, 100_000)
    assert process.stdout is not None
    last = 0
    for line in process.stdout:
        last = int(line)
        acknowledged -= 1
        if acknowledged == 0:
            threading.Timer(delay, process.kill).start()
    process.wait()
    assert process.returncode == -9
    process.stdout.close()
    return last


def check_after(place: Place, acknowledged: int) -> None:
    async def look(store: ScriptStore) -> None:
        await store.claim("s1", "another", wait=5.0)  # what the dead held is free when their death is seen
        calls, messages = await store.calls("s1"), await store.messages("s1")
        assert acknowledged <= len(calls) <= acknowledged + 1
        assert [c.n for c in calls] == list(range(1, len(calls) + 1))
        assert [m.seq for m in messages] == list(range(2 * len(calls)))
        assert await verify(store, "s1") == ()
        assert (await request_body(store, "s1", len(calls))).startswith(b'{"model":"m","messages":[{"role"')
        last = f'"turn {len(calls) - 1} of s1"'
        assert [hit.seq for hit in await store.search(last)] == [messages[-2].seq]

    place.run(look)


def kill(place: Place, times: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(times):
        acknowledged = killed(place.location, "s1", chance.randint(1, 25), chance.uniform(0, 0.01))
        check_after(place, acknowledged)
    assert place.run(lambda store: store.check()) == ()
    if not place.location.startswith("postgres"):
        assert os.listdir(os.path.dirname(place.location)) == ["sessions.db"]


def test_nothing_acknowledged_is_lost_by_a_kill(place: Place) -> None:
    kill(place, 10, seed=1)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_nothing_acknowledged_is_lost_by_300_kills(place: Place) -> None:
    kill(place, 150, seed=2)


def test_eight_processes_write_at_once(place: Place) -> None:
    writers = [victim(place.location, f"w{i}", 25) for i in range(8)]
    told = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 8
    assert told == [[str(n) for n in range(1, 26)]] * 8

    async def look(store: ScriptStore) -> list[tuple[str, int, int]]:
        assert [await verify(store, f"w{i}") for i in range(8)] == [()] * 8
        assert await store.check() == ()
        return sorted((s.id, s.messages, s.calls) for s in await store.list())

    assert place.run(look) == [(f"w{i}", 50, 25) for i in range(8)]
