"""What was typed before, in a file of the home that only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Iterable

from prompt_toolkit.history import FileHistory

from hermes.cli.repl.paste import has_label


class TypedBefore(FileHistory):
    """The lines typed in every conversation. A label of a paste means nothing later, so it is not kept."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        if has_label(string):
            return
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_APPEND, 0o600))
            super().store_string(string)
        except OSError:
            pass  # a home that cannot be written is told of at the start
