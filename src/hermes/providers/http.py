"""One provider over HTTP: its headers, its refusals, its answers as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any

from hermes.errors import ModelError
from hermes.fragments import Piece
from hermes.providers.endpoints import Endpoint
from hermes.providers.failures import refused, unreachable, unreadable
from hermes.providers.http1 import HttpFailure, Pool, ProxyFor, Response, system_proxy
from hermes.providers.keys import Key
from hermes.providers.sse import Event, EventParser

DRAIN_SECONDS = 0.5
MAX_ERROR_BYTES = 64 * 1024
MAX_BYTES = 32 * 1024 * 1024
ANTHROPIC_VERSION = "2023-06-01"


class Http:
    """An endpoint that can be called; one connection is kept for the calls of a session."""

    def __init__(self, endpoint: Endpoint, key: Key, proxy_for: ProxyFor = system_proxy) -> None:
        self.endpoint = endpoint
        self.key = key
        self._proxy_for = proxy_for
        self._pool: Pool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"Http({self.endpoint.name!r}, {self.endpoint.base_url!r})"

    @asynccontextmanager
    async def post(self, path: str, body: Sequence[Piece], model: str) -> AsyncIterator[Reply]:
        """Send a body, in pieces, and give the reply as it comes. ModelError when it fails, at any point."""
        try:
            response = await self.pool().send("POST", path, self._headers(), body)
            try:
                if response.status != 200:
                    raise await self._refusal(response, model)
                if failure := unreadable(self.endpoint, response.headers):
                    raise failure
                yield Reply(response)
            finally:
                await response.close()
        except HttpFailure as failure:
            raise unreachable(self.endpoint, str(failure)) from None

    async def names(self) -> tuple[str, ...]:
        """The names of the models that the provider offers, sorted. ModelError when it does not tell."""
        try:
            response = await self.pool().send("GET", "models", self._headers())
            try:
                body = await response.whole(MAX_BYTES)
            finally:
                await response.close()
        except HttpFailure as failure:
            raise unreachable(self.endpoint, str(failure)) from None
        if response.status != 200:
            raise refused(self.endpoint, self.key, "", response.status, body, response.headers)
        return _names(body)

    def pool(self) -> Pool:
        """The connections; a new event loop needs new ones."""
        loop = asyncio.get_running_loop()
        if self._pool is None or self._loop is not loop:
            self._loop = loop
            local = self.endpoint.is_local  # no proxy leads to this machine
            self._pool = Pool(
                self.endpoint.base_url, self.endpoint.timeout, (lambda _: "") if local else self._proxy_for
            )
        return self._pool

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        pool, self._pool = self._pool, None
        if pool is not None and self._loop is asyncio.get_running_loop():
            await pool.close()

    async def _refusal(self, response: Response, model: str) -> ModelError:
        body = await response.whole(MAX_ERROR_BYTES)
        names: tuple[str, ...] = ()
        if response.status == 404:
            with suppress(ModelError):  # it is only for a hint
                names = await self.names()
        return refused(self.endpoint, self.key, model, response.status, body, response.headers, names)

    def _headers(self) -> dict[str, str]:
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            "accept-encoding": "identity",
            "user-agent": "hermes",
        }
        if self.endpoint.wire == "anthropic-messages":
            headers["anthropic-version"] = ANTHROPIC_VERSION
            if self.key.value:
                headers["x-api-key"] = self.key.value
        elif self.key.value:
            headers["authorization"] = f"Bearer {self.key.value}"
        return headers


class Reply:
    """An answer with status 200, as it comes."""

    def __init__(self, response: Response) -> None:
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._pieces = response.pieces()

    @property
    def is_stream(self) -> bool:
        return "json" not in self.headers.get("content-type", "")

    async def events(self) -> AsyncGenerator[Event, None]:
        parser = EventParser()
        async for piece in self._pieces:
            for event in parser.feed(piece):
                yield event

    async def whole(self) -> Any:
        """The JSON of an answer that is no stream; `None` when it is not JSON."""
        try:
            return json.loads(await self._response.whole(MAX_BYTES))
        except (ValueError, RecursionError):
            return None

    async def drain(self) -> None:
        """Read what follows the last event, so that the connection can be used again."""
        with suppress(TimeoutError, HttpFailure):  # then it is closed with the reply
            async with asyncio.timeout(DRAIN_SECONDS), aclosing(self._pieces):
                async for _ in self._pieces:
                    pass


def _names(body: bytes) -> tuple[str, ...]:
    try:
        return tuple(sorted(str(model["id"]) for model in json.loads(body)["data"]))
    except (ValueError, KeyError, TypeError):
        return ()
