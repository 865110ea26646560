"""The memory tool: what is kept between sessions, read live and changed entry by entry."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypedDict

from hermes.contracts import ModelProfile
from hermes.errors import MemoryRefused
from hermes.memory.operations import Operation, Outcome, View
from hermes.memory.scope import MemoryFile
from hermes.memory.store import MemoryStore, Report
from hermes.paths import Home
from hermes.provenance import Origin, Passage
from hermes.providers.tokens import estimate_tokens
from hermes.security.gate import admit
from hermes.security.policy import Policies
from hermes.tooling import Tool, ToolContext, ToolError, tool

FULL = 85
"""From so many percent on, every answer warns that the memory will be full."""

MOST_AT_ONCE = 50

_DONE = {"add": "added", "replace": "replaced", "remove": "removed"}
_PATIENCE = 3  # refusals for the same reason, then the model is told to let it be
_MOST_SHOWN = 8_000
_SEEN = "The prompt shows it from the next session, /refresh or compression on; read shows it now."


class _Action(TypedDict):
    action: Literal["add", "replace", "remove"]


class Change(_Action, total=False):
    """One operation of a batch."""

    content: str
    entry: str


def memory_tool(home: Home, files: Sequence[MemoryFile], policies: Policies) -> Tool:
    """The tool over the memories that a conversation may see; what killed writers left is cleared away."""
    stores = [MemoryStore(home, file, policies.of("memory_write")) for file in files]
    for store in stores:
        with contextlib.suppress(MemoryRefused):  # the first use says what is wrong
            store.recover()
    refusals: Counter[str] = Counter()

    @tool()
    async def memory(
        context: ToolContext,
        action: Literal["add", "replace", "remove", "read", "batch"],
        target: Literal["memory", "user"] | None = None,
        content: str = "",
        entry: str = "",
        project: bool = False,
        operations: list[Change] | None = None,
    ) -> str:
        """Read or change what is remembered; see memory.md."""
        try:
            if action == "read":
                wanted = [s for s in stores if target in (None, s.file.target)]
                return _read(wanted, policies)
            store = _chosen(stores, target or "memory", project)
            changes = _changes(action, content, entry, operations or [])
            report = await asyncio.to_thread(store.apply, changes, session=context.session_id)
        except MemoryRefused as error:
            raise ToolError(str(error)) from None
        return _answer(store.file, report, policies, refusals)

    return memory


def _changes(action: str, content: str, entry: str, operations: Sequence[Change]) -> list[Operation]:
    """What is to be done, in order; beside a list of operations a single one is one more."""
    changes = [Operation(o["action"], o.get("content", ""), o.get("entry", "")) for o in operations]
    if action in ("add", "replace", "remove") and (content or entry or not changes):
        changes.append(Operation(action, content, entry))  # type: ignore[arg-type]
    if not changes:
        raise ToolError("memory: a batch needs operations, a list of {action, content, entry}")
    if len(changes) > MOST_AT_ONCE:
        raise ToolError(f"memory: {len(changes)} operations are too many; at most {MOST_AT_ONCE} at once")
    return changes


def _chosen(stores: Sequence[MemoryStore], target: str, project: bool) -> MemoryStore:
    """The memory that is written."""
    fitting = [s for s in stores if s.file.target == target and (s.file.place == "project") == project]
    if fitting:
        return fitting[0]
    what = f"no {target} memory" + (" of a project" if project else "")
    there = ", ".join(dict.fromkeys(named(s.file) for s in stores)) or "none"
    raise ToolError(f"this conversation has {what}; what it has: {there}")


def named(file: MemoryFile) -> str:
    """What a memory is called: its target, and its place where that is not the global one."""
    return file.target if file.place == "global" else f"{file.target} ({file.place})"


def _read(stores: Sequence[MemoryStore], policies: Policies) -> str:
    shown = [_state(s.file, s.view(), policies) for s in stores]
    return "\n\n".join(shown) or "there is no memory in this conversation"


def _state(file: MemoryFile, view: View, policies: Policies) -> str:
    """Every entry with its id, and how much is used."""
    lines = [f"{named(file)}: {view.usage}"]
    room = _MOST_SHOWN
    for name, entry in zip(view.ids, view.entries, strict=True):
        origin = Origin("memory", trust="owner")
        shown = admit(
            Passage.quote(entry, origin), name=f"{file.name} entry {name}", policy=policies.of("owner")
        ).passage
        most = max(min(room, file.limit), 80)
        cut = f"{shown[:most]} [… {len(shown) - most:,} more characters]" if len(shown) > most else str(shown)
        lines.append(f"[{name}] " + cut.replace("\n", "\n  "))
        room -= len(cut)
    return "\n".join(lines)


def _answer(file: MemoryFile, report: Report, policies: Policies, refusals: Counter[str]) -> str:
    """What became of the operations; when none was done, an error that shows what is there."""
    outcomes = report.outcomes
    lines = [_line(i, o, len(outcomes)) for i, o in enumerate(outcomes, 1)]
    lines += [n.text for n in report.notices]
    for outcome in outcomes:
        if not outcome.done:
            refusals[outcome.why] += 1
            if refusals[outcome.why] >= _PATIENCE:
                lines.append(
                    f"Refused {refusals[outcome.why]} times: leave it, and tell the person if it matters."
                )
    if not all(o.done for o in outcomes):
        lines.append(_state(file, report.view, policies))
        if not any(o.done for o in outcomes):
            raise ToolError("\n".join(lines))
        return "\n".join(lines)
    lines.append(f"{named(file)}: {report.view.usage}.")
    if any(o.changed for o in outcomes):
        lines.append(f"{_SEEN} {_cost(outcomes)}".rstrip())
    if report.view.percent >= FULL:
        lines.append(f"It is {report.view.percent} % full: merge or remove entries before it is.")
    return "\n".join(lines)


def _line(number: int, outcome: Outcome, of: int) -> str:
    place = f"{number}. " if of > 1 else ""
    action = outcome.operation.action
    if not outcome.done:
        return f"{place}{action} was not done: {outcome.why}"
    if not outcome.changed:
        return f"{place}[{outcome.id}] stands there already"
    return f"{place}{_DONE[action]} [{outcome.id}]"


def _cost(outcomes: Sequence[Outcome]) -> str:
    """What the change costs in each call from then on."""
    profile = ModelProfile()
    tokens = sum(estimate_tokens(o.new, profile) - estimate_tokens(o.old, profile) for o in outcomes)
    if tokens > 0:
        return f"It costs about {tokens:,} tokens in each call."
    return f"It saves about {-tokens:,} tokens in each call." if tokens else ""
