"""What was read of a prompt is kept, found again after a restart, and bounded."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hermes.providers.local.states import States
from tests.providers.local.world import CONTEXT, RULES, ask, stopping, talking


def test_a_prompt_is_read_once_and_known_after_a_restart(tmp_path: Path) -> None:
    async def run() -> None:
        async with stopping(tmp_path):
            async with talking(tmp_path) as here:
                first = await ask(here, "hello", RULES, CONTEXT, "Monday")
                assert first.read[0].read == 0
                assert first.read[-1].read == first.read[-1].total
                assert first.cached >= 0.9  # read while progress was shown, and found by the call itself
                again = await ask(here, "again", RULES, CONTEXT, "Monday")
                assert (again.read, again.cached >= 0.9) == ((), True)
                await here.engine.stop()
            async with talking(tmp_path) as later:
                heard = await ask(later, "hello", RULES, CONTEXT, "Tuesday")
                assert (heard.read, heard.cached >= 0.9) == ((), True)
                await later.engine.stop()
            async with talking(tmp_path) as elsewhere:
                heard = await ask(elsewhere, "hello", RULES, "Another project.", "Tuesday")
                assert (heard.read, heard.cached >= 0.8) == ((), True)

    asyncio.run(run())


def test_a_damaged_state_is_dropped_and_read_anew(tmp_path: Path) -> None:
    async def run() -> None:
        async with stopping(tmp_path), talking(tmp_path) as here:
            await ask(here, "hello")
            await here.engine.stop()
            (state,) = Path(here.engine.folder, "states").iterdir()
            assert state.stat().st_mode & 0o077 == 0
            assert len(state.stem) == 32  # a digest, and no word of the prompt
            size = state.stat().st_size
            state.write_bytes(state.read_bytes()[:1000])
            assert (await ask(here, "hello")).read
            assert state.stat().st_size == size

    asyncio.run(run())


def test_the_oldest_make_room_those_of_other_engines_too(tmp_path: Path) -> None:
    folder, other = tmp_path / "now" / "states", tmp_path / "before" / "states"
    folder.mkdir(parents=True)
    other.mkdir(parents=True)
    (other / "old.state").write_bytes(b"x" * 100)
    os.utime(other / "old.state", (999, 999))
    states = States(str(tmp_path / "now"), "engine", 250)
    names = [states.name(f"prompt {n}") for n in range(4)]
    for age, name in enumerate(names):
        (folder / "x.new").write_bytes(b"x" * 100)
        states.keep("x.new", name)
        os.utime(folder / name, (1000 + age, 1000 + age))
    assert sorted(p.name for p in folder.iterdir()) == sorted(names[2:])
    assert not list(other.iterdir())
    assert states.is_here(names[2])  # and is now the newest
    (folder / "x.new").write_bytes(b"x" * 100)
    states.keep("x.new", names[0])
    assert sorted(p.name for p in folder.iterdir()) == sorted((names[0], names[2]))
