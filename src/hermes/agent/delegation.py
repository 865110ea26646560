"""Sub-agents of a conversation: what each kind inherits, how many run at once, what is told of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from hermes.bulkhead import behind_bulkhead_async
from hermes.config.records import Config, DelegationConfig
from hermes.errors import HermesError
from hermes.frozen import frozen
from hermes.prompt import Switches
from hermes.provenance import Notice, Origin
from hermes.text import many
from hermes.tool_names import tools_of
from hermes.tooling import ToolContext
from hermes.tools.delegate_tool import DEFAULT_KIND, Errand, Report
from hermes.turns import Ask, Event, NoticeShown, Question, ToolStarted, TurnEnded, TurnRequest

KEPT_BACK = frozenset({"clarify", "delegate_task", "memory"})
"""Tools that no sub-agent has unless its kind names them."""

_SKILLS = tools_of(["skills"])
_SHOWN = 80  # characters of a call's arguments in a line of progress
_REASONS = {
    "max_turns": "it ran out of calls before it was done",
    "length": "its answer was cut off at the limit of its model",
    "refused": "its model refused",
    "cancelled": "it was stopped",
}


@frozen
class Kind:
    """A kind of sub-agent. It may inherit `identity`, `memory`, `preamble`, `project`, `skills`, `user`.

    `tools` None are those of whoever sends it; a `model` of its own is `provider:name`.
    """

    name: str
    inherit: frozenset[str] = frozenset()
    tools: tuple[str, ...] | None = None
    max_turns: int | None = None
    model: str = ""

    @property
    def switches(self) -> Switches:
        return Switches(
            identity="identity" in self.inherit,
            project_context="project" in self.inherit,
            memory=bool(self.inherit & {"memory", "user"}),
        )

    def config(self, config: Config) -> Config:
        """The configuration without what this kind does not inherit."""
        memory, agent = config.memory, config.agent
        return replace(
            config,
            memory=replace(
                memory,
                memory_enabled=memory.memory_enabled and "memory" in self.inherit,
                user_profile_enabled=memory.user_profile_enabled and "user" in self.inherit,
            ),
            agent=replace(agent, system_prompt=agent.system_prompt if "preamble" in self.inherit else ""),
        )

    def tool_names(self, senders: Collection[str]) -> frozenset[str]:
        """Those it has, of the tools that its sender has."""
        if self.tools is not None:
            return tools_of(self.tools) & frozenset(senders)
        return frozenset(senders) - KEPT_BACK - (frozenset() if "skills" in self.inherit else _SKILLS)

    @property
    def words(self) -> str:
        """What the model is told of it."""
        tools = "your tools" if self.tools is None else f"the tools {', '.join(sorted(tools_of(self.tools)))}"
        knows = ", ".join(_KNOWN[name] for name in sorted(self.inherit))
        return f"has {tools}; knows {knows or 'nothing but its task'}"


_KNOWN = {
    "identity": "who you are",
    "memory": "your memory",
    "preamble": "the owner's standing instructions",
    "project": "the project's instructions",
    "skills": "your skills",
    "user": "the user's profile",
}

KINDS = (
    Kind(DEFAULT_KIND),
    Kind("explore", tools=("looking",), max_turns=30),
    Kind("worker", frozenset({"preamble", "project", "skills", "user"})),
)


def kinds_of(settings: DelegationConfig) -> Mapping[str, Kind]:
    """The built-in kinds and those of the configuration, which may change a built-in one."""
    found = {kind.name: kind for kind in KINDS}
    for name, given in sorted(settings.classes.items()):
        base = found.get(name, Kind(name))
        inherit, tools = given.get("inherit"), given.get("tools")
        found[name] = replace(
            base,
            inherit=base.inherit if inherit is None else frozenset(inherit),
            tools=base.tools if tools is None else tuple(tools),
            max_turns=given.get("max_turns", base.max_turns),
            model=given.get("model", base.model),
        )
    return found


class Child(Protocol):
    """A sub-agent, ready for its one turn."""

    session_id: str

    def run(self, turn: TurnRequest) -> AsyncGenerator[Event, None]: ...
    async def close_own(self) -> None:
        """Let go of what is its own, and of nothing that it shares."""
        ...


Make = Callable[[Kind, str, Ask], Child]
"""Makes a sub-agent of a kind for a session that is its parent; its questions go to `Ask`."""


class Delegation:
    """Sends sub-agents for one conversation, so many at a time."""

    def __init__(self, kinds: Mapping[str, Kind], at_once: int, make: Make) -> None:
        self.kinds = kinds
        self._make = make
        self._room = asyncio.Semaphore(at_once)

    async def send(self, errand: Errand, context: ToolContext) -> Report:
        """Run a sub-agent to its end. What it has to tell a person carries its label."""

        async def ask(question: Question) -> str:
            return await context.ask(replace(question, text=f"[{errand.label}] {question.text}"))

        async with self._room:
            try:
                child = self._make(self.kinds[errand.kind], context.session_id, ask)
            except HermesError as error:
                return Report(errand.label, "", "failed", problem=f"it could not begin: {error}")
            try:
                report, failed = await behind_bulkhead_async(
                    f"the sub-agent {errand.label}", _followed(child, errand, context), None
                )
            finally:
                await child.close_own()
        for notice in failed:
            context.tell(notice)
        return report or Report(errand.label, "", "failed", child.session_id, failed[0].text)


async def _followed(child: Child, errand: Errand, context: ToolContext) -> Report:
    report, problems = Report(errand.label, "", "failed"), list[str]()
    async with aclosing(child.run(TurnRequest(errand.task))) as events:
        async for event in events:
            match event:
                case NoticeShown(notice):
                    context.tell(_labelled(notice, errand.label))
                    if notice.level == "error":
                        problems.append(notice.text)
                case ToolStarted(call):
                    context.progress(f"[{errand.label}] {call.name} {_short(call.arguments)}")
                case TurnEnded(text, usage, calls, reason):
                    context.spent(usage)
                    problem = _REASONS.get(reason, "")
                    if reason == "failed":
                        problem = "; ".join(problems) or "it failed"
                    report = Report(errand.label, text, reason, child.session_id, problem, usage, calls)
    context.progress(f"[{errand.label}] {report.reason}, after {many(report.calls, 'call')}")
    return report


def _labelled(notice: Notice, label: str) -> Notice:
    return Notice(notice.level, f"[{label}] {notice.text}", notice.origin or Origin("delegation"))


def _short(arguments: str) -> str:
    line = " ".join(arguments.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
