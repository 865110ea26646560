"""The list of what is to be done, kept in the conversation itself, so that it survives what that survives."""

from __future__ import annotations

from typing import Literal, TypedDict

from hermes.errors import StoreError
from hermes.sessions.contract import Store
from hermes.tooling import Tool, ToolContext, ToolError, tool

MOST = 100
MAX_CHARS = 500


class _Named(TypedDict):
    text: str


class Item(_Named, total=False):
    """One thing to do."""

    status: Literal["pending", "in_progress", "done", "dropped"]


_MARKS = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]", "dropped": "[-]"}


def todo_tool(store: Store) -> Tool:
    """The tool over one store; the list of a session is what its last call gave."""

    @tool(effects=False)
    async def todo(context: ToolContext, items: list[Item] | None = None) -> str:
        """Take or show the list; see todo.md."""
        if items is None:
            try:
                return _shown(await _last(store, todo, context))
            except StoreError as error:
                raise ToolError(f"the list cannot be read: {error}") from None
        if len(items) > MOST:
            raise ToolError(
                f"{len(items)} items are too many to follow; {MOST} at most, so put some together"
            )
        for number, item in enumerate(items, 1):
            if not item["text"].strip():
                raise ToolError(f"item {number} has no text; say what is to be done")
            if len(item["text"]) > MAX_CHARS:
                raise ToolError(f"item {number} is longer than {MAX_CHARS} characters; say it in a few words")
        return _shown(items)

    return todo


async def _last(store: Store, todo: Tool, context: ToolContext) -> list[Item]:
    """The list as the last call that gave one left it."""
    given: dict[str, str] = {}
    items: list[Item] = []
    for stored in await store.messages(context.session_id) if context.session_id else ():
        message = stored.message
        given.update({call.id: call.arguments for call in message.tool_calls if call.name == todo.spec.name})
        if message.role == "tool" and message.call_id in given and not message.error:
            arguments = todo.read(given.pop(message.call_id))
            items = arguments.get("items", items)
    return items


def _shown(items: list[Item]) -> str:
    if not items:
        return "the list is empty"
    states = [item.get("status", "pending") for item in items]
    lines = [
        f"{_MARKS[state]} {' '.join(item['text'].split())}" for item, state in zip(items, states, strict=True)
    ]
    running = states.count("in_progress")
    hint = ["(keep one item in progress at a time)"] if running > 1 else []
    return "\n".join([f"{states.count('done')} of {len(items)} done", *lines, *hint])
