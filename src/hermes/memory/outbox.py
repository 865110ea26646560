"""What is still to be told to an external memory: on the disk before it is sent, so no exit loses it."""

from __future__ import annotations

import json
import os
import time
import uuid

from hermes.contracts import Exchange, Whose
from hermes.errors import FileRefused
from hermes.files import read_file, replace_file

KEPT = 1_000
"""Files at most; of more the oldest go."""

_ABANDONED = 600.0
"""Seconds after which what another process took to send counts as not sent."""


class Outbox:
    """A folder of exchanges, one file each, in the order in which they happened."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def put(self, exchange: Exchange) -> str:
        """Keep one; the path of its file, taken by this process. OSError when the disk does not take it."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        path = os.path.join(self.folder, f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.json.taken")
        body = {**exchange._asdict(), "whose": exchange.whose._asdict()}
        replace_file(path, json.dumps(body, ensure_ascii=True).encode("ascii"))
        return path

    def keep(self, path: str) -> None:
        """It could not be sent: anyone may take it later."""
        os.replace(path, path.removesuffix(".taken"))
        names = self._waiting()
        for name in names[: max(0, len(names) - KEPT)]:
            os.unlink(os.path.join(self.folder, name))

    def sent(self, path: str) -> None:
        os.unlink(path)

    def take(self) -> tuple[str, Exchange] | None:
        """The oldest that waits, for this process alone; None when none does."""
        for name in self._waiting():
            path = os.path.join(self.folder, name)
            taken = path if name.endswith(".taken") else f"{path}.taken"
            try:
                os.utime(path)
                os.replace(path, taken)
                body = json.loads(read_file(taken).data)
                whose = Whose(**body.pop("whose"))
                return taken, Exchange(whose=whose, **body)
            except (OSError, FileRefused):  # another process was first
                continue
            except (ValueError, TypeError):  # not one of ours, or torn by a crash of the machine
                os.unlink(taken)
        return None

    @property
    def waiting(self) -> int:
        return len(self._waiting())

    def _waiting(self) -> list[str]:
        """Names of those that may be sent, the oldest first."""
        try:
            names = sorted(os.listdir(self.folder))
        except OSError:  # nothing was ever kept
            return []
        return [n for n in names if n.endswith(".json") or (n.endswith(".taken") and self._abandoned(n))]

    def _abandoned(self, name: str) -> bool:
        try:
            return time.time() - os.stat(os.path.join(self.folder, name)).st_mtime > _ABANDONED
        except OSError:  # sent meanwhile
            return False
