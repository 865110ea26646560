"""Handing over work to sub-agents. Who runs them is given to this tool; it knows no agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import field, replace

from hermes.frozen import frozen
from hermes.messages import Usage
from hermes.tooling import Tool, ToolContext, ToolError, tool

MOST_TASKS = 16
DEFAULT_KIND = "default"


@frozen
class Errand:
    """One piece of work for a sub-agent. `label` is its name for the person: `explore 2`."""

    task: str
    kind: str
    label: str


@frozen
class Report:
    """What a sub-agent gave back. `reason` is why its turn ended; `problem` tells what went wrong."""

    label: str
    text: str
    reason: str = "done"
    session_id: str = ""
    problem: str = ""
    usage: Usage = field(default_factory=Usage)
    calls: int = 0


Send = Callable[[Errand, ToolContext], Coroutine[None, None, Report]]
"""Runs a sub-agent to its end. Cancelling ends it."""


def delegate_tool(send: Send, kinds: Mapping[str, str], max_chars: int) -> Tool:
    """The tool of one conversation.

    `kinds` maps a kind to what it is; `max_chars` is the room for all reports of one call.
    """

    @tool(parallel=True)
    async def delegate_task(
        context: ToolContext, task: str = "", tasks: list[str] | None = None, kind: str = DEFAULT_KIND
    ) -> str:
        """Run sub-agents; see delegate_task.md."""
        wanted = [text.strip() for text in (*([task] if task else []), *(tasks or ())) if text.strip()]
        if not wanted:
            raise ToolError("delegate_task needs a task: say what is to be done, and what to report")
        if len(wanted) > MOST_TASKS:
            raise ToolError(f"at most {MOST_TASKS} tasks go at once; these are {len(wanted)}")
        if kind not in kinds:
            raise ToolError(f"there is no kind of sub-agent {kind!r}; there are {', '.join(sorted(kinds))}")
        errands = [Errand(text, kind, f"{kind} {n}") for n, text in enumerate(wanted, 1)]
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(send(errand, context)) for errand in errands]
        reports = [one.result() for one in running]
        if all(r.problem and not r.text for r in reports):
            raise ToolError("\n".join(f"{r.label}: {r.problem}" for r in reports))
        return told(reports, max_chars)

    return replace(delegate_task, spec=replace(delegate_task.spec, **_listing(delegate_task, kinds)))


def _listing(made: Tool, kinds: Mapping[str, str]) -> dict[str, str]:
    """The tool's text with the kinds that there are."""
    schema = json.loads(made.spec.parameters)
    schema["properties"]["kind"]["enum"] = sorted(kinds)
    lines = [f"- {name}: {kinds[name]}" for name in sorted(kinds)]
    return {
        "description": "\n".join([made.spec.description, "", "Kinds of sub-agents:", *lines]),
        "parameters": json.dumps(schema, ensure_ascii=False, separators=(",", ":")),
    }


def told(reports: list[Report], max_chars: int) -> str:
    """The reports as data: each with its label, none able to close its fence, all within a limit."""
    room = max_chars // len(reports)
    return "\n\n".join(_fenced(report, room) for report in reports)


def _fenced(report: Report, room: int) -> str:
    text = report.text.replace("</report", "<\\/report")
    if len(text) > room:
        head, tail = room * 7 // 10, room * 2 // 10
        cut = f"[… {len(text) - head - tail:,} of {len(text):,} characters left out …]"
        text = f"{text[:head]}\n{cut}\n{text[-tail:]}"
    lines = [text] if text else []
    if report.problem:
        lines.append(f"[{report.problem}]")
    session = f' session="{report.session_id}"' if report.session_id else ""
    body = "\n".join(lines) or "[it gave no answer]"
    return f'<report from="{report.label}" ended="{report.reason}"{session}>\n{body}\n</report>'
