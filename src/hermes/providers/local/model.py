"""A model that runs on this machine: the engine is started when it is called, and its prompt made ready."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

from hermes.config.records import Config
from hermes.contracts import ModelProfile
from hermes.errors import ModelError
from hermes.messages import ModelEvent, ModelRequest, PromptRead
from hermes.paths import Home
from hermes.providers.client import HttpModel
from hermes.providers.endpoints import Endpoint
from hermes.providers.http import Http
from hermes.providers.keys import Key
from hermes.providers.local.engine import Address, Engine, Settings
from hermes.providers.local.lock import locked
from hermes.providers.local.states import LEAST_CHARS, States

_FRAGMENT = b'{"role":"user","content":"-"}]}'


def local_engine(path: str, config: Config, home: Home, profile: ModelProfile) -> Engine:
    """The engine of a model file as it is configured."""
    window = profile.context_window or config.local.context_window
    return Engine(home, Settings(path, window, config.local.idle_minutes * 60.0))


class LocalModel(HttpModel):
    """A model file, served by an engine of our own."""

    def __init__(
        self, endpoint: Endpoint, profile: ModelProfile, engine: Engine, states_mb: int = 512
    ) -> None:
        super().__init__(replace(endpoint, progress=True), profile, Key("", ""))
        self.engine = engine
        self.states = States(engine.folder, engine.identity, states_mb * 1024 * 1024)
        self._at: Address | None = None
        self._prepared: tuple[Address | None, bytes] = (None, b"")

    def __repr__(self) -> str:
        return f"LocalModel({self.profile.name})"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        await self._connect()
        for part in (self._ready(request), super().stream(request)):
            async with aclosing(part) as events:
                async for event in events:
                    yield event

    async def _connect(self) -> None:
        """Speak with the engine that is there now."""
        address = await self.engine.address()
        if address == self._at:
            return
        await self.http.close()
        self.endpoint = replace(self.endpoint, base_url=f"{address.url}/v1")
        self.http = Http(self.endpoint, Key(address.key, "server.json"))
        self._at = address

    async def _ready(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Have the engine know the beginning of the prompt: fetched from disk, or read now and kept.

        Once for each engine and prompt, by whoever comes first. What fails here is made up for by the call
        itself, which reads what is not known.
        """
        if not request.system or not request.system[0]:
            return
        head = self.codec.head(request, self.profile)
        if self._prepared == (self._at, head):
            return
        async with locked(os.path.join(self.engine.folder, "reading")):
            try:
                beginnings = await self._beginnings(head, request.system)
                known = await self._known(beginnings)
                for text in beginnings[known:]:
                    async with aclosing(self._read(text)) as events:
                        async for event in events:
                            yield event
                self._prepared = (self._at, head)
            except ModelError as error:
                import logging

                logging.getLogger("hermes").warning("the prompt was not made ready: %s", error)

    async def _beginnings(self, head: bytes, system: tuple[str, ...]) -> list[str]:
        """The prompt up to the end of the stable tier, and of the context tier, as the engine reads it."""
        prompt = str((await self._post("apply-template", head + _FRAGMENT))["prompt"])
        found: list[str] = []
        for count in (1, 2):
            text = "\n\n".join(tier for tier in system[:count] if tier)
            at = prompt.find(text)
            end = at + len(text)
            if at >= 0 and end >= LEAST_CHARS and (not found or end > len(found[-1]) + LEAST_CHARS):
                found.append(prompt[:end])
        return found

    async def _known(self, beginnings: list[str]) -> int:
        """How many beginnings the engine knows, or can have fetched; the longest is fetched."""
        names = [self.states.name(text) for text in beginnings]
        read = self.states.read_by_now()
        for count in range(len(names), 0, -1):
            name = names[count - 1]
            if name in read:
                return count
            if self.states.is_here(name):
                try:
                    await self._slot("restore", name)
                except ModelError:
                    self.states.drop(name)  # of no use
                    continue
                self.states.note_read(names[:count])
                return count
        return 0

    async def _read(self, text: str) -> AsyncGenerator[ModelEvent, None]:
        """Have the engine read a beginning, and keep what it made of it."""
        asked = {
            "prompt": text,
            "n_predict": 0,
            "stream": True,
            "return_progress": True,
            "cache_prompt": True,
        }
        total = 0
        async with (
            self._posted("completion", json.dumps(asked).encode()) as reply,
            aclosing(reply.events()) as events,
        ):
            async for event in events:
                data = json.loads(event.data) if event.data.startswith("{") else {}
                total = int(data.get("tokens_evaluated", total))
                if told := data.get("prompt_progress"):
                    yield PromptRead(int(told["processed"]), int(told["total"]))
        name = self.states.name(text)
        self.states.note_read([name])
        written = f"{secrets.token_hex(8)}.new"
        saved = await self._slot("save", written)
        if saved.get("n_saved") == total:  # else another session came between
            self.states.keep(written, name)
        else:
            self.states.drop(written)

    async def _slot(self, action: str, name: str) -> Any:
        return await self._post(f"slots/0?action={action}", json.dumps({"filename": name}).encode())

    async def _post(self, path: str, body: bytes) -> Any:
        async with self._posted(path, body) as reply:
            return await reply.whole() or {}

    @asynccontextmanager
    async def _posted(self, path: str, body: bytes) -> AsyncGenerator[Any, None]:
        """Ask the engine something that is beside the wire of models."""
        assert self._at is not None
        http = Http(replace(self.endpoint, base_url=self._at.url), Key(self._at.key, "server.json"))
        try:
            async with http.post(path, (body,), self.profile.name) as reply:
                yield reply
        finally:
            await http.close()
