"""Opens a stored session in a process of its own and prints the request it would go on from."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

from hermes.agent.session import Session
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.scripted import PROFILE
from hermes.sessions.contract import Store
from hermes.sessions.postgres import PostgresStore
from hermes.sessions.sqlite import SqliteStore
from tests.agent.talk import Ticking


async def main(kind: str, location: str, session_id: str) -> None:
    store: Store = SqliteStore(location) if kind == "sqlite" else PostgresStore(location)
    try:
        session = await Session.resume(store, session_id, Ticking())
        codec = OpenAiChat() if session.record.codec == OpenAiChat().name else AnthropicMessages()
        profile = replace(PROFILE, name=session.record.model)
        request = session.request(codec, profile)
        sys.stdout.buffer.write(codec.head(request, profile) + b",".join(request.fragments))
    finally:
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
