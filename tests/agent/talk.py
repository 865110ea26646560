"""A home, a project, a store and a scripted model: everything a conversation needs in a test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from hermes.agent.loop import Limits
from hermes.agent.result_notes import Hints, no_hints
from hermes.messages import ToolSpec
from hermes.prompt import WorkDir
from hermes.providers.scripted import Answer, ScriptedModel
from hermes.run_agent import AgentOptions, AIAgent
from hermes.sessions.contract import Store
from hermes.tooling import Tool, ToolContext, ToolError
from hermes.turns import Event, TextShown, TurnEnded, TurnRequest
from tests.world import NOW, known, make_home, make_project, sources

Work = Callable[..., Any]


def make_tool(
    name: str, work: Work, *, parallel: bool = False, effects: bool = True, takes: Iterable[str] = ()
) -> Tool:
    """A tool for a test; `work(**arguments)` gives the result or raises."""
    properties = {t: {"type": "string", "description": t} for t in takes}
    schema = {"type": "object", "properties": properties, "required": [], "additionalProperties": False}

    async def run(context: ToolContext, **arguments: Any) -> str:
        done = work(**arguments)
        return str(await done if asyncio.iscoroutine(done) else done)

    return Tool(ToolSpec(name, f"The tool {name}.", json.dumps(schema)), run, parallel, effects)


def failing(reason: str = "it did not work") -> Work:
    def work(**arguments: str) -> str:
        raise ToolError(reason)

    return work


class Ticking:
    """A clock that goes on a second at each look, so that no two times are equal."""

    def __init__(self, start: datetime = NOW) -> None:
        self.now = start

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class Talk:
    """One conversation in a test. `events` are those of the last turn."""

    def __init__(
        self,
        root: Path,
        store: Store,
        script: Iterable[Answer] = (),
        tools: Iterable[Tool] = (),
        *,
        model: ScriptedModel | None = None,
        limits: Limits | None = None,
        clock: Callable[[], datetime] | None = None,
        hints: Hints | None = no_hints,
    ) -> None:
        self.root = root
        self.store = store
        self.home = make_home(root / "home") if not (root / "home").exists() else _home(root)
        self.project = make_project(root / "project") if not (root / "project").exists() else root / "project"
        known(self.home, self.project)
        self.model = model or ScriptedModel(script)
        self.tools = tuple(tools)
        self.limits = limits
        self.clock = clock or Ticking()
        self.hints = hints
        self.agent = self.new_agent()
        self.events: list[Event] = []

    def new_agent(self, session_id: str = "", **options: Any) -> AIAgent:
        """An agent as another process would make it."""
        rare = AgentOptions(
            limits=self.limits or Limits(),
            clock=self.clock,
            hints=self.hints,
            ephemeral_system_prompt=options.pop("ephemeral_system_prompt", ""),
        )
        return AIAgent(
            sources(self.home),
            self.store,
            self.model,
            self.tools,
            cwd=WorkDir(str(self.project)),
            session_id=session_id,
            options=rare,
            **options,
        )

    def restart(self) -> None:
        """Forget all that is not stored and go on with the session."""
        personality, ephemeral = self.agent.personality, self.agent.ephemeral_system_prompt
        self.agent = self.new_agent(
            self.agent.session_id, personality=personality, ephemeral_system_prompt=ephemeral
        )

    async def say(self, text: str, **more: Any) -> str:
        """One turn; the answer. The events are kept."""
        self.events = [event async for event in self.agent.run(replace(TurnRequest(text), **more))]
        ended = self.events[-1]
        assert isinstance(ended, TurnEnded)
        return ended.text

    def shown(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, TextShown))

    def last_messages(self) -> list[dict[str, Any]]:
        """The messages of the last request, as they went over the wire."""
        body: Mapping[str, Any] = json.loads(self.model.bodies[-1])
        found: list[dict[str, Any]] = body["messages"]
        return found


def _home(root: Path) -> Any:
    from hermes.paths import Home

    return Home(str(root / "home"))
