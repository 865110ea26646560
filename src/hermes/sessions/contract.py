"""The session store: one contract, two stores (`sqlite.py`, `postgres.py`), the same tests for both.

Every method may raise `StoreError`; the message says what to do. A write that returned is on the disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from hermes.errors import SessionBusy, StoreError
from hermes.messages import Role
from hermes.sessions.records import (
    CallRecord,
    EpochRecord,
    Fragment,
    Hit,
    SessionFilter,
    SessionRecord,
    SessionSummary,
    Step,
    StoredMessage,
)

__all__ = ["SessionBusy", "Store", "StoreError"]


class Store(Protocol):
    """Where sessions live. Any process may continue any session that nobody else holds."""

    async def create(self, session: SessionRecord, step: Step | None = None) -> None:
        """A new session, with all of its first step or of an imported past; its id must be new."""
        ...

    async def get(self, session_id: str) -> SessionRecord | None:
        """The session as it stands; None when there is none of that id."""
        ...

    async def resolve(self, name: str) -> str:
        """The id that is meant by an id, the beginning of one, a title, or the beginning of one.

        UsageError when there is none, or more than one.
        """
        ...

    async def commit(self, session_id: str, step: Step) -> None:
        """Store a step, whole or not at all; when it returns, no failure can undo it.

        Its messages and calls must continue what is stored, else SessionBusy: someone else went on with the
        session. A cancelled caller is told only after the step is stored or has failed.
        """
        ...

    async def messages(
        self, session_id: str, from_seq: int = 0, limit: int | None = None
    ) -> tuple[StoredMessage, ...]:
        """The messages from a place on, in order; all, or so many."""
        ...

    async def fragments(self, session_id: str, epoch: int) -> tuple[Fragment, ...]:
        """What was sent in an epoch, in order."""
        ...

    async def calls(self, session_id: str) -> tuple[CallRecord, ...]: ...

    async def epochs(self, session_id: str) -> tuple[EpochRecord, ...]: ...

    async def blob(self, session_id: str, digest: str) -> bytes:
        """Stored bytes by their digest."""
        ...

    async def list(
        self, only: SessionFilter = ..., limit: int = 20, before: str = ""
    ) -> tuple[SessionSummary, ...]:
        """Sessions, the last used first; `before` is the id after which to go on."""
        ...

    async def search(
        self,
        query: str,
        limit: int = 20,
        *,
        newest: bool = False,
        session: str = "",
        roles: Sequence[Role] = (),
    ) -> tuple[Hit, ...]:
        """Messages whose clean text has all that is asked for; best first, or the newest first.

        Words must all occur, in any case and without regard to accents; `"words in a row"`, `begin*`, and
        `this OR that`. Chinese, Japanese, Korean and Thai are found by any part of a text. The best are
        chosen among the newest 1,000 that match.
        """
        ...

    async def rename(self, session_id: str, title: str) -> None: ...

    async def delete(self, session_id: str) -> None: ...

    async def prune(self, older_than: str, keep: Sequence[str] = ()) -> tuple[str, ...]:
        """Delete the sessions last used before a time, but for those of `keep`; the ids that were deleted."""
        ...

    async def drop_bodies(self, before: str = "", calls: int | None = None, session_id: str = "") -> int:
        """Take away what past requests were made of, in every session or one; how many bytes that was.

        Only whole epochs go: those of which the last call was made before a time, or is not among the last
        `calls` of its session. Digests, messages and usage stay.
        """
        ...

    async def claim(self, session_id: str, holder: str, wait: float = 0.0) -> None:
        """Hold a session, so that nobody else goes on with it; again by the same holder is no harm.

        When another holds it, wait so many seconds, then SessionBusy naming the holder. What a dead process
        held is free.
        """
        ...

    async def release(self, session_id: str, holder: str) -> None:
        """Let go of a session; no harm when it was not held."""
        ...

    async def check(self) -> tuple[str, ...]:
        """Look through everything; what is wrong, a line each."""
        ...

    async def close(self) -> None:
        """Finish what was begun, let go of every session, close. No harm when done twice."""
        ...


async def keep_bodies(store: Store, value: object, session_id: str, now: datetime) -> None:
    """Take away the bodies of old requests, as `cache.keep_bodies` says, which is the `value`.

    By days any session may have old ones; by calls only this one can have got some.
    """
    if value is None:
        return
    from hermes.sessions.bodies import Retention  # most keep everything

    if kept := Retention.read(value):
        await store.drop_bodies(kept.before(now), kept.calls, "" if kept.days is not None else session_id)
