"""The log of a memory's folder: every change with the texts before and after, so that none is ever lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from hermes.errors import FileRefused
from hermes.files import list_directory, read_file
from hermes.frozen import frozen

NAME = "log.jsonl"
_FULL = 1024 * 1024  # bytes; then a new file is begun
_MOST = 16 * 1024 * 1024


@frozen
class Record:
    """One operation that changed a memory. All of one call share `change`; `undoes` names one that it undid.

    `before` and `after` are digests of the file; where `before` is not the last `after`, somebody else wrote.
    """

    change: str
    time: str
    file: str
    action: str
    id: str
    old: str
    new: str
    at: int
    by: str
    session: str
    before: str
    after: str
    undoes: str = ""


def write_records(folder: str, records: Iterable[Record]) -> None:
    """Add records to the log, in one write. Raises OSError."""
    path = os.path.join(folder, NAME)
    lines = "".join(json.dumps(asdict(r), ensure_ascii=False, separators=(",", ":")) + "\n" for r in records)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    try:
        end = os.fstat(fd).st_size
        data = lines.encode("utf-8", "surrogatepass")
        if end and not _ends_whole(fd, end):
            data = b"\n" + data  # a writer was killed in the middle of a line
        os.write(fd, data)
    finally:
        os.close(fd)
    if end > _FULL:
        os.replace(path, os.path.join(folder, f"log-{next_number(folder):04d}.jsonl"))


def next_number(folder: str) -> int:
    """The number of the next full log file."""
    return 1 + sum(name.startswith("log-") for name in list_directory(folder))


def read_records(folder: str, file: str = "") -> list[Record]:
    """The records of a folder, oldest first; lines that are damaged are passed over. FileRefused."""
    names = [n for n in list_directory(folder) if n.startswith("log-") and n.endswith(".jsonl")]
    found: list[Record] = []
    for name in [*names, NAME]:
        try:
            data = read_file(os.path.join(folder, name), max_bytes=_MOST).data
        except FileRefused as error:
            if error.verdict == "missing":
                continue
            raise
        found += _records(data)
    return [r for r in found if not file or r.file == file]


def last_change(records: Iterable[Record]) -> list[Record]:
    """The records of the last change that was not undone and undid nothing itself."""
    records = list(records)
    undone = {r.undoes for r in records}
    for record in reversed(records):
        if not record.undoes and record.change not in undone:
            return [r for r in records if r.change == record.change]
    return []


def _records(data: bytes) -> Iterator[Record]:
    for line in data.split(b"\n"):
        try:
            given: Any = json.loads(line)
            yield Record(**given)
        except (ValueError, TypeError):
            continue


def _ends_whole(fd: int, end: int) -> bool:
    os.lseek(fd, end - 1, os.SEEK_SET)
    return os.read(fd, 1) == b"\n"
