"""The one place where any failure is caught, so that a broken part never takes the whole with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from hermes.provenance import Notice, Origin

T = TypeVar("T")


def behind_bulkhead(part: str, call: Callable[[], T], fallback: T) -> tuple[T, tuple[Notice, ...]]:
    """Run `call`; when it fails, log the traceback and give `fallback` with a notice naming `part`."""
    waiting = behind_bulkhead_async(part, _calling(call), fallback)
    try:
        waiting.send(None)
    except StopIteration as done:
        result: tuple[T, tuple[Notice, ...]] = done.value
        return result
    raise AssertionError("a plain call never waits")


async def _calling(call: Callable[[], T]) -> T:
    return call()


async def behind_bulkhead_async(
    part: str, work: Awaitable[T], fallback: T, *, letting: tuple[type[Exception], ...] = ()
) -> tuple[T, tuple[Notice, ...]]:
    """The same for work that is awaited; errors named in `letting` pass through."""
    try:
        return await work, ()
    except letting:
        raise
    except Exception as error:  # the one broad except of the code base
        import logging  # 7 ms that only a failure pays

        logging.getLogger("hermes").exception("%s failed", part)
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        text = f"{part} failed and was left out ({reason}); the log has the details"
        return fallback, (Notice("error", text, Origin(part)),)
