"""Stored sessions, for commands that do not talk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from hermes.agent.prompt_builder import Sources
from hermes.errors import UsageError
from hermes.prompt import SystemPrompt
from hermes.sessions.contract import Store
from hermes.sessions.open import open_store

if TYPE_CHECKING:
    from hermes.cli.build import Built
    from hermes.messages import ToolSpec
    from hermes.sessions.records import SessionSummary
    from hermes.wire.past import Past
    from hermes.wire.review import Entry, ProfileFor

T = TypeVar("T")


def with_store(sources: Sources, use: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store of a home, use it, close it."""

    async def go() -> T:
        store = open_store(sources.home, sources.config)
        try:
            return await use(store)
        finally:
            await store.close()

    return asyncio.run(go())


def frozen_prompt(sources: Sources, name: str) -> SystemPrompt:
    """The frozen prompt of a stored session. UsageError when there is no such session."""

    async def read(store: Store) -> SystemPrompt:
        record = await store.get(await store.resolve(name))
        if record is None:
            raise UsageError(f"there is no session {name}; hermes sessions list shows them")
        return SystemPrompt.from_json(record.prompt_json)

    return with_store(sources, read)


def listed_tools(built: Built) -> tuple[ToolSpec, ...]:
    """The tools that come with Hermes and would be listed beside a prompt; nothing is started for them."""
    from hermes.agent.delegation import kinds_of
    from hermes.model_tools import builtin_tools, tool_definitions, toolbox
    from hermes.tooling import ToolContext
    from hermes.tools.delegate_tool import Errand, Report, delegate_tool

    async def nobody(errand: Errand, context: ToolContext) -> Report:
        return Report(errand.label, "")

    sources, facts = built.sources, built.facts
    config = sources.config
    kinds = {name: kind.words for name, kind in kinds_of(config.delegation).items()}
    delegate = delegate_tool(nobody, kinds, config.delegation.max_chars)
    store = open_store(sources.home, config)
    made = builtin_tools(sources.home, config, sources.policies, store, facts.cwd.path, more=(delegate,))
    return tool_definitions(toolbox(made, facts.tools))


def review_session(name: str) -> tuple[Entry, ...]:
    """Every call of a stored session with its verdict. UsageError when there is no such session."""
    from hermes.cli.sessions import use_store
    from hermes.wire.review import review

    profile = known_profiles()

    async def look(store: Store) -> tuple[Entry, ...]:
        return await review(store, await store.resolve(name), profile)

    return use_store(look)


def review_sessions(since: str, limit: int) -> list[tuple[SessionSummary, tuple[Entry, ...]]]:
    """The last used sessions with all their calls, none that was last used before `since`."""
    from hermes.cli.sessions import use_store
    from hermes.wire.review import review

    profile = known_profiles()

    async def look(store: Store) -> list[tuple[SessionSummary, tuple[Entry, ...]]]:
        return [
            (summary, await review(store, summary.id, profile))
            for summary in await store.list(limit=limit)
            if summary.updated >= since
        ]

    return use_store(look)


def pasts_of(names: tuple[str, ...], since: str, limit: int) -> list[Past]:
    """These stored sessions as they are played again, or the last used, none last used before `since`."""
    from hermes.cli.sessions import use_store
    from hermes.wire.past import read_past

    async def look(store: Store) -> list[Past]:
        if names:
            return [await read_past(store, await store.resolve(name)) for name in names]
        found = await store.list(limit=limit)
        return [await read_past(store, s.id) for s in found if s.updated >= since and s.calls]

    return use_store(look)


def known_profiles() -> ProfileFor:
    """What is known of models, with what config.yaml says of them."""
    from hermes.config import load_config
    from hermes.paths import get_hermes_home
    from hermes.providers.profiles import profile_for

    models = load_config(get_hermes_home()).models
    return lambda model, provider: profile_for(model, provider, models)
