"""A conversation at the terminal that rests is kept in the cache."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from hermes.cli.repl.talk import Talk
from hermes.config.records import CacheConfig
from tests.providers.loopback import Reply
from tests.wire.rig import Rig


def rest(
    folder: Path, replies: Callable[[Rig], Iterator[Reply | str]], typed: Iterable[tuple[asyncio.Event, str]]
) -> Rig:
    """A conversation that rests when the cache is about to let go of its prompt; what is typed when."""
    rig = Rig(folder)
    rig.server.replies = replies(rig)

    async def scene(rig: Rig) -> None:
        agent = rig.agent
        config = replace(agent.sources.config, cache=CacheConfig(keep_warm=True))
        agent.sources = replace(agent.sources, config=config)
        with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
            talk = Talk(agent, colour=False)
            talk.queue.append("hello " * 400)
            talking = asyncio.create_task(talk.run())
            for when, text in typed:
                await asyncio.wait_for(when.wait(), 20)
                keys.send_text(text)
            await asyncio.wait_for(talking, 20)

    rig.play(scene)
    return rig


def test_a_face_pings_while_nobody_speaks(tmp_path: Path) -> None:
    pinged = asyncio.Event()

    def replies(rig: Rig) -> Iterator[str]:
        rig.wait(275)  # so long the answer takes
        yield "Aye."
        pinged.set()
        yield "a ping has no answer"

    rig = rest(tmp_path, replies, [(pinged, "\x04")])
    assert [json.loads(call.body)["max_tokens"] for call in rig.server.calls] == [8192, 0]
    assert rig.server.calls[1].usage.cache_read > 2_000


def test_a_ping_gives_way_to_what_is_typed(tmp_path: Path) -> None:
    pinged, answered = asyncio.Event(), asyncio.Event()

    def replies(rig: Rig) -> Iterator[Reply | str]:
        rig.wait(275)
        yield "Aye."
        pinged.set()
        yield Reply(hold=True)
        answered.set()
        yield "Here."

    rig = rest(tmp_path, replies, [(pinged, "are you there?\r"), (answered, "\x04")])
    assert [json.loads(call.body)["max_tokens"] for call in rig.server.calls] == [8192, 0, 8192]
