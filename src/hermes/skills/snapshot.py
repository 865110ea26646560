"""The library on disk, so that a new process need not read a thousand files.

Two files: what proves a library unchanged, which every start reads, and its records, which are read when
someone asks for one. Whatever is not exactly that, or may be of another user, is ignored.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes.errors import FileRefused
from hermes.files import only_ours, read_regular, replace_file
from hermes.paths import Home
from hermes.security.policy import Policies
from hermes.skills.stamps import Stamp, sealed, stamps_of

if TYPE_CHECKING:
    from hermes.skills.records import Library

PROOF = "skills.proof"
RECORDS = "skills.json"
FORMAT = 3
_MAX_BYTES = 64 * 1024 * 1024
_PROOF_HEAD = b"hermes skills-proof %d" % FORMAT


@dataclass(slots=True)
class Remembered:
    """A library, by key and digest, with what must still be true of the disk for it to be the present one.

    `seal` is what key, digest, the watched paths and their stamps came to when it was read.
    """

    key: str
    digest: str
    watched: tuple[bytes, ...]
    seal: str
    made: Library | None = None

    def holds(self) -> bool:
        """Whether every watched path is as it was, and this record of it too."""
        return _seal(self.key, self.digest, self.watched, stamps_of(self.watched)) == self.seal

    def library(self, home: Home, policies: Policies) -> Library | None:
        """The library; None when its records are not stored, or not whole."""
        if self.made is None and (rows := _records(home, self.key, self.digest)):
            import json

            from hermes.skills.rows import from_rows

            with contextlib.suppress(ValueError, TypeError, LookupError, RecursionError):
                self.made = from_rows(json.loads(rows), self.digest, policies)
        return self.made


def remembered(key: str, library: Library, watched: Mapping[str, Stamp]) -> Remembered:
    """A library that was read when the watched paths had these stamps."""
    paths = tuple(os.fsencode("\0".join(watched)).split(b"\0"))
    seal = _seal(key, library.digest, paths, watched.values())
    return Remembered(key, library.digest, paths, seal, library)


def write(home: Home, known: Remembered, library: Library) -> None:
    """Store a snapshot; a home that cannot be written is no matter."""
    import json

    from hermes.skills.rows import to_rows

    rows = json.dumps(to_rows(library), separators=(",", ":")).encode()
    store(home, RECORDS, _records_head(rows, known.key, known.digest) + b"\n" + rows)
    names = (known.key.encode(), known.digest.encode(), known.seal.encode())
    store(home, PROOF, b"\n".join((_PROOF_HEAD, *names, b"\0".join(known.watched))))


def read(home: Home, key: str) -> Remembered | None:
    """What is stored to prove a library of this key, if anything is. Whether it is true, `holds` says."""
    head, _, rest = stored(home, PROOF).partition(b"\n")
    try:
        of, digest, seal, watched = rest.split(b"\n", 3)
        if head != _PROOF_HEAD or of != key.encode():
            return None
        return Remembered(key, digest.decode(), tuple(watched.split(b"\0")), seal.decode())
    except ValueError:
        return None


def _seal(key: str, digest: str, watched: Iterable[bytes], stamps: Iterable[Stamp]) -> str:
    return sealed(f"{key} {digest} ".encode() + b"\0".join(watched), stamps)


def _records(home: Home, key: str, digest: str) -> bytes:
    head, _, rows = stored(home, RECORDS).partition(b"\n")
    return rows if head == _records_head(rows, key, digest) else b""


def _records_head(rows: bytes, key: str, digest: str) -> bytes:
    return f"hermes skills {FORMAT} {zlib.crc32(rows):08x} {key} {digest}".encode()


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


def remove(home: Home, *names: str) -> None:
    """Delete files of the cache, if they are there."""
    for name in names:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(home.cache, name))
