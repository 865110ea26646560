"""The SQLite file: opened with the right settings, at the newest schema, its faults put into words."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from hermes.errors import StoreError
from hermes.sessions import schema
from hermes.sessions.scripts import Script

if TYPE_CHECKING:
    import apsw

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds that a writer waits for another process before it gives up."""

_SETTINGS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -16000;
PRAGMA temp_store = MEMORY;
"""


APPLICATION = 0x4865726D
"""What marks a file as ours."""


def connect(path: str) -> apsw.Connection:
    """A connection with the settings that all share; a new file is for its owner's eyes only."""
    import apsw

    with in_words(path):
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        must_be_a_file(path)
        connection = apsw.Connection(path)
        with closed_unless_ready(connection):
            connection.set_busy_handler(patience())
            _patiently(lambda: _refuse_foreign(connection, path))
            _patiently(lambda: connection.execute(_SETTINGS).fetchall())
    return connection


def must_be_a_file(path: str) -> None:
    """StoreError for what is something else: a pipe would be waited for, for ever."""
    if os.path.lexists(path) and not os.path.isfile(path):
        what = "a directory" if os.path.isdir(path) else "no file"
        raise StoreError(f"{path} cannot be used: it is {what}; move it away")


@contextlib.contextmanager
def closed_unless_ready(connection: apsw.Connection) -> Iterator[None]:
    """A connection that could not be made ready holds no file open."""
    ready = False
    try:
        yield
        ready = True
    finally:
        if not ready:
            connection.close(True)


def _refuse_foreign(connection: apsw.Connection, path: str) -> None:
    """StoreError for a file of another program, before anything of it is changed."""
    connection.execute("BEGIN")  # one moment: another process may be making the file ours right now
    try:
        used = bool(connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall())
        ours = int(connection.pragma("application_id")) == APPLICATION
    finally:
        end(connection)
    if used and not ours:
        raise StoreError(
            f"{path} is the database of another program and was not touched; "
            "move it away, or set sessions.url"
        )


def prepare(connection: apsw.Connection, path: str) -> None:
    """Bring the file to the newest schema; StoreError when it is newer than this Hermes."""
    newest = len(schema.SQLITE)
    with in_words(path):
        if _version(connection) == newest:
            return
        _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
        try:
            found = _version(connection)
            if found > newest:
                raise schema.newer(path, found, newest)
            for statements in schema.SQLITE[found:]:
                for statement in statements:
                    connection.execute(statement)
            connection.pragma("application_id", APPLICATION)
            connection.pragma("user_version", newest)
            connection.execute("COMMIT")
        finally:
            end(connection)


def _version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def run(connection: apsw.Connection, script: Script[T], begin: str) -> T:
    """Run a script in a transaction of its own."""
    cursor = connection.cursor()
    cursor.execute(begin)
    try:
        result = drive(cursor, script)
        cursor.execute("COMMIT")
        return result
    finally:
        end(connection)


def end(connection: apsw.Connection) -> None:
    """Take back what is not committed; a committed transaction is over, and nothing is left to do."""
    if not connection.get_autocommit():
        connection.execute("ROLLBACK")


def drive(cursor: apsw.Cursor, script: Script[T]) -> T:
    """Run a script inside the transaction that is open."""
    rows: list[tuple[Any, ...]] | None = None
    execute = cursor.execute  # one cursor for all: to make one costs as much as many a statement
    try:
        while True:
            sql, values = script.send(rows)  # type: ignore[arg-type]  # the first is None, as generators want
            rows = execute(sql, values).fetchall()
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def faults(path: str) -> tuple[str, ...]:
    """What SQLite itself finds wrong with the file; it may take a while."""
    with in_words(path):
        connection = connect(path)
        try:
            rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
        finally:
            connection.close()
    return tuple(f"{path}: {row[0]}" for row in rows if row[0] != "ok")


def look(path: str, most: int) -> str:
    """What SQLite finds wrong with a file that is there, nothing of which is changed; "" when it is well.

    A file of over `most` bytes is looked at from outside only. StoreError when it cannot be used at all.
    """
    from urllib.parse import quote

    import apsw

    with in_words(path):
        path = os.path.realpath(path)
        must_be_a_file(path)
        size = os.path.getsize(path)
        clean = not os.path.exists(f"{path}-wal")  # nobody has it open: no file need be made beside it
        where = f"file:{quote(path)}?mode=ro{'&immutable=1' if clean else ''}"
        connection = apsw.Connection(where, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            _refuse_foreign(connection, path)
            if (found := _version(connection)) > len(schema.SQLITE):
                raise schema.newer(path, found, len(schema.SQLITE))
            rows = connection.execute("PRAGMA quick_check(1)").fetchall() if size <= most else [("ok",)]
        finally:
            connection.close()
    return "" if rows[0][0] == "ok" else str(rows[0][0])


class in_words:  # noqa: N801
    """SQLite's errors as StoreError, each with what to do about it."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, StoreError) or not isinstance(error, Exception):
            return
        import apsw

        if isinstance(error, apsw.Error | OSError | UnicodeError | OverflowError):
            raise StoreError(_told(self._path, error)) from None


def _told(path: str, error: Exception) -> str:
    import apsw

    if isinstance(error, UnicodeDecodeError):
        return f"{path} holds a text that is damaged ({error.reason}); see: hermes sessions check"
    if isinstance(error, UnicodeError | OverflowError):
        return schema.no_value(error)
    if isinstance(error, OSError):
        return f"{path} cannot be used: {(error.strerror or str(error)).lower()}"
    known: dict[type[Exception], str] = {
        apsw.CorruptError: _DAMAGED,
        apsw.NotADBError: _DAMAGED,
        apsw.FullError: "{0} cannot grow: the disk is full. Make room; nothing stored was lost",
        apsw.BusyError: _BUSY,
    }
    words = (said for kind, said in known.items() if isinstance(error, kind))
    return next(words, "{0} cannot be used: {1}").format(path, error)


_DAMAGED = (
    "{0} is damaged ({1}). It was left as it is. Copy it and the files {0}-wal and {0}-shm to a safe place, "
    "then see: hermes sessions check"
)
_BUSY = (
    f"{{0}} was being written by another process for {PATIENCE:.0f} seconds; this is not stored. "
    "Look for a process that hangs, then try again"
)


def patience() -> Callable[[int], bool]:
    """A handler that waits by the clock; naps of uneven length, so that waiters do not march in step."""
    began = 0.0

    def wait(tries: int) -> bool:
        nonlocal began
        now = time.monotonic()
        if tries == 0:
            began = now
        if now - began > PATIENCE:
            return False
        time.sleep(random.uniform(0.0001, 0.001))  # noqa: S311
        return True

    return wait


def _patiently(call: Callable[[], object]) -> None:
    """For the few statements for which SQLite does not ask the busy handler."""
    import apsw

    wait = patience()
    tries = 0
    while True:
        try:
            call()
            return
        except apsw.BusyError:
            if not wait(tries):
                raise
            tries += 1
