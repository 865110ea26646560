"""The scripts that look for sessions and messages, name them, and throw them away."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from hermes.errors import UsageError
from hermes.messages import Role
from hermes.sessions.coding import message_from
from hermes.sessions.records import Hit, SessionFilter, SessionSummary, storable
from hermes.sessions.scripts import Dialect, Script, key_of, missing, moment
from hermes.sessions.search import Query, parse, score, snippet

CANDIDATES = 1000
"""So many of the newest matches are weighed against each other."""
WEIGHED = 1 << 20
"""And no more bytes of them than this."""
SLICE = 500
"""Rows that are thrown away in one transaction: a long one would stop the writers."""
SOME = 100
"""And the sessions that they are of."""

_LAST = "\U0010ffff"


def listed(only: SessionFilter, limit: int, before: str) -> Script[tuple[SessionSummary, ...]]:
    rows = yield (
        "SELECT id, title, created, updated, platform, model, provider, parent, messages, calls FROM sessions"
        " WHERE deleted = 0 AND ? IN ('', platform) AND ? IN ('', model) AND ? IN ('', parent)"
        " AND title_key LIKE ? ESCAPE '!'"
        " AND (? = '' OR (updated, id) < (SELECT updated, id FROM sessions WHERE id = ?))"
        " ORDER BY updated DESC, id DESC LIMIT ?",
        (only.platform, only.model, only.parent, _containing(only.title), before, before, limit),
    )
    return tuple(SessionSummary(*row) for row in rows)


def _containing(part: str) -> str:
    part = part.casefold()
    for sign in "!%_":
        part = part.replace(sign, f"!{sign}")
    return f"%{part}%"


def resolve(name: str) -> Script[str]:
    name = storable(name)
    for column, key in (("id", name), ("title_key", name.casefold())):
        for end in (key, key + _LAST):
            found = yield (
                f"SELECT id, title FROM sessions WHERE deleted = 0 AND {column} BETWEEN ? AND ?"  # noqa: S608
                " ORDER BY updated DESC, id DESC LIMIT 6",
                (key, end),
            )
            if len(found) == 1 and name:
                return str(found[0][0])
            if found and name:
                shown = ", ".join(f"{row[0]} ({row[1]})" if row[1] else row[0] for row in found[:5])
                raise UsageError(
                    f"{name!r} may be any of {shown}{' and more' * (len(found) > 5)}; write more of it"
                )
    raise UsageError(f"there is no session {name!r}; see: hermes sessions list")


def found(
    dialect: Dialect, query: str, limit: int, newest: bool, session: str, roles: Sequence[Role]
) -> Script[tuple[Hit, ...]]:
    asked = parse(storable(query))
    if not asked or limit < 1:
        return ()
    key = (yield from key_of(session)) if session else None
    sql, values = dialect.find(asked, key, roles)
    matches = yield sql, (*values, limit if newest else CANDIDATES)
    keys = [row[0] for row in matches[:1]]
    weight = 0
    for match, size in matches[1:]:
        weight += size
        if not newest and weight > WEIGHED:
            break
        keys.append(match)
    rows: list[tuple[Any, ...]] = []
    for at in range(0, len(keys), CANDIDATES):
        some = keys[at : at + CANDIDATES]
        rows += yield (
            "SELECT m.key, s.id, s.title, m.seq, m.role, m.text, m.data FROM messages m"  # noqa: S608
            f" JOIN sessions s ON s.key = m.session WHERE m.key IN ({', '.join('?' * len(some))})"
            " ORDER BY m.key DESC",
            some,
        )
    return _ranked(asked, rows, limit, newest)


def _ranked(asked: Query, rows: list[tuple[Any, ...]], limit: int, newest: bool) -> tuple[Hit, ...]:
    if newest or not rows:
        return tuple(_hit(asked, 0.0, row) for row in rows)
    average = sum(len(row[5]) for row in rows) / len(rows) or 1.0
    weighed = [(score(asked, row[5], average), row) for row in rows]
    weighed.sort(key=lambda pair: -pair[0])  # a stable sort: among equals the newest stays first
    return tuple(_hit(asked, points, row) for points, row in weighed[:limit])


def _hit(asked: Query, points: float, row: tuple[Any, ...]) -> Hit:
    _, session, title, seq, role, text, data = row
    shown, marks = snippet(asked, text)
    time = message_from(role, seq, "", data).time
    return Hit(session, title, seq, role, time, shown, marks, round(points, 6))


def rename(session_id: str, title: str) -> Script[None]:
    title = storable(title)
    rows = yield (
        "UPDATE sessions SET title = ?, title_key = ? WHERE id = ? AND deleted = 0 RETURNING key",
        (title, title.casefold(), session_id),
    )
    if not rows:
        raise missing(session_id)


def discard(session_id: str) -> Script[None]:
    """Take a session out of sight; `purge` then takes it away, piece by piece."""
    rows = yield (
        "UPDATE sessions SET deleted = 1 WHERE id = ? AND deleted = 0 RETURNING key",
        (session_id,),
    )
    if not rows:
        raise missing(session_id)


def discard_older(than: str, keep: Sequence[str]) -> Script[tuple[str, ...]]:
    rows = yield "SELECT id FROM sessions WHERE deleted = 0 AND updated < ? ORDER BY id", (moment(than),)
    gone = tuple(row[0] for row in rows if row[0] not in set(keep))
    for session_id in gone:
        yield "UPDATE sessions SET deleted = 1 WHERE id = ?", (session_id,)
    return gone


def purge(dialect: Dialect) -> Script[bool]:
    """Take away a slice of what was discarded: some small sessions, or a part of a large one.

    Whether there may be more.
    """
    rows = yield "SELECT key, messages + calls + 1 FROM sessions WHERE deleted = 1 LIMIT ?", (SOME,)
    if not rows:
        return False
    sizes = accumulate(size for _, size in rows)
    keys = [key for (key, _), size in zip(rows, sizes, strict=True) if size <= SLICE] or [rows[0][0]]
    these = f"({', '.join('?' * len(keys))})"
    first = f"(SELECT key FROM messages WHERE session IN {these} ORDER BY key LIMIT ?)"  # noqa: S608
    yield f"DELETE FROM words WHERE {dialect.word} IN {first}", (*keys, SLICE)  # noqa: S608
    for table, columns in _PARTS:
        gone = yield (
            f"DELETE FROM {table} WHERE ({columns}) IN (SELECT {columns} FROM {table}"  # noqa: S608
            f" WHERE session IN {these} ORDER BY {columns} LIMIT ?) RETURNING 1",
            (*keys, SLICE),
        )
        if len(gone) == SLICE:
            return True
    yield f"DELETE FROM leases WHERE session IN (SELECT id FROM sessions WHERE key IN {these})", keys  # noqa: S608
    yield f"DELETE FROM sessions WHERE key IN {these}", keys  # noqa: S608
    return True


_PARTS = (
    ("messages", "key"),
    ("fragments", "session, epoch, n"),
    ("calls", "session, n"),
    ("blobs", "key"),
    ("epochs", "session, n"),
)


def check() -> Script[tuple[str, ...]]:
    """What does not fit together, a line each."""
    told: list[str] = []
    for words, sql in _CHECKS:
        told += [words.format(*row) for row in (yield sql, ())]
    return tuple(told)


_CHECKS = (
    (
        "session {}: {} messages are counted, {} are there",
        "SELECT s.id, s.messages, count(m.key) FROM sessions s LEFT JOIN messages m ON m.session = s.key"
        " WHERE s.deleted = 0 GROUP BY s.key, s.id, s.messages"
        " HAVING s.messages <> count(m.key) OR s.messages <> coalesce(max(m.seq) + 1, 0) ORDER BY s.id",
    ),
    (
        "session {}: {} calls are counted, {} are there",
        "SELECT s.id, s.calls, count(c.n) FROM sessions s LEFT JOIN calls c ON c.session = s.key"
        " WHERE s.deleted = 0 GROUP BY s.key, s.id, s.calls"
        " HAVING s.calls <> count(c.n) OR s.calls <> coalesce(max(c.n), 0) ORDER BY s.id",
    ),
    (
        "session {}: a fragment of epoch {} is missing",
        "SELECT s.id, f.epoch FROM fragments f JOIN sessions s ON s.key = f.session WHERE s.deleted = 0"
        " GROUP BY s.id, f.epoch HAVING count(*) <> max(f.n) + 1 ORDER BY s.id, f.epoch",
    ),
    (
        "{} messages belong to no session",
        "SELECT count(*) FROM messages WHERE session NOT IN (SELECT key FROM sessions) HAVING count(*) > 0",
    ),
)
