"""Sessions where the home cannot be written: in a temporary place, gone when the program ends."""

from __future__ import annotations

import os
import shutil
import tempfile

from hermes.errors import StoreError
from hermes.provenance import Notice, Origin
from hermes.sessions.sqlite import SqliteStore
from hermes.sessions.sqlite_file import must_be_a_file


class PassingStore(SqliteStore):
    """A store over a copy of what is at `kept`, in which all that is new passes away."""

    def __init__(self, kept: str) -> None:
        must_be_a_file(kept)
        self.kept = kept
        self._folder = _temporary(kept)
        path = os.path.join(self._folder.name, os.path.basename(kept))
        try:
            for end in ("", "-wal"):
                if os.path.exists(kept + end):
                    shutil.copyfile(kept + end, path + end)
        except OSError as error:
            self._folder.cleanup()
            reason = (error.strerror or str(error)).lower()
            raise StoreError(f"{kept} cannot be used: {reason}. See who may read and write there") from None
        super().__init__(path)

    @property
    def notice(self) -> Notice:
        """What is to be told once."""
        text = f"{os.path.dirname(self.kept)} cannot be written, so nothing of this conversation will be kept"
        return Notice("warning", text, Origin("sessions", self.kept))

    async def close(self) -> None:
        await super().close()
        self._folder.cleanup()


def _temporary(kept: str) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="hermes-sessions-")
    except OSError:
        raise StoreError(
            f"{os.path.dirname(kept)} cannot be written, nor is there a temporary folder that can; "
            "set TMPDIR or HERMES_HOME to a folder that can be written"
        ) from None
