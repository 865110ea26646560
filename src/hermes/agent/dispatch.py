"""Runs the tool calls of one step: side by side where a tool allows, results in the order of the calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace

from hermes.agent.session import INTERRUPTED
from hermes.bulkhead import behind_bulkhead_async
from hermes.messages import Message, ToolCall
from hermes.provenance import Notice
from hermes.text import well_formed
from hermes.tooling import Tool, ToolContext, ToolError
from hermes.turns import Event, NoticeShown, ToolFinished, ToolStarted

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


async def run_calls(
    step: Step, tools: Mapping[str, Tool], context: ToolContext
) -> AsyncGenerator[Event, None]:
    """Run every call of a step and yield what happens. Cancelling stops the running ones."""
    for group in _groups(step.calls, tools):
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        tasks = [asyncio.create_task(_run(step, i, tools, context, queue)) for i in group]
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
    step: Step, i: int, tools: Mapping[str, Tool], context: ToolContext, queue: asyncio.Queue[Event | None]
) -> None:
    call = step.calls[i]
    begun = time.monotonic()
    step.begun.add(i)
    await queue.put(ToolStarted(call))
    text, error, notices = await _answer(call, tools, replace(context, call_id=call.id))
    result = Message("tool", well_formed(text), call_id=call.id, name=call.name, error=error)
    step.results[i] = result
    for notice in notices:
        await queue.put(NoticeShown(notice))
    await queue.put(ToolFinished(call, result.text, error, time.monotonic() - begun))
    await queue.put(None)


async def _answer(
    call: ToolCall, tools: Mapping[str, Tool], context: ToolContext
) -> tuple[str, bool, tuple[Notice, ...]]:
    """The text of a result; the model always gets an answer it can act on."""
    tool = tools.get(call.name)
    if tool is None:
        return f"there is no tool {call.name!r}; the tools are {', '.join(sorted(tools))}", True, ()
    try:
        answer, notices = await behind_bulkhead_async(
            f"the tool {call.name}", tool.call(call.arguments, context), "", letting=(ToolError,)
        )
    except ToolError as error:
        return str(error), True, ()
    if notices:
        return f"{call.name} failed: {notices[0].text}", True, notices
    return answer or "(no output)", False, ()
