"""Honcho, through its own SDK: it reads what was said and draws conclusions about who said it.

A person is a peer and so is the agent, of whom nothing is concluded; a session of ours is one there. The
SDK is imported when the provider is first asked for something. It needs the extra `honcho` and a key in
HONCHO_API_KEY.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hermes.config.records import MemoryConfig, secret
from hermes.contracts import Exchange, Recalled, Whose
from hermes.errors import ConfigError
from hermes.tooling import Tool, ToolContext, ToolError, tool

if TYPE_CHECKING:
    from honcho import Honcho as Client
    from honcho import Peer

_TOP = 10
_TIMEOUT = 20.0
_MAX_MESSAGE = 24_000
"""Characters: the service takes 25,000 in one message."""


class Honcho:
    """The memory of one workspace. `settings` are those of `memory.honcho`."""

    def __init__(self, settings: Mapping[str, str], threshold: float, key: str) -> None:
        self.workspace = settings.get("workspace", "hermes")
        self.user = settings.get("user", "user")
        self.assistant = settings.get("assistant", "hermes")
        self.base_url = settings.get("base_url") or None
        self.distance = round(1 - threshold, 3)
        self._key = key
        self._client: Client | None = None
        self._sessions: set[str] = set()

    @classmethod
    def from_config(cls, config: MemoryConfig) -> Honcho:
        """The one that config.yaml describes. ConfigError when its key is missing."""
        key = secret("HONCHO_API_KEY").strip()
        if not key and not config.honcho.get("base_url"):
            raise ConfigError(
                "memory.provider is honcho but HONCHO_API_KEY is not set; "
                "get a key from Honcho, or name your own server in memory.honcho.base_url"
            )
        return cls(config.honcho, config.recall_threshold, key)

    @property
    def client(self) -> Client:
        if self._client is None:
            try:
                from honcho import Honcho as Client
            except ImportError:
                raise ConfigError(
                    "memory.provider is honcho but its SDK is missing; pip install 'hermes-lucid[honcho]'"
                ) from None
            self._client = Client(
                api_key=self._key or "none",
                base_url=self.base_url,
                environment=None if self.base_url else "production",
                workspace_id=self.workspace,
                timeout=_TIMEOUT,
                max_retries=1,
            )
        return self._client

    async def _person(self, whose: Whose) -> Peer:
        return await self.client.aio.peer(_safe(whose.user) if whose.user else self.user)

    async def static_block(self, whose: Whose) -> str:
        """What is known of the person: the card, then the representation."""
        person = await self._person(whose)
        known = await person.aio.context(include_most_frequent=True, max_conclusions=25)
        card = "\n".join(f"- {line}" for line in known.peer_card or ())
        parts = [part for part in (card, (known.representation or "").strip()) if part]
        return "\n\n".join(("## What Is Known of the User", *parts)) if parts else ""

    async def recall(self, asked: str, whose: Whose) -> Sequence[Recalled]:
        """Conclusions near enough to the message; Honcho leaves out those that are further away."""
        person = await self._person(whose)
        found = await person.conclusions.aio.query(asked, _TOP, self.distance)
        return [Recalled(c.content, 1.0, f"{c.created_at:%Y-%m-%d}, of the user") for c in found]

    async def record(self, exchange: Exchange) -> None:
        """Both sides of a turn, in the order in which they were said."""
        from honcho.api_types import SessionPeerConfig

        person = await self._person(exchange.whose)
        assistant = await self.client.aio.peer(self.assistant)
        session = await self.client.aio.session(
            _safe(exchange.whose.session_id),
            peers=[(person, SessionPeerConfig()), (assistant, SessionPeerConfig(observe_me=False))],
        )
        said = [(person, exchange.asked), (assistant, exchange.answered)]
        messages = [
            peer.message(text[at : at + _MAX_MESSAGE], created_at=exchange.at)
            for peer, text in said
            for at in range(0, len(text), _MAX_MESSAGE)
        ]
        if messages:
            await session.aio.add_messages(messages)

    def tools(self, whose: Whose) -> Sequence[Tool]:
        """A question to Honcho about the person, answered by its own reasoning."""

        @tool(parallel=True, effects=False)
        async def honcho_ask(context: ToolContext, question: str) -> str:  # noqa: ARG001
            """Ask; see honcho_ask.md."""
            if not question.strip():
                raise ToolError("honcho_ask needs a question")
            person = await self._person(whose)
            answer: Any = await person.aio.chat(question)
            return str(answer or "nothing is known of that")

        return (honcho_ask,)

    async def close(self) -> None:
        """Close what the SDK has opened."""
        if self._client is not None:
            built = self._client._async_http_built  # the SDK has no way of its own to close it
            if built is not None:
                await built[1].close()
            self._client._http.close()
            self._client = None


def _safe(name: str) -> str:
    """A name as Honcho takes them."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)[:100] or "none"
