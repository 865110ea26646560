"""What is remembered, looked at and changed by the person."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hermes.commands.records import Conversation
from hermes.errors import UsageError

if TYPE_CHECKING:  # imported when somebody asks
    from hermes.memory.operations import Operation
    from hermes.memory.store import MemoryStore, Report

_SAY = "Say /memory, /memory add TEXT, /memory remove ID, /memory undo; user before TEXT for your profile."
_SEEN = "The prompt shows it from the next session, /refresh or /compress on; the model is told meanwhile."


async def memory(conversation: Conversation, argument: str) -> str:
    from hermes.memory.operations import Operation

    stores = _stores(conversation)
    if not stores:
        return "There is no memory in this conversation."
    action, _, rest = argument.partition(" ")
    rest = rest.strip()
    if not action:
        return await asyncio.to_thread(_listed, stores)
    if action == "undo":
        newest = max(stores, key=lambda s: max((r.time for r in s.records()), default=""))
        return _told(await asyncio.to_thread(newest.undo))
    if action == "add" and rest:
        target, text = ("user", rest[5:]) if rest.startswith("user ") else ("memory", rest)
        store = next((s for s in stores if s.file.target == target), None)
        if store is None:
            raise UsageError(f"The memory {target} is switched off.")
        return await _done(store, Operation("add", text))
    if action == "remove" and rest:
        name = rest.strip("[]").lower()
        store = next((s for s in stores if name in s.view().ids), None)
        if store is None:
            raise UsageError(f"No entry has the id {rest}; /memory lists them.")
        return await _done(store, Operation("remove", entry=name))
    raise UsageError(_SAY)


def _stores(conversation: Conversation) -> list[MemoryStore]:
    from hermes.memory.store import MemoryStore

    agent = conversation.agent
    policy = agent.sources.policies.of("memory_write")
    return [MemoryStore(agent.sources.home, file, policy) for file in agent.memory]


def _listed(stores: list[MemoryStore]) -> str:
    parts = []
    for store in stores:
        view = store.view()
        entries = zip(view.ids, view.entries, strict=True)
        lines = [f"[{name}] " + entry.replace("\n", "\n  ") for name, entry in entries]
        parts.append("\n".join([f"{store.file.called}: {view.usage}", *lines]))
    return "\n\n".join(parts)


async def _done(store: MemoryStore, operation: Operation) -> str:
    return _told(await asyncio.to_thread(store.apply, [operation], by="person"))


def _told(report: Report) -> str:
    refused = [o.why for o in report.outcomes if not o.done]
    lines = [*(n.text for n in report.notices), *(f"Not done: {why}" for why in refused)]
    lines += [f"{o.operation.action} [{o.id}]" for o in report.outcomes if o.done]
    return "\n".join([*lines, report.view.usage] if refused else [*lines, f"{report.view.usage}. {_SEEN}"])
