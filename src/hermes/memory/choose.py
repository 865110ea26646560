"""Which external memory is active: the one that `memory.provider` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes.bulkhead import behind_bulkhead
from hermes.config import Config
from hermes.contracts import MemoryProvider
from hermes.errors import ConfigError
from hermes.paths import Home
from hermes.provenance import Notice, Origin
from hermes.security.policy import Policies
from hermes.sessions.contract import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes.lane import Lane
    from hermes.memory.active import ActiveMemory

BUILT_IN = ("honcho", "sessions")


def active_memory(
    home: Home,
    config: Config,
    policies: Policies,
    store: Store,
    others: Mapping[str, Callable[[], MemoryProvider]],
) -> tuple[ActiveMemory | None, tuple[Notice, ...]]:
    """The memory that is configured, made but not asked yet; None with a notice when it cannot be had.

    `others` are those of plugins.
    """
    name = config.memory.provider
    if not name:
        return None, ()
    from hermes.lane import Lane
    from hermes.memory.active import ActiveMemory
    from hermes.memory.outbox import Outbox

    def make() -> ActiveMemory | Notice:
        if name == "sessions":
            from hermes.memory.recall import SessionRecall

            return ActiveMemory(name, SessionRecall(store), config.memory, policies)
        lane = Lane(f"the memory {name}", together=True)
        try:
            provider = _provider(name, config, others, lane)
        except ConfigError as error:
            return Notice("error", str(error), Origin("memory.provider", home.config))
        outbox = Outbox(home.path("cache", "outbox", name))
        return ActiveMemory(name, provider, config.memory, policies, lane, outbox)

    made, notices = behind_bulkhead(f"the memory {name}", make, None)
    return (None, (made,)) if isinstance(made, Notice) else (made, notices)


def _provider(
    name: str, config: Config, others: Mapping[str, Callable[[], MemoryProvider]], lane: Lane
) -> MemoryProvider:
    if name in others:
        return lane.call(others[name], config.plugins.timeout)
    if name == "honcho":
        from hermes.memory.honcho import Honcho

        return Honcho.from_config(config.memory)
    known = ", ".join(sorted({*BUILT_IN, *others}))
    raise ConfigError(f"there is no memory {name!r}; memory.provider is one of {known}, or empty for none")
