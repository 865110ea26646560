"""One server: connected, listened to, called, and connected again when it has died.

Everything here runs in one event loop, that of the lane which `fleet.py` gives to all servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from hermes.errors import HermesError
from hermes.mcp.settings import Server

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

    from mcp import Client

GIVE_UP = 60.0
"""Seconds after which a server that does not answer is no longer waited for, in the background either."""

_CLOSING = 4.0
_PAGES = 50


class ServerFailed(HermesError):
    """A server that cannot be had or has died; the message says why, without its secrets."""


class Connection:
    """A server and what it offers. `version` counts the lists of tools that it has sent."""

    def __init__(self, server: Server, log: str, timeout: float) -> None:
        self.server = server
        self.log = log
        self.timeout = timeout
        self.tools: tuple[Tool, ...] = ()
        self.instructions = ""
        self.version = 0
        self.died = ""
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Event | None = None
        self._stop: asyncio.Event | None = None
        self._lists: set[asyncio.Task[None]] = set()

    @property
    def used(self) -> bool:
        return self._task is not None

    @property
    def up(self) -> bool:
        return self._client is not None

    async def connect(self) -> None:
        """Be connected when this returns. ServerFailed when that cannot be; cancelling ends only the wait."""
        if self.up:
            return
        if self._task is None or self._task.done():
            self._ready, self._stop = asyncio.Event(), asyncio.Event()
            self._task = asyncio.create_task(self._serve(self._ready, self._stop))
        assert self._ready is not None
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({self._task, ready}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if self._task.done():
            self._failed(self._task)

    async def call(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool. ServerFailed when the connection does not hold."""
        from mcp_types import CONNECTION_CLOSED

        from mcp import MCPError

        await self.connect()
        assert self._client is not None
        try:
            return await self._client.call_tool(name, arguments, read_timeout_seconds=self.timeout)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self.close()
                self.died = "it died during a call"
                raise ServerFailed(
                    f"the MCP server {self.server.name} died during this call, so it is not known whether it "
                    "took effect; with the next call it is started anew"
                ) from None
            raise ServerFailed(self._said(error)) from None

    async def close(self) -> None:
        """End the connection, and the process where it is ours."""
        if self._task is None or self._stop is None:
            return
        self._stop.set()
        _, late = await asyncio.wait({self._task}, timeout=_CLOSING)
        for task in (*late, *self._lists):
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=_CLOSING)
        if not self._task.cancelled() and self._task.done():
            self._task.exception()  # what failed on its way out matters to nobody

    # -- the task that holds the connection ---------------------------------------------------------------

    async def _serve(self, ready: asyncio.Event, stop: asyncio.Event) -> None:
        from mcp import Client

        async with contextlib.AsyncExitStack() as stack:
            stack.callback(self._gone)
            async with asyncio.timeout(GIVE_UP):
                transport = await stack.enter_async_context(self._transport())
                client = await stack.enter_async_context(
                    Client(transport, read_timeout_seconds=GIVE_UP, message_handler=self._heard)
                )
                await self._list(client)
            self.instructions = client.instructions or ""
            self._client = client
            self.died = ""
            ready.set()
            await self._watch(client, stop)

    def _gone(self) -> None:
        self._client = None

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        """What the SDK speaks over; what a command writes to its standard error goes to the log."""
        server = self.server
        if server.url:
            from mcp.client.streamable_http import streamable_http_client
            from mcp.shared._httpx_utils import create_mcp_http_client

            async with create_mcp_http_client(dict(server.headers)) as http:
                yield streamable_http_client(server.url, http_client=http)
            return
        from mcp import StdioServerParameters, stdio_client

        os.makedirs(os.path.dirname(self.log), mode=0o700, exist_ok=True)
        with open(self.log, "w", encoding="utf-8", errors="replace") as log:
            parameters = StdioServerParameters(
                command=server.command,
                args=list(server.args),
                env=dict(server.env),
                cwd=server.cwd or None,
                encoding_error_handler="replace",
            )
            yield stdio_client(parameters, errlog=log)

    async def _list(self, client: Client) -> None:
        tools: list[Tool] = []
        cursor = None
        for _ in range(_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="refresh")
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        self.tools = tuple(sorted(tools, key=lambda t: t.name))
        self.version += 1

    async def _watch(self, client: Client, stop: asyncio.Event) -> None:
        """Until it is stopped or lost."""
        listening = asyncio.create_task(self._listen(client))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({listening, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not stop.is_set() and listening.exception() is None and not listening.result():
                await stop.wait()  # it sends no changes this way
        finally:
            for task in (listening, stopping):
                task.cancel()
            await asyncio.wait({listening, stopping})
        if not stop.is_set() and not self.server.url:
            self.died = "its process has ended"

    async def _listen(self, client: Client) -> bool:
        """Hear of changed lists; True when the connection was lost, False when it sends none this way."""
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

        from mcp import MCPError

        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    await self._list(client)
        except SubscriptionLost:
            return True
        except (ListenNotSupportedError, MCPError, TimeoutError):
            return False
        return False

    async def _heard(self, message: object) -> None:
        """A notification of a server that speaks the earlier protocol."""
        if getattr(message, "method", "") == "notifications/tools/list_changed" and self._client is not None:
            task = asyncio.create_task(self._list(self._client))
            self._lists.add(task)
            task.add_done_callback(self._lists.discard)

    # -- what failed --------------------------------------------------------------------------------------

    def _failed(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        raise ServerFailed(self._said(error, self._last_words()))

    def _said(self, error: BaseException | None, more: str = "") -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        reason = "it was stopped" if error is None else " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, TimeoutError):
            reason = f"no answer within {GIVE_UP:g} s"
        text = f"the MCP server {self.server.name} failed: {reason}{more}"
        return self.server.hide(text)

    def _last_words(self) -> str:
        """The end of what a command wrote to its standard error."""
        if self.server.url:
            return ""
        try:
            with open(self.log, "rb") as log:
                lines = log.read()[-2_000:].decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"; it last said: {' '.join(last.split())[:200]}" if last else ""
