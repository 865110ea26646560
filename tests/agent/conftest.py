"""The byte oracle around every conversation: what was sent is never unsent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes.providers.scripted import ScriptedModel
from hermes.sessions.sqlite import SqliteStore
from tests.agent.talk import Talk

Scene = Callable[[Talk], Awaitable[None]]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Callable[..., Talk]]:
    """Play a scene with a fresh conversation; afterwards every request is held against the one before."""
    talks: list[Talk] = []

    def run(scene: Scene, *arguments: Any, **options: Any) -> Talk:
        async def whole() -> Talk:
            store = SqliteStore(str(tmp_path / "sessions.db"))
            try:
                talk = Talk(tmp_path, store, *arguments, **options)
                talks.append(talk)
                await scene(talk)
            finally:
                await store.close()
            return talk

        return asyncio.run(whole())

    yield run
    for talk in talks:
        assert_append_only(talk.model)


def assert_append_only(model: ScriptedModel) -> None:
    """Each request of a session begins with all bytes of the one before, or names a recorded reason."""
    last: dict[str, bytes] = {}
    for request, body in zip(model.requests, model.bodies, strict=True):
        before = last.get(request.session_id, b"")
        assert request.epoch or body.startswith(before), f"{body[:200]!r} does not begin as the last request"
        last[request.session_id] = body.removesuffix(model.codec.tail(request, model.profile))
