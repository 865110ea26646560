"""The library on disk, so that a new process need not read a thousand files.

A line with format, checksum and key, then two of JSON: what proves it, and the records, which are made only
when someone asks for them. Whatever is not exactly that, or may be of another user, is ignored.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes.errors import FileRefused
from hermes.files import only_ours, read_regular, replace_file
from hermes.paths import Home
from hermes.security.policy import Policies
from hermes.skills.stamps import in_a_row, stamps_of

if TYPE_CHECKING:
    from hermes.skills.records import Library

FILE = "skills.json"
FORMAT = 2
_MAX_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class Remembered:
    """A library, by its digest, with what must still be true of the disk for it to be the present one.

    `stamps` are those of the watched paths, in a row. `made` is the library; while it is None, `rows` is what
    it can be made of.
    """

    digest: str
    watched: tuple[str, ...]
    stamps: list[int]
    made: Library | None = None
    rows: bytes = b""

    def holds(self) -> bool:
        """Whether every watched path is as it was."""
        return in_a_row(stamps_of(self.watched)) == self.stamps

    def library(self, policies: Policies) -> Library | None:
        """The library; None when what was stored is none."""
        if self.made is None:
            import json

            from hermes.skills.rows import from_rows

            with contextlib.suppress(ValueError, TypeError, LookupError, RecursionError):
                self.made = from_rows(json.loads(self.rows), self.digest, policies)
        return self.made


def write(home: Home, key: str, library: Library, watched: tuple[str, ...], stamps: list[int]) -> None:
    """Store a snapshot; a home that cannot be written is no matter."""
    import json

    from hermes.skills.rows import to_rows

    proof = {"digest": library.digest, "watched": "\0".join(watched), "stamps": stamps}
    rows = (json.dumps(part, separators=(",", ":")) for part in (proof, to_rows(library)))
    body = "\n".join(rows).encode()
    head = f"hermes skills {FORMAT} {zlib.crc32(body):08x} {key}\n".encode()
    store(home, FILE, head + body)


def read(home: Home, key: str) -> Remembered | None:
    """The stored snapshot of this key; None when there is none or it is damaged."""
    import json

    head, _, body = stored(home, FILE).partition(b"\n")
    if head != f"hermes skills {FORMAT} {zlib.crc32(body):08x} {key}".encode():
        return None
    try:
        first, _, rows = body.partition(b"\n")
        proof = json.loads(first)
        watched = tuple(proof["watched"].split("\0"))
        return Remembered(proof["digest"], watched, proof["stamps"], None, rows)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def store(home: Home, name: str, data: bytes) -> None:
    """Put a file into the cache of a home, if that can be; what was not ours alone is not written on."""
    path = os.path.join(home.cache, name)
    with contextlib.suppress(OSError):
        if os.path.isdir(home.root):
            os.makedirs(home.cache, mode=0o700, exist_ok=True)
            if os.path.lexists(path) and not only_ours(path):
                os.unlink(path)
            replace_file(path, data, lasting=False)


def stored(home: Home, name: str) -> bytes:
    """A file of the cache; nothing when it cannot be read or someone else may have written it."""
    path = os.path.join(home.cache, name)
    try:
        return read_regular(path, _MAX_BYTES)[0] if only_ours(path) else b""
    except (OSError, FileRefused):
        return b""


def remove(home: Home, name: str = FILE) -> None:
    """Delete a file of the cache, if there is one."""
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(home.cache, name))
