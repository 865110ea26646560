"""The HTTP client against servers that speak in every way they may, and in some that they may not."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hermes.fragments import Piece
from hermes.providers import http1
from hermes.providers.http1 import HttpFailure, Pool, system_proxy

PEM = Path(__file__).with_name("localhost.pem")
HEAD = b"HTTP/1.1 200 OK\r\n"
Serve = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bool]]


class Server:
    """Answers each request with the next of some bytes; `None` in their place hangs up without a word."""

    def __init__(self, *answers: bytes | None, context: ssl.SSLContext | None = None) -> None:
        self.answers = list(answers)
        self.context = context
        self.requests: list[bytes] = []
        self.connections = 0
        self.port = 0
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._serve, "localhost", 0, ssl=self.context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next(
                    (
                        int(v)
                        for v in head.lower().split(b"content-length: ")[1:]
                        for v in [v.split(b"\r")[0]]
                    ),
                    0,
                )
                self.requests.append(head + await reader.readexactly(size))
                answer = self.answers.pop(0)
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
                if b"connection: close" in answer or b"HTTP/1.0" in answer:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()


def no_proxy(_: str) -> str:
    return ""


def pool(
    server: Server, proxy: Callable[[str], str] = no_proxy, timeout: float = 5.0, scheme: str = "http"
) -> Pool:
    return Pool(f"{scheme}://localhost:{server.port}/v1", timeout, proxy)


async def ask(connections: Pool, *body: Piece) -> tuple[int, bytes]:
    response = await connections.send("POST", "chat", {"x-a": "b"}, body or (b"{}",))
    try:
        return response.status, await response.whole(1 << 20)
    finally:
        await response.close()


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n002\r\nde\r\n0\r\ntrailer: x\r\n\r\n"
SIZED = HEAD + b"content-length: 5\r\n\r\nabcde"


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (CHUNKED, True),
        (SIZED, True),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + SIZED, True),
        (HEAD + b"connection: close\r\n\r\nabcde", False),
        (HEAD + b"connection: close\r\ncontent-length: 5\r\n\r\nabcde", False),
        (b"HTTP/1.0 200 OK\r\n\r\nabcde", False),
    ],
)
def test_bodies_of_every_kind(answer: bytes, kept: bool) -> None:
    async def run() -> None:
        async with Server(answer, answer) as server:
            connections = pool(server)
            assert [await ask(connections) for _ in range(2)] == [(200, b"abcde")] * 2
            assert server.connections == (1 if kept else 2)
            await connections.close()

    asyncio.run(run())


def test_what_is_sent() -> None:
    async def run() -> None:
        async with Server(SIZED) as server:
            connections = pool(server)
            await ask(connections, b'{"a', memoryview(b'":1}'))
            await connections.close()
            host = f"localhost:{server.port}".encode()
            assert server.requests == [
                b"POST /v1/chat HTTP/1.1\r\nhost: " + host + b'\r\nx-a: b\r\ncontent-length: 7\r\n\r\n{"a":1}'
            ]

    asyncio.run(run())


def test_a_kept_connection_that_was_closed_meanwhile_is_no_failure() -> None:
    async def run() -> None:
        async with Server(SIZED, SIZED, None, SIZED) as server:
            connections = pool(server)
            await ask(connections)
            server.hang_up()
            await asyncio.sleep(0.01)
            assert (await ask(connections))[0] == 200  # heard in time
            assert (await ask(connections))[0] == 200  # heard only when it was written to
            assert server.connections == 3
            await connections.close()

    asyncio.run(run())


def test_a_new_connection_that_is_closed_is_one() -> None:
    async def run() -> None:
        async with Server(None, None) as server:
            with pytest.raises(HttpFailure, match="broken off"):
                await ask(pool(server))
            assert server.connections == 1

    asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (HEAD + b"connection: close\r\ncontent-length: 9\r\n\r\nabc", "broken off"),
        (HEAD + b"connection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc", "broken off"),
        (HEAD + b"connection: close\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "broken off"),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\n", "broken off"),
        (b"220 mail.example ESMTP\r\nconnection: close\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000 + b"\r\nconnection: close\r\n\r\n", "no HTTP"),
        (HEAD + b"content-length: 9\r\n\r\nabc", "no answer came in time"),
        (b"HTTP/1.1 200 OK\r\n", "no answer came in time"),
    ],
)
def test_answers_that_are_none(answer: bytes, words: str) -> None:
    async def run() -> None:
        async with Server(answer) as server:
            with pytest.raises(HttpFailure, match=words):
                await ask(pool(server, timeout=0.2))

    asyncio.run(run())


def test_leaving_a_body_hangs_up_and_so_does_a_cancelled_call() -> None:
    async def run() -> None:
        async with Server(HEAD + b"content-length: 9\r\n\r\nabc", b"HTTP/1.1 200", SIZED) as server:
            connections = pool(server)
            response = await connections.send("GET", "x", {})
            pieces = response.pieces()
            assert await anext(pieces) == b"abc"
            await pieces.aclose()
            await response.close()
            task = asyncio.create_task(ask(connections))
            while len(server.requests) < 2:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await ask(connections))[0] == 200
            assert server.connections == 3
            await connections.close()

    asyncio.run(run())


def test_who_cannot_be_reached() -> None:
    async def run() -> None:
        for address, words in (
            ("http://localhost:9", "no connection could be made"),
            ("http://nobody.invalid", "its name is not known"),
        ):
            with pytest.raises(HttpFailure, match=words):
                await ask(Pool(address, 5.0, no_proxy))

    asyncio.run(run())


def test_only_so_many_connections_are_kept() -> None:
    async def run() -> None:
        async with Server(*[SIZED] * 60) as server:
            connections = pool(server)
            await asyncio.gather(*(ask(connections) for _ in range(30)))
            assert server.connections == 30
            await asyncio.gather(*(ask(connections) for _ in range(30)))
            assert server.connections == 60 - http1.MAX_IDLE
            await connections.close()

    asyncio.run(run())


@pytest.mark.parametrize("secure", [False, True])
def test_a_long_body_goes_out_in_pieces_and_arrives_whole(
    secure: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = bytes(range(256)) * 1024
    pieces = [b"{", block, memoryview(block)[5:], b",", *([b"x" * 9_000] * 40), memoryview(block * 9), b"}"]

    async def run() -> None:
        async with Server(SIZED, None, SIZED, context=tls(True, monkeypatch) if secure else None) as server:
            connections = pool(server, scheme="https" if secure else "http")
            for _ in range(2):  # for the second the kept connection is gone, and all is sent again
                assert await ask(connections, *pieces) == (200, b"abcde")
            sent = [request.partition(b"\r\n\r\n")[2] for request in server.requests]
            assert sent == [b"".join(pieces)] * 3
            await connections.close()

    asyncio.run(run())


def tls(trusted: bool, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    return context


async def _tunnel(server: Server, seen: list[bytes]) -> asyncio.Server:
    """A proxy that passes on what comes after CONNECT."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        to, back = await asyncio.open_connection("localhost", server.port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            try:
                while data := await source.read(65536):
                    target.write(data)
            except ConnectionError:
                pass
            target.close()

        await asyncio.gather(pass_on(reader, back), pass_on(to, writer))

    return await asyncio.start_server(serve, "localhost", 0)


@pytest.mark.parametrize("proxied", [False, True])
def test_tls_with_a_certificate_that_the_system_trusts(
    proxied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = tls(True, monkeypatch)

    async def run() -> None:
        seen: list[bytes] = []
        async with Server(CHUNKED, SIZED, context=context) as server:
            tunnel = await _tunnel(server, seen)
            port = tunnel.sockets[0].getsockname()[1]
            connections = pool(
                server,
                (lambda _: f"http://me:p%40ss@localhost:{port}") if proxied else no_proxy,
                scheme="https",
            )
            assert [await ask(connections) for _ in range(2)] == [(200, b"abcde")] * 2
            assert server.connections == 1
            await connections.close()
            await asyncio.sleep(0.05)
            tunnel.close()
            told = b"proxy-authorization: Basic " + b64encode(b"me:p@ss")
            target = f"localhost:{server.port}".encode()
            asked = b"CONNECT " + target + b" HTTP/1.1\r\nhost: " + target + b"\r\n" + told + b"\r\n\r\n"
            assert seen == ([asked] if proxied else [])

    asyncio.run(run())


def test_tls_with_a_certificate_that_nobody_trusts(monkeypatch: pytest.MonkeyPatch) -> None:
    context = tls(False, monkeypatch)

    async def run() -> None:
        async with Server(SIZED, context=context) as server:
            with pytest.raises(HttpFailure, match="its certificate is not trusted here"):
                await ask(pool(server, scheme="https"))

    asyncio.run(run())


def test_tls_where_there_is_none() -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(refuse, "localhost", 0)
        address = f"https://localhost:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(HttpFailure, match="no secure connection could be made"):
            await ask(Pool(address, 5.0, no_proxy))
        server.close()

    asyncio.run(run())


def test_plain_requests_through_a_proxy_name_the_whole_address() -> None:
    async def run() -> None:
        async with Server(SIZED) as proxy:
            connections = Pool("http://lab.example/v1", 5.0, lambda _: f"me:you@localhost:{proxy.port}")
            assert await ask(connections) == (200, b"abcde")
            await connections.close()
            first, *lines = proxy.requests[0].decode().split("\r\n")
            assert first == "POST http://lab.example/v1/chat HTTP/1.1"
            assert "host: lab.example" in lines
            assert f"proxy-authorization: Basic {b64encode(b'me:you').decode()}" in lines

    asyncio.run(run())


def test_proxies_that_refuse_or_are_of_another_kind() -> None:
    async def run() -> None:
        async with Server(
            b"HTTP/1.1 407 Proxy Authentication Required\r\nconnection: close\r\n\r\n"
        ) as proxy:
            with pytest.raises(HttpFailure, match="its proxy refused the connection with status 407"):
                await ask(Pool("https://lab.example/v1", 5.0, lambda _: f"localhost:{proxy.port}"))
        with pytest.raises(HttpFailure, match="a kind that is not known here, socks5"):
            await ask(Pool("https://lab.example/v1", 5.0, lambda _: "socks5://localhost:1"))

    asyncio.run(run())


def test_the_systems_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert system_proxy("https://lab.example/v1") == ""
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert system_proxy("https://lab.example/v1") == "http://proxy:3128"
    assert system_proxy("https://inside.example/v1") == ""
    assert system_proxy("http://lab.example/v1") == ""
