"""All servers of one conversation: waited for a little at its start, called when a model asks."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from hermes.config.records import McpConfig
from hermes.lane import Lane, LaneBusy
from hermes.mcp.connection import Connection, ServerFailed
from hermes.mcp.offer import Offered, ServerTool, answer, offered, prefix
from hermes.mcp.settings import Server
from hermes.messages import ToolSpec
from hermes.paths import Home
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Origin, Passage, digest_of
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.tooling import Tool, ToolContext, ToolError

MAX_INSTRUCTIONS = 2_000
MAX_ALL_INSTRUCTIONS = 6_000
"""Characters of the instructions of one server, and of all."""

_IMPORT = 30.0


class Fleet:
    """The servers that are on. `tools` are what they offer now; a session's frozen list stays as it is."""

    def __init__(
        self, servers: tuple[Server, ...], config: McpConfig, policies: Policies, home: Home
    ) -> None:
        self.config = config
        self.policies = policies
        self.lane = Lane("the MCP servers", together=True)
        self.connections = {
            s.name: Connection(s, home.path("cache", "mcp", f"{s.name}.log"), config.call_timeout)
            for s in servers
            if s.enabled
        }
        self._connecting: set[asyncio.Task[None]] = set()
        self._offers: dict[str, tuple[int, tuple[Offered, ...]]] = {}
        self._told: set[str] = set()
        self._notices: list[Notice] = []

    # -- start and end ------------------------------------------------------------------------------------

    async def start(self, wait: bool = True) -> None:
        """Connect to every server; wait for those that are quick. The others go on connecting."""
        if not self.connections:
            return
        if not wait:
            self.lane.post(self._connect_all)
            return
        try:
            await self.lane.wait(_load_sdk, _IMPORT)
            await self.lane.wait(self._connect_all, self.config.start_timeout + 5)
        except ImportError:
            text = "mcp.servers are configured but the SDK is missing; pip install 'hermes-lucid[mcp]'"
            self._tell("", "error", text)
        except (TimeoutError, LaneBusy) as error:
            self._tell("", "error", f"the MCP servers could not be started: {error}")

    async def _connect_all(self) -> None:
        waiting = {asyncio.create_task(self._connect(c)): name for name, c in self.connections.items()}
        if not waiting:
            return
        _, late = await asyncio.wait(waiting, timeout=self.config.start_timeout)
        for task in late:
            name = waiting[task]
            text = (
                f"the MCP server {name} has not answered within {self.config.start_timeout:g} s; its tools "
                "come at the next boundary after it does (a new session, /refresh, /compress)"
            )
            self._tell(name, "warning", text)
        self._connecting = late  # tasks that nobody holds may be collected

    async def _connect(self, connection: Connection) -> None:
        try:
            await connection.connect()
        except ServerFailed as error:
            self._tell(connection.server.name, "error", f"{error}; a call of its tools tries again")

    async def close(self) -> None:
        """End every connection."""

        async def close_all() -> None:
            await asyncio.gather(*(c.close() for c in self.connections.values()))

        if any(c.used for c in self.connections.values()):
            with contextlib.suppress(TimeoutError, LaneBusy):  # what stays ends with the process
                await self.lane.wait(close_all, 10.0)
        self.lane.close()

    # -- offer --------------------------------------------------------------------------------------------

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that are known now, by server and name. A change since last time is told."""
        return tuple(self._tool(name, one) for name in sorted(self.connections) for one in self._offer(name))

    def _offer(self, name: str) -> tuple[Offered, ...]:
        connection = self.connections[name]
        version, before = self._offers.get(name, (0, ()))
        if connection.version == version:
            return before
        now, notices = offered(connection.server, connection.tools, self.policies)
        self._offers[name] = connection.version, now
        self._notices += notices
        if version and (words := _difference(before, now)):
            text = f"the tools of the MCP server {name} have changed ({words}); that counts from the next"
            self._tell("", "info", f"{text} boundary on (a new session, /refresh, /compress)")
        return now

    def _tool(self, server: str, one: Offered) -> Tool:
        async def run(context: ToolContext, arguments: dict[str, Any]) -> str:  # noqa: ARG001
            return await self._call(server, one.spec.name, arguments)

        return ServerTool(one.spec, run, parallel=one.reads_only)

    def late(self, spec: ToolSpec) -> Tool | None:
        """A tool of a frozen list whose server is not connected yet; None when it is of none of ours."""
        name = next((n for n in self.connections if spec.name.startswith(prefix(n))), None)
        return None if name is None else self._tool(name, Offered(spec, "", False))

    async def _call(self, server: str, name: str, arguments: dict[str, Any]) -> str:
        connection = self.connections[server]
        limit = self.config.start_timeout
        try:
            if not connection.up:
                await self.lane.wait(_load_sdk, _IMPORT)
                await self.lane.wait(connection.connect, limit)
            remote = next((o.remote for o in self._offer(server) if o.spec.name == name), None)
            if remote is None:
                raise ToolError(f"the MCP server {server} no longer has the tool {name}; do without it")
            result = await self.lane.wait(
                lambda: connection.call(remote, arguments), self.config.call_timeout + 1
            )
        except ServerFailed as error:
            raise ToolError(str(error)) from None
        except TimeoutError as error:
            raise ToolError(f"the MCP server {server}: {error}; try again later or do without it") from None
        except ImportError:
            raise ToolError("the MCP SDK is not installed; do without this tool") from None
        try:
            return connection.server.hide(answer(result))
        except ToolError as error:
            raise ToolError(connection.server.hide(str(error))) from None

    def instructions(self) -> Passage:
        """What the servers say about the use of their tools: admitted, each and all within a budget."""
        parts: list[Passage] = []
        left = MAX_ALL_INSTRUCTIONS
        for name in sorted(self.connections):
            text = self.connections[name].instructions.strip()
            limit = min(MAX_INSTRUCTIONS, left)
            if not text:
                continue
            if len(text) > limit:
                sizes = f"{limit:,} of {len(text):,} characters"
                self._tell("", "warning", f"the instructions of the MCP server {name} were cut: {sizes}")
                text = f"{text[:limit]} […]" if limit else ""
            left -= min(limit, len(text))
            origin = Origin("mcp", name, digest_of(text), trust="third_party")
            admitted = admit(
                Passage.quote(text, origin),
                name=f"the instructions of the MCP server {name}",
                policy=self.policies.of("third_party"),
            )
            self._notices += admitted.passage.notices
            if admitted.outcome not in ("blocked", "empty"):
                body = Passage(admitted.passage, admitted.passage.spans)
                parts.append(Passage.joined("\n\n", [Passage.own(f"## {name}", "mcp"), body]))
        return Passage.joined("\n\n", [prompt_text("mcp"), *parts]) if parts else Passage()

    # -- tell ---------------------------------------------------------------------------------------------

    def _tell(self, server: str, level: str, text: str) -> None:
        self._notices.append(Notice(level, text, Origin("mcp", server)))  # type: ignore[arg-type]

    def told(self) -> tuple[Notice, ...]:
        """What there is to tell since this was asked last."""
        for name, connection in self.connections.items():
            if connection.died and name not in self._told:
                text = f"the MCP server {name} is gone: {connection.died}; a call of its tools starts it anew"
                self._tell(name, "warning", text)
                self._told.add(name)
            elif connection.up:
                self._told.discard(name)
        notices, self._notices = self._notices, []
        return tuple(notices)


def _load_sdk() -> None:
    import mcp  # noqa: F401  it takes a second, in which the conversation's own loop goes on


def _difference(before: tuple[Offered, ...], now: tuple[Offered, ...]) -> str:
    """What is new, gone or changed, in words."""
    old, new = {o.spec.name: o.spec for o in before}, {o.spec.name: o.spec for o in now}
    groups = (
        ("new", sorted(new.keys() - old.keys())),
        ("gone", sorted(old.keys() - new.keys())),
        ("changed", sorted(n for n in new.keys() & old.keys() if new[n] != old[n])),
    )
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in groups if names)
