"""Putting a new file in place of an old one, and getting hold of what was really there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import lru_cache

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # Linux
_RENAME_SWAP = 2  # macOS


def swap(new: str, path: str) -> bool:
    """Put `new` in place of `path` at once. Raises OSError.

    True: what was in place before is now at `new`, to be looked at. False: nothing was there, or this system
    cannot tell; then `new` is gone.
    """
    exchange = _exchange()
    if exchange is not None and exchange(os.fsencode(new), os.fsencode(path)) == 0:
        return True
    os.replace(new, path)
    return False


def make_ready() -> None:
    """Look for the system's call now, so that the first swap of a process takes no longer than others."""
    _exchange()


@lru_cache(maxsize=1)
def _exchange() -> Callable[[bytes, bytes], int] | None:
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes  # for the first write of a process; Python has no call for this

    try:
        library = ctypes.CDLL(None)
        if sys.platform == "darwin":
            call = library.renamex_np
            return lambda new, path: int(call(new, path, _RENAME_SWAP))
        call = library.renameat2
        return lambda new, path: int(call(_AT_FDCWD, new, _AT_FDCWD, path, _RENAME_EXCHANGE))
    except (AttributeError, OSError):
        return None
