"""Talks for ever in a process of its own, to be killed; tells what is acknowledged and what is sent."""

from __future__ import annotations

import asyncio
import base64
import random
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from hermes.agent.session import ASIDE
from hermes.messages import ModelEvent, ModelRequest
from hermes.providers.scripted import ScriptedModel, Step, call
from hermes.sessions.records import Step as Stored
from hermes.sessions.sqlite import SqliteStore
from tests.agent.talk import Talk, make_tool


class Telling(SqliteStore):
    """Says on stdout which message is the last that is durable."""

    async def commit(self, session_id: str, step: Stored) -> None:
        await super().commit(session_id, step)
        if step.messages:
            print("kept", session_id, step.messages[-1].seq, flush=True)


class Sending(ScriptedModel):
    """Says on stdout what is sent, before it is sent."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.epoch != ASIDE:  # the question for a summary is no part of the conversation
            body = self.codec.head(request, self.profile) + b",".join(request.fragments)
            print("sent", base64.b64encode(body).decode(), flush=True)
        async for event in super().stream(request):
            yield event


async def main(root: Path, session_id: str, seed: int) -> None:
    order = random.Random(seed)
    number = 0

    def answer(request: ModelRequest) -> Step:
        nonlocal number
        number += 1
        if order.random() < 0.6:
            return Step(
                "let me see ",
                (call("work", "{}", f"{seed}-{number}"), call("look", "{}", f"{seed}-{number}b")),
            )
        return Step(f"answer {number}  ")

    model = Sending(iter(lambda: answer, None), check=False)
    tools = [make_tool("work", lambda: "worked " * 20), make_tool("look", lambda: "seen", effects=False)]
    store = Telling(str(root / "sessions.db"))
    talk = Talk(root, store, tools=tools, model=model)
    talk.agent = talk.new_agent(session_id)
    while True:
        await talk.say(f"turn of {seed}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
