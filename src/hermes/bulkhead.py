"""The one place where any failure is caught, so that a broken part never takes the whole with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hermes.provenance import Notice, Origin

T = TypeVar("T")


def behind_bulkhead(part: str, call: Callable[[], T], fallback: T) -> tuple[T, tuple[Notice, ...]]:
    """Run `call`; when it fails, log the traceback and give `fallback` with a notice naming `part`."""
    try:
        return call(), ()
    except Exception as error:
        import logging  # 7 ms that only a failure pays

        logging.getLogger("hermes").exception("%s failed", part)
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        text = f"{part} failed and was left out ({reason}); the log has the details"
        return fallback, (Notice("error", text, Origin(part)),)
