"""One provider over HTTP: one client, one connection kept for the calls of a session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from hermes.errors import ModelError
from hermes.providers.endpoints import Endpoint
from hermes.providers.failures import refused, unreachable
from hermes.providers.keys import Key
from hermes.providers.sse import Event, EventParser

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 15.0
IDLE_SECONDS = 120.0
"""How long an unused connection is kept: a tool may run for a while between two calls."""
DRAIN_SECONDS = 0.5
MAX_ERROR_BYTES = 64 * 1024
ANTHROPIC_VERSION = "2023-06-01"
USER_AGENT = "hermes"


class Http:
    """The connection to an endpoint. `transport` stands in for the network in tests."""

    def __init__(
        self, endpoint: Endpoint, key: Key, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self.endpoint = endpoint
        self.key = key
        self._transport = transport
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"Http({self.endpoint.name!r}, {self.endpoint.base_url!r})"

    @asynccontextmanager
    async def post(self, path: str, body: bytes, model: str) -> AsyncIterator[Reply]:
        """Send a body and give the reply as it comes. ModelError when it fails, at any point."""
        import httpx2

        client = self.client()
        request = client.build_request(
            "POST", f"{self.endpoint.base_url}/{path}", content=body, headers=self._headers()
        )
        try:
            response = await client.send(request, stream=True)
            try:
                if response.status_code != 200:
                    await self._refuse(response, model)
                reply = Reply(response)
                try:
                    yield reply
                finally:
                    await reply.close()
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            # Not chained: an error about a header would show the key.
            raise unreachable(self.endpoint, _problem(error)) from None

    async def names(self) -> tuple[str, ...]:
        """The names of the models that the provider offers, sorted. ModelError when it does not tell."""
        import httpx2

        client = self.client()
        try:
            response = await client.get(f"{self.endpoint.base_url}/models", headers=self._headers())
        except httpx2.HTTPError as error:
            raise unreachable(self.endpoint, _problem(error)) from None
        if response.status_code != 200:
            raise refused(
                self.endpoint, self.key, "", response.status_code, response.content, response.headers
            )
        return _names(response.content)

    def client(self) -> httpx2.AsyncClient:
        """The one client, made at its first use; a new event loop needs a new one."""
        import httpx2

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            local = self.endpoint.is_local
            self._loop = loop
            self._client = httpx2.AsyncClient(
                transport=self._transport,
                # Without TLS its certificates need not be read, which takes longer than a call.
                verify=not self.endpoint.base_url.startswith("http:"),
                trust_env=not local,  # a proxy does not lead to this machine
                timeout=httpx2.Timeout(self.endpoint.timeout, connect=CONNECT_SECONDS),
                limits=httpx2.Limits(
                    max_connections=None, max_keepalive_connections=20, keepalive_expiry=IDLE_SECONDS
                ),
            )
        return self._client

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _refuse(self, response: httpx2.Response, model: str) -> None:
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > MAX_ERROR_BYTES:
                break
        names: tuple[str, ...] = ()
        if response.status_code == 404:
            try:
                names = await self.names()
            except ModelError:  # it is only for a hint
                names = ()
        raise refused(
            self.endpoint, self.key, model, response.status_code, bytes(body), response.headers, names
        )

    def _headers(self) -> dict[str, str]:
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            "accept-encoding": "identity",
            "user-agent": USER_AGENT,
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

    def __init__(self, response: httpx2.Response) -> None:
        self.headers: Mapping[str, str] = response.headers
        self._pieces: AsyncGenerator[bytes, None] = response.aiter_bytes()

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
        body = b"".join([piece async for piece in self._pieces])
        try:
            return json.loads(body)
        except ValueError:
            return None

    async def drain(self) -> None:
        """Read what follows the last event, so that the connection can be used again."""
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                async for _ in self._pieces:
                    pass
        except TimeoutError:
            pass  # the connection is closed with the reply

    async def close(self) -> None:
        await self._pieces.aclose()


def _names(body: bytes) -> tuple[str, ...]:
    try:
        data = json.loads(body)
        return tuple(sorted(str(model["id"]) for model in data["data"]))
    except (ValueError, KeyError, TypeError):
        return ()


def _problem(error: httpx2.HTTPError) -> str:
    """What went wrong, by the kind of error alone: its text may hold a header."""
    import httpx2

    if "CERTIFICATE" in str(error).upper():
        return "its certificate is not trusted here"
    problems = (
        (httpx2.ConnectTimeout, "it does not answer"),
        (httpx2.TimeoutException, "no answer came in time"),
        (httpx2.ProxyError, "the proxy refused the connection"),
        (httpx2.ConnectError, "no connection could be made"),
        (httpx2.UnsupportedProtocol, "its address does not begin with http:// or https://"),
        (httpx2.LocalProtocolError, "the request could not be sent as it is"),
    )
    return next((text for kind, text in problems if isinstance(error, kind)), "the connection was broken off")
