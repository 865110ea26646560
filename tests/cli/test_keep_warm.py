"""A conversation at the terminal that rests is kept in the cache."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from hermes.cli.repl.talk import Talk
from hermes.config.records import CacheConfig
from tests.wire.rig import Rig


def test_a_face_pings_while_nobody_speaks(tmp_path: Path) -> None:
    pinged = asyncio.Event()
    rig = Rig(tmp_path)

    def replies() -> Iterator[str]:
        rig.wait(275)  # the answer takes so long that the cache is about to let go of the prompt
        yield "Aye."
        pinged.set()
        yield "a ping has no answer"

    rig.server.replies = replies()

    async def scene(rig: Rig) -> None:
        agent = rig.agent
        agent.sources = replace(
            agent.sources, config=replace(agent.sources.config, cache=CacheConfig(keep_warm=True))
        )
        with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
            talk = Talk(agent, colour=False)
            talk.queue.append("hello " * 400)
            talking = asyncio.create_task(talk.run())
            await asyncio.wait_for(pinged.wait(), 20)
            keys.send_text("\x04")
            await asyncio.wait_for(talking, 20)

    rig.play(scene)
    assert [json.loads(call.body)["max_tokens"] for call in rig.server.calls] == [8192, 0]
    assert rig.server.calls[1].usage.cache_read > 2_000
