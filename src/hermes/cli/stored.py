"""Stored sessions, for commands that do not talk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from hermes.agent.prompt_builder import Sources
from hermes.errors import UsageError
from hermes.prompt import SystemPrompt
from hermes.sessions.contract import Store
from hermes.sessions.open import open_store

T = TypeVar("T")


def with_store(sources: Sources, use: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store of a home, use it, close it."""

    async def go() -> T:
        store = open_store(sources.home, sources.config)
        try:
            return await use(store)
        finally:
            await store.close()

    return asyncio.run(go())


def frozen_prompt(sources: Sources, name: str) -> SystemPrompt:
    """The frozen prompt of a stored session. UsageError when there is no such session."""

    async def read(store: Store) -> SystemPrompt:
        record = await store.get(await store.resolve(name))
        if record is None:
            raise UsageError(f"there is no session {name}; hermes sessions list shows them")
        return SystemPrompt.from_json(record.prompt_json)

    return with_store(sources, read)
