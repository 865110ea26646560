"""Who goes on with a session. A lease lasts as long as the process that took it."""

from __future__ import annotations

import os
import socket
from functools import lru_cache

from hermes.sessions.scripts import Dialect, Script

PRESUMED = 900
"""Seconds for which a holder on another machine, of whom nothing can be known, is taken to be alive."""
NAP = 0.05
"""Seconds between two looks at a session that is held."""


def claim(dialect: Dialect, session_id: str, holder: str, owner: str, now: int) -> Script[str]:
    """Take the lease; when a living one has it, its holder is returned, else an empty text."""
    while True:
        yield (
            "INSERT INTO leases (session, holder, owner, since) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (session) DO NOTHING",
            (session_id, holder, owner, now),
        )
        rows = yield (
            f"SELECT holder, owner, since, {dialect.lives} FROM leases WHERE session = ?"  # noqa: S608
            + dialect.locked,
            (session_id,),
        )
        if rows:
            break  # else it was released between the two statements
    other, its_owner, since, lives = rows[0]
    if (other, its_owner) != (holder, owner) and (
        is_alive(its_owner, since, now) if lives is None else lives
    ):
        return str(other)
    yield (
        "UPDATE leases SET holder = ?, owner = ?, since = ? WHERE session = ?",
        (holder, owner, now, session_id),
    )
    return ""


def release(session_id: str, holder: str, owner: str) -> Script[None]:
    yield (
        "DELETE FROM leases WHERE session = ? AND holder = ? AND owner = ?",
        (session_id, holder, owner),
    )


@lru_cache(maxsize=1)
def this_place() -> str:
    """This machine; each container counts as one, for it does not see the processes of the others."""
    try:
        return f"{socket.gethostname()}:{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return socket.gethostname()


def this_process() -> str:
    """A name that no other process ever has."""
    return f"{this_place()}|{os.getpid()}|{_started(os.getpid())}"


def is_alive(owner: str, since: int, now: int) -> bool:
    """Whether the process that took a lease still runs."""
    place, pid, started = owner.rsplit("|", 2)
    if place != this_place() or os.name == "nt":
        return now - since < PRESUMED
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _started(int(pid)) == started


def _started(pid: int) -> str:
    """When a process started, in ticks since the machine did; empty where that cannot be known."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # The name in brackets may itself hold anything; what follows the last bracket does not.
            fields = stat.read().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode("ascii")
