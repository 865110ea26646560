"""Fleets over real servers, each in a process or behind a socket of its own."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from hermes.config.records import McpConfig
from hermes.mcp.fleet import Fleet
from hermes.mcp.settings import servers
from hermes.paths import Home
from hermes.provenance import Notice
from hermes.security.policy import Policies
from hermes.tooling import Tool, ToolContext

T = TypeVar("T")
SCRIPT = str(Path(__file__).with_name("stdio_server.py"))
KEY = "Bearer sesame-1234"


def stdio(*arguments: str, **more: Any) -> dict[str, Any]:
    """The entry of a server that runs `stdio_server.py`."""
    return {"command": sys.executable, "args": (SCRIPT, *arguments), **more}


def fleet(
    tmp_path: Path, variables: dict[str, str] | None = None, **entries: dict[str, Any]
) -> tuple[Fleet, tuple[Notice, ...]]:
    """The servers of these entries; `start_timeout` and `call_timeout` set the times."""
    times = {k: entries.pop(k) for k in ("start_timeout", "call_timeout") if k in entries}
    config = McpConfig(entries, **{"start_timeout": 30.0, "call_timeout": 20.0, **times})  # type: ignore[arg-type]
    home = Home(str(tmp_path / "home"))
    known, notices = servers(config, home, lambda name: (variables or {}).get(name, ""))
    return Fleet(known, config, Policies(), home), notices


def using(made: Fleet, use: Callable[[Fleet], Awaitable[T]], *, start: bool = True) -> T:
    """Start the servers, use them, end them."""

    async def go() -> T:
        try:
            if start:
                await made.start()
            return await use(made)
        finally:
            await made.close()

    return asyncio.run(go())


def tool(made: Fleet, name: str) -> Tool:
    return next(t for t in made.tools if t.spec.name == name)


async def called(made: Fleet, name: str, arguments: str = "{}") -> str:
    return await tool(made, name).call(arguments, ToolContext())


@contextmanager
def http_server(*arguments: str, **options: bool) -> Iterator[str]:
    """The address of the demo server over HTTP, which wants a key."""
    import uvicorn

    from tests.mcp.demo import build

    inner = build(*arguments, **options).streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != KEY.encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"no"})
            return
        await inner(scope, receive, send)

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(guarded, log_level="error", ws="none", timeout_graceful_shutdown=1)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        running.should_exit = True
        thread.join()
        listening.close()


def web(url: str, **more: Any) -> dict[str, Any]:
    """The entry of such a server."""
    return {"url": url, "headers": {"Authorization": KEY}, **more}
