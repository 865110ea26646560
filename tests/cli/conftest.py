"""A provider on this machine, for whole commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from tests.cli.served import Served
from tests.providers.loopback import Loopback, Reply


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start the provider with its replies, in a thread of its own."""
    stop, pool = Event(), ThreadPoolExecutor(1)

    def start(*replies: Reply | str) -> Served:
        ready = Event()
        provider = Loopback(replies)

        async def run() -> None:
            async with provider.running():
                ready.set()
                await asyncio.to_thread(stop.wait)

        pool.submit(asyncio.run, run())
        assert ready.wait(10)
        return Served(tmp_path, provider)

    yield start
    stop.set()
    pool.shutdown()
