"""The index of words of the SQLite store, which follows the messages at a distance.

Indexing a message costs as much as storing it, indexing many together a third. So a step stores the message
alone; slices of messages are indexed behind the backs of those who wait, and what is missing before a search.
The newest row of the index says how far it reaches: keys grow in the order of the commits.
"""

from __future__ import annotations

from itertools import accumulate

from hermes.sessions.scripts import Script
from hermes.sessions.search import LONGEST, folded

SLICE = 512
"""Messages that are indexed in one transaction: a long one would stop the writers."""
WEIGHT = 1 << 18
"""And no more bytes of them than this, but one message at least."""

_REACHES = "coalesce((SELECT rowid FROM words ORDER BY rowid DESC LIMIT 1), 0)"
_BEHIND = f"SELECT coalesce((SELECT max(key) FROM messages), 0) - {_REACHES}"  # noqa: S608
_NEXT = f"SELECT key, octet_length(text) FROM messages WHERE key > {_REACHES} ORDER BY key LIMIT ?"  # noqa: S608


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
    sizes = yield _NEXT, (most,)
    weights = accumulate(size for _, size in sizes)
    some = sum(weight <= WEIGHT for weight in weights) or 1
    if not sizes:
        return 0
    rows = yield (
        "SELECT key, text, session, role FROM messages WHERE key BETWEEN ? AND ?",
        (sizes[0][0], sizes[:some][-1][0]),
    )
    for key, text, session, role in rows:
        yield (  # one without words too: it shows how far the index reaches
            "INSERT INTO words (rowid, body, tags) VALUES (?, ?, ?)",
            (key, _words(text), f"s{session} {role}"),
        )
    return left - some if some == most or some < len(sizes) else 0


def _words(text: str) -> str:
    """What SQLite takes for the same tokens as those of the folded text; it folds ASCII as we do."""
    return text if text.isascii() and not _has_long(text) else folded(text)


def _has_long(text: str) -> bool:
    """Whether an ASCII text may have a word that is cut: that would fill one of these pieces."""
    half = LONGEST // 2
    return any(text[i : i + half].isalnum() for i in range(0, len(text) - half + 1, half))
