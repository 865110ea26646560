"""Killed at any moment: nothing acknowledged is lost, and the session goes on behind what was sent."""

from __future__ import annotations

import asyncio
import base64
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hermes
from hermes.agent.session import Session
from hermes.messages import Message
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.scripted import PROFILE
from hermes.sessions.sqlite import SqliteStore
from tests.agent.talk import Ticking


def test_eight_kills(tmp_path: Path) -> None:
    kill_often(tmp_path, 8)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_three_hundred_kills(tmp_path: Path) -> None:
    kill_often(tmp_path, 300)


def kill_often(root: Path, times: int) -> None:
    order = random.Random(times)
    session_id = ""
    for number in range(times):
        session_id, kept, sent = live_and_die(root, session_id, number, order.randrange(1, 60))
        asyncio.run(check(root, session_id, kept, sent))
    assert sorted(p.name for p in root.glob("*")) == ["home", "project", "sessions.db", *_journals(root)]


def _journals(root: Path) -> list[str]:
    """Files that SQLite itself keeps while the database is in use, and takes up again."""
    return sorted(p.name for p in root.glob("sessions.db-*"))


def live_and_die(root: Path, session_id: str, seed: int, lines: int) -> tuple[str, int, bytes]:
    """Let a child talk until it has said so many lines, and kill it wherever it then is."""
    here = Path(__file__).parents[2]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(hermes.__file__).parents[1]), str(here)]),
    }
    command = [sys.executable, "-m", "tests.agent.killed_child", str(root), session_id, str(seed)]
    kept, sent = -1, b""
    with subprocess.Popen(command, env=variables, cwd=here, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        for number, line in enumerate(child.stdout):
            what, *rest = line.decode().split()
            if what == "kept":
                session_id, kept = rest[0], int(rest[1])
            else:
                sent = base64.b64decode(rest[0])
            if number == lines and session_id:
                child.send_signal(signal.SIGKILL)
                break
        for line in child.stdout:  # what was said before the signal struck counts too
            if not line.endswith(b"\n"):
                break
            what, *rest = line.decode().split()
            if what == "kept":
                kept = int(rest[1])
            else:
                sent = base64.b64decode(rest[0])
    assert child.returncode == -signal.SIGKILL
    return session_id, kept, sent


async def check(root: Path, session_id: str, kept: int, sent: bytes) -> None:
    store = SqliteStore(str(root / "sessions.db"))
    try:
        assert await store.check() == ()
        session = await Session.resume(store, session_id, Ticking())
        assert session.next_seq > kept
        stored = await store.messages(session_id)
        assert [s.seq for s in stored] == list(range(len(stored)))
        codec = OpenAiChat()
        request = session.request(codec, PROFILE)
        body = codec.head(request, PROFILE) + b",".join(request.fragments)
        assert body.startswith(sent)
        assert_answered(session.visible)
    finally:
        await store.close()


def assert_answered(visible: list[Message]) -> None:
    """Every call has its result before anyone else speaks, and the assistant has the last word."""
    open_calls: list[str] = []
    for message in visible:
        if message.role == "tool":
            open_calls.remove(message.call_id)
            continue
        assert open_calls == []
        open_calls = [c.id for c in message.tool_calls]
    assert open_calls == []
    assert visible[-1].role == "assistant"
