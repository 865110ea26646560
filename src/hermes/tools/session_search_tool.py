"""Searching what was said in past sessions."""

from __future__ import annotations

from hermes.errors import StoreError
from hermes.sessions.contract import Store
from hermes.sessions.records import Hit
from hermes.sessions.search import parse
from hermes.tooling import Tool, ToolContext, ToolError, tool

MOST = 50


def session_search_tool(store: Store) -> Tool:
    """The tool over one store."""

    @tool(parallel=True, effects=False)
    async def session_search(
        context: ToolContext, query: str, limit: int = 10, newest: bool = False, session: str = ""
    ) -> str:
        """Find passages; see session_search.md."""
        if not parse(query):
            raise ToolError("session_search needs words to look for; signs and emoji alone are not found")
        try:
            wanted = max(1, min(limit, MOST))
            hits = await store.search(query, wanted, newest=newest, session=session)
        except StoreError as error:
            raise ToolError(str(error)) from None
        if not hits:
            return f"nothing was found for {query!r}; try fewer or other words"
        return "\n\n".join(_shown(hit, context.session_id) for hit in hits)

    return session_search


def _shown(hit: Hit, current: str) -> str:
    where = "this session" if hit.session == current else f"session {hit.session}"
    title = f" ({hit.title})" if hit.title else ""
    return f"{where}{title}, message {hit.seq}, {hit.role}, {hit.time[:16]}:\n{hit.snippet}"
