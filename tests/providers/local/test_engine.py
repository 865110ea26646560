"""The engine as a process: shared, replaced when it dies, gone when nobody asks."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import aclosing
from itertools import groupby
from pathlib import Path

import pytest

from hermes.errors import ModelError
from hermes.messages import Completed, Message, ModelRequest, Restarted, TextDelta
from hermes.paths import Home
from hermes.providers.local.engine import Engine, Settings
from hermes.providers.local.lock import is_held
from hermes.providers.wrappers import Retrying
from tests.providers.local.world import ask, engine, model, stopping, talking

CHILD = """
import asyncio, sys
from pathlib import Path
from tests.providers.local.world import engine
address = asyncio.run(engine(Path(sys.argv[1])).address())
print(address.pid, address.url)
"""
ROOT = Path(__file__).parents[3]


async def until(condition: object, seconds: float = 15.0) -> None:
    """Wait for what another process does."""
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not come about"
        await asyncio.sleep(0.02)


async def in_a_process(home: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", CHILD, str(home), stdout=subprocess.PIPE, cwd=ROOT
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


def test_processes_that_start_at_once_get_one_server_and_later_ones_find_it(tmp_path: Path) -> None:
    async def run() -> None:
        async with stopping(tmp_path):
            told = await asyncio.gather(*(in_a_process(tmp_path) for _ in range(3)))
            assert len(set(told)) == 1
            assert await in_a_process(tmp_path) == told[0]
            found = await engine(tmp_path).found()
            assert found is not None
            assert f"{found.pid} {found.url}\n" == told[0]

    asyncio.run(run())


def test_a_server_that_was_killed_is_replaced_in_the_midst_of_a_conversation(tmp_path: Path) -> None:
    async def run() -> None:
        async with stopping(tmp_path):
            talking = model(tmp_path)
            await ask(talking, "hello", "short", "", "")
            first = await talking.engine.address()
            os.kill(first.pid, signal.SIGKILL)
            await until(lambda: not is_held(os.path.join(talking.engine.folder, "serving")))
            heard = await ask(talking, "hello again", "short", "", "")
            assert heard.usage.output > 0
            assert (await talking.engine.address()).pid != first.pid
            await talking.close()

    asyncio.run(run())


def test_a_server_that_is_killed_while_it_answers_is_asked_again(tmp_path: Path) -> None:
    async def run() -> None:
        async with stopping(tmp_path), talking(tmp_path) as here:
            kinds = []
            said = (Message("user", "Count from one to fifty."),)
            request = ModelRequest("m", ("Count.", "", ""), (), said, max_tokens=24)
            async with aclosing(Retrying(here).stream(request)) as events:
                async for event in events:
                    if not kinds:
                        os.kill((await here.engine.address()).pid, signal.SIGKILL)
                    kinds.append(type(event))
            assert [k for k, _ in groupby(kinds)] == [TextDelta, Restarted, TextDelta, Completed]

    asyncio.run(run())


def test_a_server_that_hangs_is_ended_and_replaced(tmp_path: Path) -> None:
    async def run() -> None:
        async with stopping(tmp_path):
            first = await engine(tmp_path).address()
            os.kill(first.pid, signal.SIGSTOP)
            state = Path(f"/proc/{first.pid}/stat")
            await until(lambda: not state.exists() or ") T " in state.read_text())
            second = await engine(tmp_path, patience=1.0).address()
            assert second.pid != first.pid
            assert await engine(tmp_path).found() == second

    asyncio.run(run())


def test_a_server_that_nobody_asks_ends(tmp_path: Path) -> None:
    async def run() -> None:
        here = engine(tmp_path, idle_seconds=0.4)
        await here.address()
        await until(lambda: not is_held(os.path.join(here.folder, "serving")))
        assert not os.path.exists(os.path.join(here.folder, "server.json"))
        assert await here.found() is None
        assert await here.stop() is False
        assert "ended: nobody asked" in Path(here.log).read_text()

    asyncio.run(run())


def test_only_the_owner_can_read_where_it_is_and_its_key(tmp_path: Path) -> None:
    async def run() -> None:
        async with stopping(tmp_path):
            here = engine(tmp_path)
            address = await here.address()
            assert address.url.startswith("http://127.0.0.1:")
            assert address.key not in repr(address)
            for name in ("server.json", "serving", "held"):
                assert os.stat(os.path.join(here.folder, name)).st_mode & 0o077 == 0
            assert address.key not in Path(f"/proc/{address.pid}/cmdline").read_text()
            assert await here.stop() is True

    asyncio.run(run())


def test_what_is_left_of_a_dead_server_is_not_believed(tmp_path: Path) -> None:
    async def run() -> None:
        here = engine(tmp_path)
        os.makedirs(here.folder)
        Path(here.folder, "server.json").write_text(
            f'{{"pid": {os.getpid()}, "url": "http://127.0.0.1:9", "key": "k", "began": 1.0}}'
        )
        assert await here.found() is None
        assert await here.stop() is False  # this process is still here

    asyncio.run(run())


def test_a_file_that_is_no_model_is_told_of(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF\x03\0\0\0" + b"\0" * 16)
    here = Engine(Home(str(tmp_path)), Settings(str(broken), 1024))
    with pytest.raises(ModelError, match=r"did not start: .*\(log: "):
        asyncio.run(here.address())
