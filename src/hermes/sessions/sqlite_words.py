"""The index of words of the SQLite store, which follows the messages at a distance.

Indexing a message costs as much as storing it, indexing many together a third. So a step stores the message
alone; slices of messages are indexed behind the backs of those who wait, and what is missing before a search.
The newest row of the index says how far it reaches: keys grow in the order of the commits.
"""

from __future__ import annotations

from hermes.sessions.scripts import Script
from hermes.sessions.search import LONGEST, folded

SLICE = 512
"""Messages that are indexed in one transaction: a long one would stop the writers."""

_REACHES = "coalesce((SELECT rowid FROM words ORDER BY rowid DESC LIMIT 1), 0)"
_BEHIND = f"SELECT coalesce((SELECT max(key) FROM messages), 0) - {_REACHES}"  # noqa: S608
_NEXT = f"SELECT key, text, session, role FROM messages WHERE key > {_REACHES} ORDER BY key LIMIT ?"  # noqa: S608


def behind() -> Script[bool]:
    """Whether a message is not yet indexed."""
    rows = yield _BEHIND, ()
    return bool(rows[0][0] > 0)


def index(least: int = 1, most: int = SLICE) -> Script[int]:
    """Index the next slice of messages, if at least so many are there; how many are left, or more."""
    rows = yield _BEHIND, ()
    left = int(rows[0][0])
    if left < least:
        return left
    rows = yield _NEXT, (most,)
    for key, text, session, role in rows:
        yield (  # one without words too: it shows how far the index reaches
            "INSERT INTO words (rowid, body, tags) VALUES (?, ?, ?)",
            (key, _words(text), f"s{session} {role}"),
        )
    return left - len(rows) if len(rows) == most else 0


def _words(text: str) -> str:
    """What SQLite takes for the same tokens as those of the folded text; it folds ASCII as we do."""
    return text if text.isascii() and not _has_long(text) else folded(text)


def _has_long(text: str) -> bool:
    """Whether an ASCII text may have a word that is cut: that would fill one of these pieces."""
    half = LONGEST // 2
    return any(text[i : i + half].isalnum() for i in range(0, len(text) - half + 1, half))
