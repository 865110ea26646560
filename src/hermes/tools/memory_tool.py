"""The memory tool: what is kept between sessions, read live and changed entry by entry."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypedDict

from hermes.errors import MemoryRefused
from hermes.memory.scope import MemoryFile, left_over
from hermes.paths import Home
from hermes.security.policy import Policies
from hermes.tooling import Tool, ToolContext, ToolError, tool

if TYPE_CHECKING:  # most sessions remember nothing new
    from hermes.memory.operations import Operation
    from hermes.memory.store import MemoryStore

MOST_AT_ONCE = 50


class _Action(TypedDict):
    action: Literal["add", "replace", "remove"]


class Change(_Action, total=False):
    """One operation of a batch."""

    content: str
    entry: str


def memory_tool(home: Home, files: Sequence[MemoryFile], policies: Policies) -> Tool:
    """The tool over the memories that a conversation may see; what killed writers left is cleared away."""

    @lru_cache(maxsize=1)
    def stores() -> tuple[MemoryStore, ...]:
        from hermes.memory.store import MemoryStore

        return tuple(MemoryStore(home, file, policies.of("memory_write")) for file in files)

    if any(os.path.lexists(left_over(file.path(home))) for file in files):
        for store in stores():
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
        from hermes.tools.memory_answers import answered, shown

        try:
            if action == "read":
                return shown([s for s in stores() if target in (None, s.file.target)], policies)
            store = _chosen(stores(), target or "memory", project)
            changes = _changes(action, content, entry, operations or [])
            report = await asyncio.to_thread(store.apply, changes, session=context.session_id)
        except MemoryRefused as error:
            raise ToolError(str(error)) from None
        return answered(store.file, report, policies, refusals)

    return memory


def _changes(action: str, content: str, entry: str, operations: Sequence[Change]) -> list[Operation]:
    """What is to be done, in order; beside a list of operations a single one is one more."""
    from hermes.memory.operations import Operation

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
    there = ", ".join(dict.fromkeys(s.file.called for s in stores)) or "none"
    raise ToolError(f"this conversation has {what}; what it has: {there}")
