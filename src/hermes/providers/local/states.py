"""What the engine has read of a prompt, kept on disk, so that a restart need not read it again.

Two beginnings are kept: up to the end of the stable tier, which all sessions share, and up to the end of the
context tier, which those of one project share. Each lies under the digest of the very text that the engine
reads there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from glob import escape, iglob

from hermes.provenance import digest_of

LEAST_CHARS = 200
"""What is shorter is read as quickly as it is fetched."""


class States:
    """The states of one engine; with those of all others, no more than `max_bytes` of them."""

    def __init__(self, folder: str, identity: str, max_bytes: int) -> None:
        self._folder = folder
        self._identity = identity
        self._max_bytes = max_bytes

    def name(self, text: str) -> str:
        """The file of a beginning of a prompt."""
        return digest_of(f"{self._identity}\n{text}")[:32] + ".state"

    def is_here(self, name: str) -> bool:
        """Whether it is kept; asking makes it the newest."""
        try:
            os.utime(self._path(name))
        except OSError:
            return False
        return True

    def read_by_now(self) -> frozenset[str]:
        """The beginnings that the engine has read since it was started."""
        with suppress(OSError), open(os.path.join(self._folder, "held"), encoding="ascii") as file:
            return frozenset(file.read().split())
        return frozenset()

    def note_read(self, names: list[str]) -> None:
        with suppress(OSError), open(os.path.join(self._folder, "held"), "a", encoding="ascii") as file:
            file.writelines(f"{name}\n" for name in names)

    def keep(self, written: str, name: str) -> None:
        """Take over a file that was just written, and make room for it."""
        with suppress(OSError):
            os.chmod(self._path(written), 0o600)
            os.replace(self._path(written), self._path(name))
        self._prune()

    def drop(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(self._path(name))

    def _prune(self) -> None:
        """Delete the oldest until the rest is small enough; those of other engines count."""
        room = self._max_bytes
        for _, size, path in sorted(_states_below(os.path.dirname(self._folder)), reverse=True):
            room -= size
            if room < 0:
                with suppress(OSError):
                    os.unlink(path)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, "states", name)


def _states_below(folder: str) -> Iterator[tuple[float, int, str]]:
    """Time, size and path of the states of every engine."""
    for path in iglob(os.path.join(escape(folder), "*", "states", "*")):
        with suppress(OSError):
            status = os.stat(path)
            yield status.st_mtime, status.st_size, path
