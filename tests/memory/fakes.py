"""A provider of external memory that does what a test tells it to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from hermes.contracts import Exchange, Recalled, Whose
from hermes.tooling import Tool


class Remembers:
    """Gives what it is made with, and keeps what it is told; `before` runs before each of its answers."""

    def __init__(
        self,
        recalled: Sequence[Recalled] = (),
        block: str = "",
        tools: Sequence[Tool] = (),
        before: Callable[[str], Awaitable[None] | None] = lambda method: None,
    ) -> None:
        self.recalled = recalled
        self.block = block
        self.given = tools
        self.before = before
        self.recorded: list[Exchange] = []
        self.closed = False

    async def _do(self, method: str) -> None:
        waiting = self.before(method)
        if waiting is not None:
            await waiting

    async def static_block(self, whose: Whose) -> str:
        await self._do("static_block")
        return self.block

    async def recall(self, asked: str, whose: Whose) -> Sequence[Recalled]:
        await self._do("recall")
        return self.recalled

    async def record(self, exchange: Exchange) -> None:
        await self._do("record")
        for _ in range(0 if self.recorded else 9):
            await asyncio.sleep(0)  # the first takes longest
        self.recorded.append(exchange)

    def tools(self, whose: Whose) -> Sequence[Tool]:
        return self.given

    async def close(self) -> None:
        self.closed = True
