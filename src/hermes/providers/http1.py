"""HTTP/1.1 over asyncio, as much of it as calling a model takes.

A client library takes longer to import than all the rest of a question and its answer. This knows POST, GET,
streamed answers, kept connections, TLS with the system's certificates, and HTTP proxies.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from base64 import b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from hermes.fragments import Piece

if TYPE_CHECKING:
    import ssl

CONNECT_SECONDS = 15.0
IDLE_SECONDS = 120.0
"""How long an unused connection is kept: a tool may run for a while between two calls."""
MAX_IDLE = 20
PIECE = 64 * 1024
UNTRUSTED = "its certificate is not trusted here"
"""What trying again does not mend."""
SILENT = "no answer came in time"

ProxyFor = Callable[[str], str]
"""Gives the address of the proxy for an address, or ""."""


class HttpFailure(Exception):
    """No answer, or not the whole of it; the message says briefly why and holds nothing that was sent."""


@dataclass(slots=True)
class _Line:
    """One connection. `proxy` are the headers for a proxy that is asked by whole addresses."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    proxy: str | None = None
    used: bool = False
    since: float = 0.0

    @property
    def is_open(self) -> bool:
        fresh = time.monotonic() - self.since < IDLE_SECONDS
        return fresh and not self.reader.at_eof() and not self.writer.is_closing()

    async def send(self, pieces: Iterable[Piece]) -> None:
        """Send it all. What was joined for that is not held while the answer is waited for."""
        for piece in _sizeable(pieces):
            self.writer.write(piece)
            await self.writer.drain()  # else what does not go out at once would be copied

    def drop(self) -> None:
        self.writer.transport.abort()


class Pool:
    """The connections to one server. `timeout` is in seconds, for each wait."""

    def __init__(self, base_url: str, timeout: float, proxy_for: ProxyFor) -> None:
        parts = urlsplit(base_url)
        self._secure = parts.scheme == "https"
        self._name = parts.hostname or ""
        self._port = parts.port or (443 if self._secure else 80)
        self._host = parts.netloc.rpartition("@")[2]
        self._path = parts.path.rstrip("/")
        self._base_url = base_url
        self._timeout = timeout
        self._proxy_for = proxy_for
        self._idle: list[_Line] = []
        self._context: ssl.SSLContext | None = None

    async def send(
        self, method: str, path: str, headers: Mapping[str, str], body: Sequence[Piece] = ()
    ) -> Response:
        """Send a request, the body in pieces, and wait for an answer's head. HttpFailure when none comes."""
        length = sum(map(len, body))
        while True:
            line = await self._line()
            try:
                return await self._exchange(line, (self._head(line, method, path, headers, length), *body))
            except (HttpFailure, asyncio.CancelledError):
                line.drop()
                raise
            except (OSError, asyncio.IncompleteReadError) as error:
                line.drop()
                begun = isinstance(error, asyncio.IncompleteReadError) and bool(error.partial)
                # A kept connection may have been closed just now, unheard: then a new one is tried.
                if begun or not line.used:
                    raise HttpFailure("the connection was broken off") from None

    async def close(self) -> None:
        """Close the kept connections."""
        idle, self._idle = self._idle, []
        for line in idle:
            line.drop()
        await asyncio.sleep(0)  # in which they are really closed

    def keep(self, line: _Line) -> None:
        """Take back a connection whose answer was read to its end."""
        line.used, line.since = True, time.monotonic()
        self._idle.append(line)
        if len(self._idle) > MAX_IDLE:
            self._idle.pop(0).drop()

    async def _line(self) -> _Line:
        if self._idle:
            await asyncio.sleep(0)  # in which the news of a closed connection comes in
        while self._idle:
            line = self._idle.pop()
            if line.is_open:
                return line
            line.drop()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await self._open()
        except TimeoutError:
            raise HttpFailure("it does not answer") from None
        except socket.gaierror:
            raise HttpFailure("its name is not known") from None
        except (OSError, EOFError, asyncio.LimitOverrunError) as error:
            raise HttpFailure(_reason(error)) from None

    async def _open(self) -> _Line:
        proxy = self._proxy_for(self._base_url)
        if not proxy:
            reader, writer = await asyncio.open_connection(
                self._name,
                self._port,
                ssl=self._tls() if self._secure else None,
                server_hostname=self._name if self._secure else None,
                happy_eyeballs_delay=0.25,
            )
            return _Line(reader, writer)
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        if parts.scheme != "http" or not parts.hostname:
            raise HttpFailure(f"its proxy is of a kind that is not known here, {parts.scheme}")
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
        line = _Line(reader, writer, None if self._secure else _authorisation(parts))
        if self._secure:
            with contextlib.ExitStack() as undo:
                undo.callback(line.drop)
                await self._tunnel(line, _authorisation(parts))
                undo.pop_all()
        return line

    async def _tunnel(self, line: _Line, authorisation: str) -> None:
        """Let a proxy pass everything on, and speak TLS through it."""
        target = f"{self._name}:{self._port}"
        line.writer.write(f"CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n{authorisation}\r\n".encode())
        status, _ = _parse_head(await line.reader.readuntil(b"\r\n\r\n"))
        if status != 200:
            raise HttpFailure(f"its proxy refused the connection with status {status}")
        await line.writer.start_tls(self._tls(), server_hostname=self._name)

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            import ssl

            import truststore

            self._context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return self._context

    def _head(self, line: _Line, method: str, path: str, headers: Mapping[str, str], length: int) -> bytes:
        target = f"{self._path}/{path}"
        if line.proxy is not None:
            target = f"http://{self._host}{target}"
        told = {"host": self._host, **headers, **({"content-length": str(length)} if length else {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        return f"{method} {target} HTTP/1.1\r\n{lines}{line.proxy or ''}\r\n".encode("latin-1")

    async def _exchange(self, line: _Line, request: Iterable[Piece]) -> Response:
        try:
            async with asyncio.timeout(self._timeout):
                await line.send(request)
                status = 100
                while status < 200:
                    status, headers = _parse_head(await line.reader.readuntil(b"\r\n\r\n"))
        except TimeoutError:
            raise HttpFailure(SILENT) from None
        except asyncio.LimitOverrunError:
            raise HttpFailure("what it answers is no HTTP") from None
        return Response(self, line, status, headers, self._timeout)


class Response:
    """An answer whose head is here and whose body comes in pieces."""

    def __init__(self, pool: Pool, line: _Line, status: int, headers: dict[str, str], timeout: float) -> None:
        self.status = status
        self.headers = headers
        self._pool = pool
        self._line: _Line | None = line
        self._timeout = timeout

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives; after the last piece the connection can be used again."""
        line = self._line
        if line is None:
            return
        try:
            if self.headers.get("transfer-encoding", "").lower().endswith("chunked"):
                while left := await self._chunk_size(line.reader):
                    async for piece in self._run(line.reader, left):
                        yield piece
                    await self._wait(line.reader.readexactly(2))
                while (await self._wait(line.reader.readline())).strip():
                    pass  # trailers
            elif (length := self.headers.get("content-length", "")).isdigit():
                async for piece in self._run(line.reader, int(length)):
                    yield piece
            else:
                while piece := await self._wait(line.reader.read(PIECE)):
                    yield piece
                return  # it ends with the connection
        except (OSError, EOFError, ValueError):
            raise HttpFailure("the connection was broken off") from None
        if self.headers.get("connection", "").lower() != "close":
            self._line = None
            self._pool.keep(line)

    async def whole(self, most: int) -> bytes:
        """The body, or so many bytes of it."""
        body = bytearray()
        async for piece in self.pieces():
            body += piece
            if len(body) > most:
                break
        return bytes(body[:most])

    async def close(self) -> None:
        """Hang up, unless all was read."""
        line, self._line = self._line, None
        if line is not None:
            line.drop()
            await asyncio.sleep(0)

    async def _chunk_size(self, reader: asyncio.StreamReader) -> int:
        text = await self._wait(reader.readline())
        if not text.endswith(b"\n"):
            raise EOFError
        return int(text.partition(b";")[0], 16)

    async def _run(self, reader: asyncio.StreamReader, left: int) -> AsyncGenerator[bytes, None]:
        while left:
            piece = await self._wait(reader.read(min(left, PIECE)))
            if not piece:
                raise EOFError
            left -= len(piece)
            yield piece

    async def _wait(self, reading: Awaitable[bytes]) -> bytes:
        try:
            async with asyncio.timeout(self._timeout):
                return await reading
        except TimeoutError:
            raise HttpFailure(SILENT) from None


def _sizeable(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same bytes, little pieces put together: it is dear to send a few bytes, and to copy many."""
    few: list[Piece] = []
    for piece in pieces:
        if len(piece) < PIECE:
            few.append(piece)
            continue
        if few:
            yield b"".join(few)
            few.clear()
        yield piece
    if few:
        yield b"".join(few)


def _parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    """Status and headers, names in lower case. HttpFailure when it is no HTTP."""
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
        raise HttpFailure("what it answers is no HTTP")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if version == "HTTP/1.0":
        headers.setdefault("connection", "close")
    return int(rest[:3]), headers


def _authorisation(proxy: SplitResult) -> str:
    if not proxy.username:
        return ""
    told = b64encode(f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()).decode()
    return f"proxy-authorization: Basic {told}\r\n"


def _reason(error: Exception) -> str:
    """Why no connection came about; no words of the error itself, which may hold what was sent."""
    import ssl

    if isinstance(error, ssl.SSLCertVerificationError):
        return UNTRUSTED
    if isinstance(error, ssl.SSLError):
        return "no secure connection could be made"
    return "no connection could be made"


def system_proxy(url: str) -> str:
    """The proxy that the system's settings and the environment name for an address; "" for none."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxies = getproxies()
    if parts.hostname is None or proxy_bypass(parts.hostname):
        return ""
    return proxies.get(parts.scheme) or proxies.get("all") or ""
