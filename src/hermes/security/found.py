"""What the scanner found, remembered by content: in the process, and in one small file across starts.

The file is believed only when nobody but its owner could have written it, and only for the scanner that
made it. Anything odd about it and it is passed over: texts are scanned again, which costs time, no more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from hermes.errors import FileRefused
from hermes.files import only_ours, read_regular, replace_file
from hermes.provenance import digest_of
from hermes.security.scan import Finding, scan, scanner_version

NAME, OPINIONS = "found.jsonl", "opinions.jsonl"
"""What the scanner found, and what a model said of texts that only warn."""
FORMAT = "hermes found 1"
STORED_AT_MOST = 2048
_REMEMBERED_AT_MOST = 8192
_MAX_BYTES = 1024 * 1024
_FINDINGS_AT_MOST = 200
_CHARS_AT_MOST = 400_000


class Found:
    """The findings of every text that was looked at, in the file `name` of a directory."""

    def __init__(
        self,
        scanner: Callable[[str], tuple[Finding, ...]] = scan,
        version: Callable[[], str] = scanner_version,
        name: str = NAME,
    ) -> None:
        self._name = name
        self._scan = scanner
        self._version = version
        self._known: dict[str, tuple[Finding, ...]] = {}
        self._asked: dict[str, None] = {}
        self._stored: dict[str, str] | None = None
        self._folder = ""
        self._news = False

    def of(self, text: str) -> tuple[Finding, ...]:
        """The findings of a text, scanned at most once."""
        key = digest_of(text)
        self._asked[key] = None
        if (known := self._known.get(key)) is not None:
            return known
        if len(self._known) >= _REMEMBERED_AT_MOST:
            self._known.clear()
            self._asked.clear()
        stored = self._recalled(key)
        if stored is None:
            stored = self._scan(text)
            self._news = True
        self._known[key] = stored
        return stored

    def keep_in(self, folder: str) -> None:
        """Use the file in this directory from now on; it is read when a text is not known.

        What was asked for before stays out of it: findings quote their text, and one home's is not another's.
        """
        if folder != self._folder:
            self.save()
            self._folder, self._stored, self._asked = folder, None, {}

    def save(self) -> None:
        """Write the file when there is anything new; one that cannot be written is let be."""
        if not self._folder or not self._news:
            return
        self._news = False
        rows = {}
        for key in reversed(list(self._asked)):
            if key in self._known and (row := _row(self._known[key])) is not None:
                rows[key] = row
        for key, row in (self._stored or {}).items():  # what was not asked for this time fills the room left
            rows.setdefault(key, row)
        body = "".join(_within([f"{key} {row}\n" for key, row in rows.items()]))
        head = f"{FORMAT} {self._version()} {digest_of(body)}\n"
        path = os.path.join(self._folder, self._name)
        with suppress(OSError):
            if os.path.lexists(path) and not only_ours(path):
                os.unlink(path)
            replace_file(path, (head + body).encode(), lasting=False)

    def _recalled(self, key: str) -> tuple[Finding, ...] | None:
        if self._stored is None:
            self._stored = self._read() if self._folder else {}
        row = self._stored.get(key)
        if row is None:
            return None
        if row == "[]":
            return ()
        import json

        try:
            return tuple(Finding(*fields) for fields in json.loads(row))
        except (ValueError, TypeError):
            return None

    def _read(self) -> dict[str, str]:
        path = os.path.join(self._folder, self._name)
        try:
            if not only_ours(path):
                return {}
            text = read_regular(path, _MAX_BYTES)[0].decode()
        except (OSError, FileRefused, UnicodeDecodeError):
            return {}
        head, _, body = text.partition("\n")
        if head != f"{FORMAT} {self._version()} {digest_of(body)}":
            return {}
        return {line[:64]: line[65:] for line in body.split("\n") if line}


def _within(rows: list[str]) -> list[str]:
    """The first rows, as many as may be stored."""
    total = 0
    for at, row in enumerate(rows[:STORED_AT_MOST]):
        total += len(row)
        if total > _CHARS_AT_MOST:
            return rows[:at]
    return rows[:STORED_AT_MOST]


def _row(found: tuple[Finding, ...]) -> str | None:
    if len(found) > _FINDINGS_AT_MOST:
        return None
    import json

    rows = [[f.id, f.family, f.severity, f.start, f.end, f.line, f.column, f.reads, f.why] for f in found]
    return json.dumps(rows, separators=(",", ":"))


FOUND = Found()


def keep_found(folder: str) -> None:
    """Keep what this process finds in a directory; the file is written when the process ends."""
    import atexit

    FOUND.keep_in(folder)
    atexit.unregister(FOUND.save)
    atexit.register(FOUND.save)
