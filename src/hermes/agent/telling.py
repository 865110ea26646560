"""What a person is told of a prompt: each thing once for its content, also over starts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from hermes.errors import FileRefused
from hermes.files import only_ours, read_regular, replace_file
from hermes.paths import Home
from hermes.provenance import Notice, Origin, digest_of

FILE = "told"
MOST = 1000
"""So many things are remembered as told, the latest."""
_MAX_BYTES = 1024 * 1024


class Telling:
    """Keeps what was told about the prompts of a home, and gives what is new."""

    def __init__(self, home: Home) -> None:
        self._path = os.path.join(home.cache, FILE)
        self._told: dict[str, None] | None = None
        self._reminded = False
        self._first: tuple[Notice, ...] = ()

    def first(self, notices: tuple[Notice, ...]) -> None:
        """Tell these next, whatever was told before."""
        self._first += notices

    def news(self, notices: Iterable[Notice]) -> tuple[Notice, ...]:
        """Those that nobody was told of yet; once for a conversation, a word about grave ones that stand."""
        told = self._told = self._known() if self._told is None else self._told
        each = {_key(notice): notice for notice in notices}
        first, self._first = self._first, ()
        new = (*first, *(notice for key, notice in each.items() if key not in told))
        old = [notice for key, notice in each.items() if key in told and notice.level == "error"]
        if unheard := [key for key in each if key not in told]:
            told.update(dict.fromkeys(unheard))
            self._keep(told)
        self._reminded = self._reminded or any(notice.level == "error" for notice in new)
        if not old or self._reminded:
            return new
        self._reminded = True
        number = "1 thing is" if len(old) == 1 else f"{len(old)} things are"
        text = f"{number} still kept out of the prompt, as you were told; hermes doctor says what and why"
        return (*new, Notice("warning", text, Origin("prompt")))

    def _known(self) -> dict[str, None]:
        with suppress(OSError, FileRefused):
            if only_ours(self._path):
                data = read_regular(self._path, _MAX_BYTES)[0]
                return dict.fromkeys(data.decode("ascii", "replace").split())
        return {}

    def _keep(self, told: dict[str, None]) -> None:
        """A home that cannot be written is told of elsewhere; there each start tells anew."""
        with suppress(OSError):
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            replace_file(self._path, "\n".join([*told][-MOST:]).encode(), lasting=False)


def _key(notice: Notice) -> str:
    content = notice.origin.digest if notice.origin else ""
    return digest_of(f"{notice.level}\0{notice.text}\0{content}")[:32]
