"""Runs the tool calls of one step: side by side where a tool allows, results in the order of the calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hermes.agent.session import INTERRUPTED
from hermes.bulkhead import behind_bulkhead_async
from hermes.config.records import secrets
from hermes.messages import Message, ToolCall
from hermes.provenance import Notice
from hermes.security.secrets import hide_secrets
from hermes.text import well_formed
from hermes.tooling import Tool, ToolContext, ToolError
from hermes.turns import Event, NoticeShown, ToolFinished, ToolProgress, ToolStarted

MAX_CHARS = 150_000
"""Of one result; tools cut their answers sooner and better."""

NOT_RUN = "[not run: the turn was stopped before this call began]"


@dataclass(slots=True)
class Step:
    """The calls of one assistant message and their results as they come in, by the position of the call."""

    calls: tuple[ToolCall, ...]
    results: dict[int, Message]
    begun: set[int]

    @classmethod
    def of(cls, calls: tuple[ToolCall, ...]) -> Step:
        return cls(calls, {}, set())

    def messages(self) -> tuple[Message, ...]:
        """One result for every call, in the order of the calls; a call without one says why."""
        return tuple(self.results.get(i) or self._missing(i) for i in range(len(self.calls)))

    def _missing(self, i: int) -> Message:
        text = INTERRUPTED if i in self.begun else NOT_RUN
        return Message("tool", text, call_id=self.calls[i].id, name=self.calls[i].name, error=True)


Guard = Callable[[Tool, ToolCall, dict[str, Any], ToolContext], Awaitable[str]]
"""Says why a call may not run, in words for the model; "" when it may."""


async def no_guard(tool: Tool, call: ToolCall, arguments: dict[str, Any], context: ToolContext) -> str:  # noqa: ARG001
    return ""


async def run_calls(
    step: Step, tools: Mapping[str, Tool], context: ToolContext, guard: Guard = no_guard
) -> AsyncGenerator[Event, None]:
    """Run every call of a step that `guard` lets pass and yield what happens. Cancelling stops them."""
    for group in _groups(step.calls, tools):
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        for i in group:
            yield ToolStarted(step.calls[i])  # it has been shown before the call may ask something
        tasks = [asyncio.create_task(_run(step, i, tools, context, guard, queue)) for i in group]
        try:
            for _ in tasks:
                while (event := await queue.get()) is not None:
                    yield event
        finally:
            running = [task for task in tasks if not task.done()]
            for task in running:
                task.cancel()
            if running:
                await asyncio.gather(*running, return_exceptions=True)


def _groups(calls: tuple[ToolCall, ...], tools: Mapping[str, Tool]) -> list[list[int]]:
    """Neighbouring calls that may run together; any other call stands alone."""
    groups: list[list[int]] = []
    together = False
    for i, call in enumerate(calls):
        parallel = call.name in tools and tools[call.name].parallel
        if groups and parallel and together:
            groups[-1].append(i)
        else:
            groups.append([i])
        together = parallel
    return groups


async def _run(
    step: Step,
    i: int,
    tools: Mapping[str, Tool],
    context: ToolContext,
    guard: Guard,
    queue: asyncio.Queue[Event | None],
) -> None:
    call = step.calls[i]
    begun = time.monotonic()
    there = replace(
        context,
        call_id=call.id,
        progress=lambda line: queue.put_nowait(ToolProgress(call, line)),
        tell=lambda notice: queue.put_nowait(NoticeShown(notice)),
    )

    async def begins(*asked: Any) -> str:
        """The guard; a call that it lets pass has begun, one that still waits for a word has not."""
        refusal = await guard(*asked)
        if not refusal:
            step.begun.add(i)
        return refusal

    text, error, notices = await _answer(call, tools, there, begins)
    text = _fit(text)
    result = Message("tool", well_formed(text), call_id=call.id, name=call.name, error=error)
    step.results[i] = result
    for notice in notices:
        queue.put_nowait(NoticeShown(notice))
    queue.put_nowait(ToolFinished(call, result.text, error, time.monotonic() - begun))
    queue.put_nowait(None)


async def _answer(
    call: ToolCall, tools: Mapping[str, Tool], context: ToolContext, guard: Guard
) -> tuple[str, bool, tuple[Notice, ...]]:
    """The text of a result; the model always gets an answer it can act on."""
    tool = tools.get(call.name)
    if tool is None:
        return f"there is no tool {call.name!r}; the tools are {', '.join(sorted(tools))}", True, ()
    try:
        answer, notices = await behind_bulkhead_async(
            f"the tool {call.name}", _guarded(tool, call, context, guard), "", letting=(ToolError,)
        )
    except ToolError as error:
        return str(error), True, ()
    if notices:
        return f"{call.name} failed: {notices[0].text}", True, notices
    return answer or "(no output)", False, ()


async def _guarded(tool: Tool, call: ToolCall, context: ToolContext, guard: Guard) -> str:
    arguments = tool.read(call.arguments)
    if refusal := await guard(tool, call, arguments, context):
        raise ToolError(refusal)
    return await tool.run(context, **arguments)


def _fit(text: str) -> str:
    """The text of a result without secrets and of bounded length; it says so where something is missing."""
    left = max(0, len(text) - 4 * MAX_CHARS)  # nobody waits for what is not shown to be searched
    if left:
        text = text[: 2 * MAX_CHARS] + text[-2 * MAX_CHARS :]
    text, hidden = hide_secrets(text, secrets())
    left += max(0, len(text) - MAX_CHARS)
    if left:
        half = MAX_CHARS // 2
        text = f"{text[:half]}\n[… {left:,} characters are left out …]\n{text[-half:]}"
    if hidden:
        text += f"\n[secrets were hidden here: {', '.join(hidden)}; they stay as they are where they stand]"
    return text
