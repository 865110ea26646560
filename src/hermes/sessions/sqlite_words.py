"""The index of words of the SQLite store, which follows the messages at a distance.

Indexing a message costs as much as storing it, indexing many together a third. So a step stores the message
alone; slices of messages are indexed behind the backs of those who wait, and what is missing before a search.
The newest row of the index says how far it reaches: keys grow in the order of the commits.
"""

from __future__ import annotations

import re

from hermes.sessions.scripts import Script
from hermes.sessions.search import LONGEST, folded

SLICE = 128
"""Messages that are indexed in one transaction: a long one would stop the writers."""

_too_long = re.compile(rf"(?:\A|[^0-9A-Za-z])[0-9A-Za-z]{{{LONGEST + 1}}}").search
_REACHES = "coalesce((SELECT rowid FROM words ORDER BY rowid DESC LIMIT 1), 0)"


def behind() -> Script[bool]:
    """Whether a message is not yet indexed."""
    rows = yield f"SELECT 1 FROM messages WHERE key > {_REACHES} LIMIT 1", ()  # noqa: S608
    return bool(rows)


def index(least: int = 1) -> Script[bool]:
    """Index the next slice of messages, if so many are there; whether there may be more."""
    rows = yield (
        f"SELECT key, text, session, role FROM messages WHERE key > {_REACHES} ORDER BY key LIMIT ?",  # noqa: S608
        (SLICE,),
    )
    for key, text, session, role in rows if len(rows) >= least else ():
        yield (  # one without words too: it shows how far the index reaches
            "INSERT INTO words (rowid, body, tags) VALUES (?, ?, ?)",
            (key, _words(text), f"s{session} {role}"),
        )
    return len(rows) == SLICE


def _words(text: str) -> str:
    """What SQLite takes for the same tokens as those of the folded text; it folds ASCII as we do."""
    return text if text.isascii() and not _too_long(text) else folded(text)
