"""The library on disk, so that a new process need not read a thousand files.

A line with format, checksum and key, then JSON. Whatever is not exactly that is ignored.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from dataclasses import astuple, dataclass
from itertools import chain
from typing import Any

from hermes.errors import FileRefused
from hermes.files import read_regular, replace_file
from hermes.paths import Home
from hermes.provenance import Decision, Notice, Origin
from hermes.security.policy import Policies
from hermes.skills.records import ALWAYS, PLAIN, Broken, Category, Conditions, Details, Library, Skill
from hermes.skills.stamps import Stamp, stamp_of

FILE = "skills.json"
FORMAT = 1
_MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Remembered:
    """A library with what must still be true of the disk for it to be the present one."""

    library: Library
    watched: tuple[str, ...]
    stamps: tuple[Stamp, ...]

    def holds(self) -> bool:
        """Whether every watched path is as it was."""
        return tuple(map(stamp_of, self.watched)) == self.stamps


def write(home: Home, key: str, remembered: Remembered) -> None:
    """Store a snapshot; a home that cannot be written is no matter."""
    import json

    body = json.dumps(_to_rows(remembered), separators=(",", ":")).encode()
    head = f"hermes skills {FORMAT} {zlib.crc32(body):08x} {key}\n".encode()
    with contextlib.suppress(OSError):
        if os.path.isdir(home.root):
            os.makedirs(home.cache, mode=0o700, exist_ok=True)
            replace_file(os.path.join(home.cache, FILE), head + body, lasting=False)


def read(home: Home, key: str, policies: Policies) -> Remembered | None:
    """The stored snapshot of this key; None when there is none or it is damaged."""
    import json

    try:
        data, _ = read_regular(os.path.join(home.cache, FILE), _MAX_BYTES)
    except FileRefused:
        return None
    head, _, body = data.partition(b"\n")
    if head != f"hermes skills {FORMAT} {zlib.crc32(body):08x} {key}".encode():
        return None
    try:
        return _from_rows(json.loads(body), policies)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None


def remove(home: Home) -> None:
    """Delete the snapshot, if there is one."""
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(home.cache, FILE))


def _to_rows(remembered: Remembered) -> dict[str, Any]:
    library = remembered.library
    return {
        "skills": [_row(s) for s in library.skills],
        "shadowed": [_row(s) for s in library.shadowed],
        "categories": library.categories,
        "broken": library.broken,
        "decisions": [astuple(d) for d in library.decisions],
        "notices": [astuple(n) for n in library.notices],
        "digest": library.digest,
        "watched": remembered.watched,
        "stamps": list(chain.from_iterable(remembered.stamps)),
    }


def _row(skill: Skill) -> tuple[Any, ...]:
    return skill[:-2] if skill[-2:] == (ALWAYS, PLAIN) else skill


def _from_rows(rows: dict[str, Any], policies: Policies) -> Remembered:
    library = Library(
        tuple(map(_skill, rows["skills"])),
        tuple(map(_skill, rows["shadowed"])),
        tuple(Category(*row) for row in rows["categories"]),
        tuple(Broken(*row) for row in rows["broken"]),
        tuple(Decision(*row) for row in rows["decisions"]),
        tuple(Notice(level, text, Origin(*o) if o else None) for level, text, o in rows["notices"]),
        rows["digest"],
        policies,
    )
    flat = iter(rows["stamps"])
    stamps = tuple(zip(flat, flat, flat, flat, strict=True))
    return Remembered(library, tuple(rows["watched"]), stamps)


def _skill(row: list[Any]) -> Skill:
    if len(row) == _PLAIN_ROW:
        return Skill(*row)
    conditions, (license_, compatibility, tools, metadata) = row[-2:]
    when = Conditions._make(tuple(v) if isinstance(v, list) else v for v in conditions)
    details = Details(license_, compatibility, tuple(tools), tuple((k, v) for k, v in metadata))
    return Skill._make(
        (*row[:-2], when if when != ALWAYS else ALWAYS, details if details != PLAIN else PLAIN)
    )


_PLAIN_ROW = len(Skill._fields) - 2
