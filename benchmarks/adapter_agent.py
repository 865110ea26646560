"""The agent and the store for the bench scripts: whole sessions, over HTTP or over a stub in its place.

All sessions of a process share one event loop; where the scripts call from many threads, it has its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import store as stores
from hermes.agent.bookkeeping import call_record
from hermes.agent.loop import Limits
from hermes.config import load_config
from hermes.contracts import CacheRules, ModelProfile
from hermes.fragments import Fragments, Piece
from hermes.messages import Completed, Message, ModelRequest, ToolCall, ToolSpec, Usage
from hermes.paths import get_hermes_home
from hermes.providers.cache_marks import Frame, MarkPolicy, mark_places, place_marks, with_puts
from hermes.providers.client import HttpModel
from hermes.providers.connect import connect_one
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.profiles import profile_for
from hermes.providers.wrappers import Retrying
from hermes.run_agent import AgentOptions, AIAgent
from hermes.sessions.sqlite import SqliteStore
from hermes.tooling import Tool, ToolContext
from hermes.turns import TurnEnded, TurnRequest

T = TypeVar("T")
TOOL = "bench_noop"
MARKED = "anthropic/claude-sonnet-4", "openrouter"
Answered = tuple[str, Any]
"""`("tool", [(id, name, arguments)…])` or `("text", …)`, as the stubs of the scripts give it."""


class Store(stores.Store):
    """The same, for the agents too; they run on another event loop."""

    @property
    def kept(self) -> SqliteStore:
        return self._store


class Agent:
    """One session."""

    def __init__(
        self,
        base_url: str,
        store: Store | None = None,
        caching: bool = False,
        sid: str | None = None,
        toolsets: object = None,
        full_tools: bool = True,
    ) -> None:
        config = load_config(get_hermes_home())
        config = replace(config, model=replace(config.model, base_url=base_url))
        self.http = connect_one("", config)
        if caching:
            self.http.profile = _marked(self.http.profile)
        self.agent = AIAgent(
            store=store.kept if store else None,
            model=Retrying(self.http),
            cwd=os.getcwd(),
            platform="api_server",
            session_id=sid or "",
            options=AgentOptions(limits=Limits(max_turns=100_000)),
        )
        self.agent.tools = {t.spec.name: t for t in (*self.agent.tools.values(), noop())}

    @property
    def sid(self) -> str:
        return self.agent.session_id

    @property
    def history(self) -> Sequence[Message]:
        return self.agent.session.visible if self.agent.session else ()

    @history.setter
    def history(self, messages: object) -> None:
        """A resumed session reads its own past from the store."""

    def turn(self, text: str) -> dict[str, object]:
        return _wait(self.take_turn(text))

    async def take_turn(self, text: str) -> dict[str, object]:
        ended = TurnEnded("", reason="failed")
        async for event in self.agent.run(TurnRequest(text)):
            if isinstance(event, TurnEnded):
                ended = event
        return {"text": ended.text, "calls": ended.calls, "ok": ended.reason == "done"}

    def preload(self, messages: Iterable[dict[str, Any]]) -> None:
        """A past that was said, sent, answered and stored: in a session of its own."""
        self.agent.reset()
        _wait(self._preload([_message(m) for m in messages]))

    async def _preload(self, messages: list[Message]) -> None:
        agent = self.agent
        agent.session = session = await agent._begin()
        agent.session_id = session.record.id
        if not messages:
            return
        *asked, answer = messages
        for message in asked:
            session.append(message)
        request = session.request(self.http.codec, self.http.profile)
        session.append(answer)
        heard = Completed(answer, Usage(len(self.http.body(request)) // 4, 0, 0, 100))
        session.called(request, self.http.codec, self.http.profile, call_record(heard, answer.time))
        await session.save()

    def stub_transport(self, answer: Callable[[_Body], Answered]) -> None:
        """Every step up to the bytes of the request and from the answer on; no HTTP."""
        self.agent.model = _Stub(self.http, answer)

    def close(self) -> None:
        _wait(self.agent.close())


class _Body:
    """The request as the stubs of the scripts read it, when they do."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces

    def __getitem__(self, name: str) -> Any:
        return json.loads(b"".join(self.pieces))[name]


class _Stub:
    """A model whose request is made to the last byte, and answered at once."""

    def __init__(self, http: HttpModel, answer: Callable[[_Body], Answered]) -> None:
        self.profile, self.codec = http.profile, http.codec
        self._http, self._answer = http, answer

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Completed, None]:
        kind, value = self._answer(_Body(self._http.pieces(request)))
        if kind == "tool":
            message = Message("assistant", tool_calls=tuple(ToolCall(*call) for call in value))
        else:
            message = Message("assistant", value)
        stop = "tool_calls" if kind == "tool" else "end"
        yield Completed(message, Usage(100, 0, 0, 5), stop, "x", request.model)  # type: ignore[arg-type]

    async def close(self) -> None:
        await self._http.close()


def cache_markers(messages: list[dict[str, Any]]) -> Sequence[Piece]:
    """The messages as they are sent, with marks. They were serialised when each was first sent: not here."""
    frame, fragments, profile = _serialised(_Same(messages))
    marks = place_marks(frame, fragments, profile, MarkPolicy())
    return with_puts([*frame.head, *fragments.joined()], mark_places(frame, fragments, marks))


class _Same:
    """A list known by its identity."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.messages = messages

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.messages is self.messages

    def __hash__(self) -> int:
        return id(self.messages)


@lru_cache(maxsize=1)
def _serialised(same: _Same) -> tuple[Frame, Fragments, ModelProfile]:
    profile, codec = _marked(ModelProfile("bench")), OpenAiChat()
    system, *rest = same.messages
    said = tuple(_message(m) for m in rest)
    request = ModelRequest("bench", (system["content"],), (), said)
    return Frame.of(codec, request, profile), Fragments.of(codec.fragments(said, profile)), profile


def _marked(profile: ModelProfile) -> ModelProfile:
    """The profile, behind a provider that takes marks."""
    rules: CacheRules = profile_for(*MARKED).cache
    return replace(profile, cache=rules)


def _message(given: dict[str, Any]) -> Message:
    calls = given.get("tool_calls", ())
    return Message(
        given["role"],
        given["content"],
        tool_calls=tuple(ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in calls),
        call_id=given.get("tool_call_id", ""),
        name=TOOL if given["role"] == "tool" else "",
    )


@lru_cache(maxsize=1)
def noop() -> Tool:
    async def run(context: ToolContext, i: int = 0) -> str:
        return json.dumps({"ok": True, "i": i})

    return Tool(_spec(TOOL, "Does nothing; used by a benchmark."), run, effects=False)


def _spec(name: str, description: str) -> ToolSpec:
    schema = {"type": "object", "properties": {"i": {"type": "integer"}}, "required": []}
    return ToolSpec(name, description, json.dumps(schema, separators=(",", ":")))


_LOOP = asyncio.new_event_loop()
_GUARD = threading.Lock()


def _wait(work: Coroutine[Any, Any, T]) -> T:
    """Run where a program would: in the main thread, until other threads want to share the loop."""
    if threading.current_thread() is threading.main_thread() and not _LOOP.is_running():
        return _LOOP.run_until_complete(work)
    with _GUARD:
        if not _LOOP.is_running():
            threading.Thread(target=_LOOP.run_forever, name="agents", daemon=True).start()
            while not _LOOP.is_running():
                time.sleep(0.001)
    return asyncio.run_coroutine_threadsafe(work, _LOOP).result()
