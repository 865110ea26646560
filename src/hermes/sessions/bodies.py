"""Which bodies of past requests are kept, and the scripts that take away the others.

What is taken away leaves its digest and length; messages, calls, usage and chains stay.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hermes.frozen import frozen
from hermes.provenance import digest_of
from hermes.sessions.coding import GONE, stub, unpack
from hermes.sessions.scripts import Script, fragments, key_of, moment

_AGE = re.compile(r"(\d{1,5}) ?(?:d|days?)")
SOME = 20
"""So many sessions are looked through at a time."""


@frozen
class Retention:
    """Bodies are kept for so many `days`, or those of the last `calls` of a session; None: all are."""

    days: int | None = None
    calls: int | None = None

    @classmethod
    def read(cls, value: object) -> Retention | None:
        """`cache.keep_bodies`: `30 days` or `30d`, or a number of calls; None when it makes no sense."""
        if value is None:
            return cls()
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return cls(calls=value)
        found = _AGE.fullmatch(value.strip().lower()) if isinstance(value, str) else None
        return cls(days=int(found[1])) if found else None

    def before(self, now: datetime) -> str:
        """The time before which bodies are not kept; "" for none."""
        if self.days is None:
            return ""
        return moment((now.astimezone(UTC) - timedelta(days=self.days)).isoformat())


def with_old_bodies(before: str, after: str) -> Script[tuple[str, ...]]:
    """Sessions begun before a time (any for "") that still have bodies, by id, from one id on."""
    rows = yield (
        "SELECT s.id FROM sessions s WHERE s.deleted = 0 AND (? = '' OR s.created < ?) AND s.id > ?"
        " AND EXISTS (SELECT 1 FROM fragments f WHERE f.session = s.key AND substr(f.body, 1, 1) <> ?)"
        " ORDER BY s.id LIMIT ?",
        (before, before, after, GONE, SOME),
    )
    return tuple(row[0] for row in rows)


def drop_bodies(session_id: str, before: str, calls: int | None) -> Script[int]:
    """Take away the bodies of whole epochs that are over; how many bytes they were.

    An epoch is over when its last call was made before the time, or is not among the last `calls`.
    """
    key = yield from key_of(session_id)
    rows = yield (
        "SELECT epoch, MAX(n), MAX(started) FROM calls WHERE session = ? GROUP BY epoch ORDER BY epoch",
        (key,),
    )
    last = max((n for _, n, _ in rows), default=0)
    over = [
        epoch
        for epoch, n, started in rows
        if (before and moment(started) < before) or (calls is not None and n <= last - calls)
    ]
    freed = 0
    for epoch in over:
        for fragment in (yield from fragments(session_id, epoch)):
            if not fragment.gone:
                freed += len(fragment.body)
                left = stub(digest_of(fragment.body), len(fragment.body))
                yield (
                    "UPDATE fragments SET body = ? WHERE session = ? AND epoch = ? AND n = ?",
                    (left, key, epoch, fragment.n),
                )
    return freed + (yield from _drop_blobs(key, over))


def _drop_blobs(key: int, over: list[int]) -> Script[int]:
    """Heads and tails that only epochs have which are over."""
    rows = yield ("SELECT epoch, head, tail FROM calls WHERE session = ?", (key,))
    kept = {blob for epoch, *ends in rows if epoch not in over for blob in ends}
    standing = yield ("SELECT prompt, tools FROM sessions WHERE key = ?", (key,))
    kept |= {blob for row in standing for blob in row}
    freed = 0
    for blob in sorted({blob for epoch, *ends in rows if epoch in over for blob in ends} - kept):
        ((digest, packed),) = yield ("SELECT digest, body FROM blobs WHERE key = ?", (blob,))
        if packed[:1] != GONE:
            body = unpack(packed)
            freed += len(body)
            yield ("UPDATE blobs SET body = ? WHERE key = ?", (stub(digest, len(body)), blob))
    return freed
