"""What the store does, written once for both databases.

A script is a generator: it yields a statement with its values and is sent the rows. An engine runs it inside
one transaction, so a script that raises leaves nothing behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from hermes.errors import SessionBusy, StoreError
from hermes.messages import Role, Usage
from hermes.provenance import digest_of_pieces
from hermes.sessions.coding import (
    GONE,
    NEAR,
    compact,
    damaged,
    deflated,
    message_data,
    message_from,
    pack,
    read_stub,
    stub,
    unpack,
)
from hermes.sessions.records import (
    CallRecord,
    EpochRecord,
    Fragment,
    SessionRecord,
    Step,
    StoredMessage,
    storable,
    storable_message,
)
from hermes.sessions.search import Query, folded

T = TypeVar("T")
Rows = list[tuple[Any, ...]]
Script = Generator[tuple[str, Sequence[Any]], Rows, T]


class Dialect(NamedTuple):
    """Where the databases differ: how a row is locked, how words are kept and found.

    `add_words` takes a message's key and tokens, its session's key and its role, and is "" where words are
    indexed later; `word` is the column of words that holds the key of their message.
    `find` makes the statement that gives keys and sizes of the messages that match, the newest first, and
    all its values but the limit. `lives` tells whether the `owner` of a lease does, NULL when the database
    does not know.
    """

    locked: str
    add_words: str
    word: str
    lives: str
    find: Callable[[Query, int | None, Sequence[Role]], tuple[str, tuple[Any, ...]]]


_USAGE = tuple(sorted(f.name for f in fields(Usage)))
_usage = attrgetter(*_USAGE)
_TRACE = ("predicted_write", "forecast", "first", "route", "told", "prompt", "provider")
"""What of a call is kept as JSON, where it is known."""
_trace = attrgetter(*_TRACE)
_COUNTED = "UPDATE sessions SET messages = ?, calls = ? WHERE key = ?"
_USED = "UPDATE sessions SET messages = ?, calls = ?, updated = ? WHERE key = ?"
_MESSAGE = "INSERT INTO messages (session, seq, role, text, data) VALUES (?, ?, ?, ?, ?)"
_CALL = (
    "INSERT INTO calls (session, n, epoch, started, head, tail, fragments, chain, messages, usage,"
    " request_id, model, stop, predicted, inserts, trace)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_CHANGED = (
    "UPDATE sessions SET title = ?, title_key = ?, platform = ?, model = ?, provider = ?, codec = ?,"
    " parent = ?, epoch = ?, state = ?, prompt = coalesce(?, prompt), tools = coalesce(?, tools)"
    " WHERE key = ?"
)


def create(dialect: Dialect, session: SessionRecord, step: Step | None) -> Script[None]:
    if (yield "SELECT 1 FROM sessions WHERE id = ?", (session.id,)):
        raise StoreError(f"there is a session {session.id} already; a new session needs a new id")
    step = step or Step(session.created)
    epochs = step.epochs or (EpochRecord(0, "new session", session.created),)
    yield (
        "INSERT INTO sessions (id, created, updated, title, title_key, platform, model, provider, codec,"
        " parent, epoch, state) VALUES (?, ?, ?, '', '', '', '', '', '', '', 0, '')",
        (storable(session.id), session.created, moment(session.created)),
    )
    whole = Step(
        step.at,
        step.messages,
        step.fragments,
        step.calls,
        epochs,
        step.blobs,
        step.session or session,
        step.gone,
        step.prompt,
    )
    yield from commit(dialect, session.id, whole)


def commit(dialect: Dialect, session_id: str, step: Step) -> Script[None]:
    key = yield from _go_on(dialect, session_id, step)
    for epoch in step.epochs:
        yield (
            "INSERT INTO epochs (session, n, reason, at) VALUES (?, ?, ?, ?)",
            (key, epoch.n, storable(epoch.reason), epoch.at),
        )
    texts = yield from _add_messages(dialect, key, step.messages)
    yield from _add_fragments(key, step.fragments, texts)
    stored = {}
    for blob in step.blobs:
        digest, place = yield from _add_blob(key, (blob,) if isinstance(blob, bytes) else blob)
        stored[digest] = place
    for digest, length in step.gone:
        yield (
            "INSERT INTO blobs (session, digest, body) VALUES (?, ?, ?)",
            (key, digest, stub(digest, length)),
        )
    yield from _add_calls(key, step.calls, stored)
    if step.session:
        yield from _change(key, session_id, step.session)
    if step.prompt:
        _, place = yield from _add_blob(key, step.prompt)
        yield "UPDATE sessions SET prompt = ? WHERE key = ?", (place, key)


def _go_on(dialect: Dialect, session_id: str, step: Step) -> Script[int]:
    """Lock the session and count what a step brings; its key. Only what comes next is counted."""
    rows = yield (
        f"SELECT key, messages, calls, updated FROM sessions WHERE id = ? AND deleted = 0{dialect.locked}",  # noqa: S608
        (session_id,),
    )
    if not rows:
        raise missing(session_id)
    key, messages, calls, updated = rows[0]
    _continues(session_id, "message", messages, [m.seq for m in step.messages])
    _continues(session_id, "call", calls + 1, [c.n for c in step.calls])
    counted, at = (messages + len(step.messages), calls + len(step.calls)), moment(step.at)
    if at > updated:
        yield _USED, (*counted, at, key)
    else:
        yield _COUNTED, (*counted, key)
    return int(key)


def moment(time: str) -> str:
    """A time as it is compared: in UTC, always of one form."""
    try:
        read = datetime.fromisoformat(time)
    except ValueError:
        raise StoreError(f"{time!r} is no time; ISO 8601 is expected, such as 2026-01-31T12:00:00Z") from None
    if read.tzinfo is not None and read.tzinfo is not UTC:
        read = read.astimezone(UTC)
    return read.isoformat(timespec="microseconds")[:26] + "Z"


def missing(session_id: str) -> StoreError:
    return StoreError(f"there is no session {session_id}; see: hermes sessions list")


def _continues(session_id: str, what: str, first: int, given: list[int]) -> None:
    if not given or given == list(range(first, first + len(given))):
        return
    raise SessionBusy(
        f"session {session_id} was continued elsewhere: its next {what} is {first}, not {given[0]}; "
        "load it again before going on"
    )


def _add_messages(dialect: Dialect, key: int, messages: tuple[StoredMessage, ...]) -> Script[dict[int, str]]:
    texts = {}
    for stored in messages:
        message = storable_message(stored.message)
        texts[stored.seq] = message.text
        row = (key, stored.seq, message.role, message.text, message_data(message, stored.seq))
        if not dialect.add_words:
            yield _MESSAGE, row
        else:
            rows = yield f"{_MESSAGE} RETURNING key", row
            if words := folded(message.text):
                yield dialect.add_words, (rows[0][0], words, key, message.role)
    return texts


def _add_fragments(key: int, fragments: tuple[Fragment, ...], texts: dict[int, str]) -> Script[None]:
    for f in fragments:
        for seq in _near(f.first_seq, f.last_seq):
            if seq not in texts:
                rows = yield "SELECT text FROM messages WHERE session = ? AND seq = ?", (key, seq)
                texts[seq] = rows[0][0] if rows else ""
        near = [texts[seq] for seq in _near(f.first_seq, f.last_seq)]
        packed = stub(f.gone, f.length) if f.gone else pack(f.body, near)
        yield (
            "INSERT INTO fragments (session, epoch, n, first_seq, last_seq, body) VALUES (?, ?, ?, ?, ?, ?)",
            (key, f.epoch, f.n, f.first_seq, f.last_seq, packed),
        )


def _near(first: int, last: int) -> range:
    """The messages whose texts help to pack a fragment; none of a long run: they'd be read each time."""
    return range(first, last + 1 if last - first < NEAR else first)


def _add_blob(key: int, pieces: Sequence[bytes]) -> Script[tuple[str, int]]:
    """The digest of some bytes, and where they are stored."""
    digest = digest_of_pieces(pieces)
    rows = yield (
        "SELECT key, substr(body, 1, 1) FROM blobs WHERE session = ? AND digest = ?",
        (key, digest),
    )
    if rows and rows[0][1] == GONE:  # it is sent again
        yield "UPDATE blobs SET body = ? WHERE key = ?", (deflated(pieces), rows[0][0])
    if not rows:
        rows = yield (
            "INSERT INTO blobs (session, digest, body) VALUES (?, ?, ?) RETURNING key",
            (key, digest, deflated(pieces)),
        )
    return digest, int(rows[0][0])


def _add_text(key: int, text: str) -> Script[int | None]:
    """Where a text is stored; None for an empty one."""
    if not text:
        return None
    _, place = yield from _add_blob(key, (storable(text).encode(),))
    return place


def _add_calls(key: int, calls: tuple[CallRecord, ...], stored: dict[str, int]) -> Script[None]:
    for c in calls:
        if c.head not in stored or c.tail not in stored:
            rows = yield (
                "SELECT digest, key FROM blobs WHERE session = ? AND digest IN (?, ?)",
                (key, c.head, c.tail),
            )
            stored.update(rows)
        if lost := [digest for digest in (c.head, c.tail) if digest not in stored]:
            raise StoreError(f"call {c.n} names bytes {lost[0][:12]}… that are not stored; give them with it")
        ends = stored[c.head], stored[c.tail]
        known = [(n, v) for n, v in zip(_TRACE, _trace(c), strict=True) if v]
        trace = {n: storable(v) if isinstance(v, str) else v for n, v in known}
        yield (
            _CALL,
            (
                *(key, c.n, c.epoch, c.started, *ends, c.fragments, c.chain, c.messages, _counts(c.usage)),
                *(storable(c.request_id), storable(c.model), storable(c.stop), c.predicted),
                *(compact(c.inserts) if c.inserts else "", compact(trace) if trace else ""),
            ),
        )


def _counts(usage: Usage) -> str:
    """As `compact` would write those that are not 0; numbers need no care."""
    counts = [f'"{n}":{v}' for n, v in zip(_USAGE, _usage(usage), strict=True) if v]
    return f"{{{','.join(counts)}}}"


def _change(key: int, session_id: str, session: SessionRecord) -> Script[None]:
    if session.id != session_id:
        raise StoreError(f"a step of session {session_id} brings the session {session.id}")
    prompt = yield from _add_text(key, session.prompt_json)
    tools = yield from _add_text(key, session.tools)
    title = storable(session.title)
    names = (session.platform, session.model, session.provider, session.codec, session.parent)
    yield (
        _CHANGED,
        (
            title,
            title.casefold(),
            *map(storable, names),
            session.epoch,
            storable(session.state),
            prompt,
            tools,
            key,
        ),
    )


def get(session_id: str) -> Script[SessionRecord | None]:
    rows = yield (
        "SELECT s.id, s.created, s.title, s.platform, s.model, s.provider, s.codec, s.parent, s.epoch,"
        " p.body, t.body, s.state FROM sessions s LEFT JOIN blobs p ON p.key = s.prompt"
        " LEFT JOIN blobs t ON t.key = s.tools WHERE s.id = ? AND s.deleted = 0",
        (session_id,),
    )
    if not rows:
        return None
    prompt, tools = (unpack(body).decode() if body else "" for body in rows[0][9:11])
    return SessionRecord(*(*rows[0][:9], prompt, tools, rows[0][11]))


def key_of(session_id: str) -> Script[int]:
    rows = yield "SELECT key FROM sessions WHERE id = ? AND deleted = 0", (session_id,)
    if not rows:
        raise missing(session_id)
    return int(rows[0][0])


def messages(session_id: str, from_seq: int, limit: int | None) -> Script[tuple[StoredMessage, ...]]:
    key = yield from key_of(session_id)
    rows = yield (
        "SELECT seq, role, text, data FROM messages WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?",
        (key, from_seq, 2**62 if limit is None else limit),
    )
    return tuple(StoredMessage(seq, message_from(role, seq, text, data)) for seq, role, text, data in rows)


def fragments(session_id: str, epoch: int) -> Script[tuple[Fragment, ...]]:
    key = yield from key_of(session_id)
    rows = yield (
        "SELECT n, first_seq, last_seq, body FROM fragments WHERE session = ? AND epoch = ? ORDER BY n",
        (key, epoch),
    )
    if not rows:
        return ()
    texts = yield (
        "SELECT seq, text FROM messages WHERE session = ? AND seq BETWEEN ? AND ?",
        (key, min(r[1] for r in rows), max(r[2] for r in rows)),
    )
    known: dict[int, str] = dict(texts)

    def fragment(n: int, first: int, last: int, packed: bytes) -> Fragment:
        gone, length = read_stub(packed)
        body = b"" if gone else unpack(packed, [known.get(seq, "") for seq in _near(first, last)])
        return Fragment(epoch, n, first, last, body, gone, length)

    return tuple(fragment(*row) for row in rows)


def calls(session_id: str) -> Script[tuple[CallRecord, ...]]:
    key = yield from key_of(session_id)
    rows = yield (
        "SELECT c.n, c.epoch, c.started, h.digest, t.digest, c.fragments, c.chain, c.messages, c.usage,"
        " c.request_id, c.model, c.stop, c.predicted, c.inserts, c.trace"
        " FROM calls c JOIN blobs h ON h.key = c.head JOIN blobs t ON t.key = c.tail"
        " WHERE c.session = ? ORDER BY c.n",
        (key,),
    )
    return tuple(_call(row) for row in rows)


def _call(row: tuple[Any, ...]) -> CallRecord:
    try:
        inserts = tuple((at, text) for at, text in json.loads(row[13])) if row[13] else ()
        trace = json.loads(row[14]) if row[14] else {}
        return CallRecord(*(*row[:8], Usage(**json.loads(row[8])), *row[9:13], inserts), **trace)
    except (ValueError, TypeError) as error:
        raise damaged(f"call {row[0]} of a session", error) from None


def epochs(session_id: str) -> Script[tuple[EpochRecord, ...]]:
    key = yield from key_of(session_id)
    rows = yield "SELECT n, reason, at FROM epochs WHERE session = ? ORDER BY n", (key,)
    return tuple(EpochRecord(*row) for row in rows)


def blob(session_id: str, digest: str) -> Script[bytes]:
    key = yield from key_of(session_id)
    rows = yield "SELECT body FROM blobs WHERE session = ? AND digest = ?", (key, digest)
    if not rows:
        raise StoreError(f"session {session_id} has no stored bytes {digest[:12]}…")
    return unpack(rows[0][0])
