"""The tables, as data: one tuple of statements for each version, for each of the two databases.

A store of an older version is brought forward step by step; one of a newer version is refused.
"""

from __future__ import annotations

from hermes.errors import StoreError

_TABLES = """
CREATE TABLE sessions (
  key {serial}, id TEXT{c} NOT NULL UNIQUE, created TEXT{c} NOT NULL, updated TEXT{c} NOT NULL,
  title TEXT NOT NULL, title_key TEXT{c} NOT NULL, platform TEXT NOT NULL, model TEXT NOT NULL,
  provider TEXT NOT NULL, codec TEXT NOT NULL, parent TEXT NOT NULL, epoch INTEGER NOT NULL,
  prompt BIGINT, tools BIGINT,
  state TEXT NOT NULL, messages BIGINT NOT NULL DEFAULT 0, calls BIGINT NOT NULL DEFAULT 0,
  deleted INTEGER NOT NULL DEFAULT 0);
CREATE INDEX sessions_by_use ON sessions (updated, id);
CREATE INDEX sessions_by_title ON sessions (title_key);
CREATE TABLE messages (
  key {serial}, session BIGINT NOT NULL, seq BIGINT NOT NULL, role TEXT NOT NULL, text TEXT NOT NULL,
  data TEXT NOT NULL, UNIQUE (session, seq));
CREATE TABLE fragments (
  session BIGINT NOT NULL, epoch INTEGER NOT NULL, n BIGINT NOT NULL, first_seq BIGINT NOT NULL,
  last_seq BIGINT NOT NULL, body {bytes} NOT NULL, PRIMARY KEY (session, epoch, n)){without};
CREATE TABLE blobs (
  key {serial}, session BIGINT NOT NULL, digest TEXT NOT NULL, body {bytes} NOT NULL,
  UNIQUE (session, digest));
CREATE TABLE calls (
  session BIGINT NOT NULL, n BIGINT NOT NULL, epoch INTEGER NOT NULL, started TEXT NOT NULL,
  head BIGINT NOT NULL, tail BIGINT NOT NULL, fragments BIGINT NOT NULL, chain TEXT NOT NULL,
  messages BIGINT NOT NULL, usage TEXT NOT NULL, request_id TEXT NOT NULL, model TEXT NOT NULL,
  stop TEXT NOT NULL, predicted BIGINT NOT NULL, inserts TEXT NOT NULL, PRIMARY KEY (session, n)){without};
CREATE TABLE epochs (
  session BIGINT NOT NULL, n INTEGER NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL,
  PRIMARY KEY (session, n)){without};
CREATE TABLE leases (
  session TEXT{c} NOT NULL PRIMARY KEY, holder TEXT NOT NULL, owner TEXT NOT NULL,
  since BIGINT NOT NULL){without};
"""

_TRACE = "ALTER TABLE calls ADD COLUMN trace TEXT NOT NULL DEFAULT ''"
"""JSON of what is known of a call beside its request; "" for the calls of schema 1."""

_NEW_FORM: tuple[str, ...] = ()
"""Schema 3 has the tables of 2. What an older Hermes would not know: in SQLite the index of words follows the
messages (sqlite_words.py), and a fragment may be kept as what stands around a text (coding.py)."""

_SQLITE_WORDS = """
CREATE VIRTUAL TABLE words USING fts5 (
  body, tags, content='', contentless_delete=1, tokenize='ascii');
INSERT INTO words (words, rank) VALUES ('crisismerge', 2000);
"""
"""Made ready by `search.folded`, so the plainest tokenizer does. A crisis merge would stop the writers."""

_POSTGRES_WORDS = """
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE TABLE words (message BIGINT PRIMARY KEY, body TEXT NOT NULL, session BIGINT NOT NULL,
  role TEXT NOT NULL);
CREATE INDEX words_by_trigram ON words USING gin (body gin_trgm_ops);
"""


def newer(what: str, found: int, newest: int) -> StoreError:
    return StoreError(
        f"{what} has schema {found}, this Hermes knows up to {newest}: a newer Hermes wrote it. "
        "Update Hermes, or use another home"
    )


def no_value(error: Exception) -> str:
    """What is said of a text or a number that no database takes."""
    what = "a number is too large" if isinstance(error, OverflowError) else "a text holds half a character"
    return f"{what} for the store of sessions; nothing was changed. Write another"


def _statements(text: str, **names: str) -> tuple[str, ...]:
    filled = text.format(**names) if names else text
    return tuple(s.strip() for s in filled.split(";\n") if s.strip())


SQLITE: tuple[tuple[str, ...], ...] = (
    _statements(_TABLES, serial="INTEGER PRIMARY KEY", bytes="BLOB", c="", without=" WITHOUT ROWID")
    + _statements(_SQLITE_WORDS),
    (_TRACE,),
    _NEW_FORM,
)
POSTGRES: tuple[tuple[str, ...], ...] = (
    _statements(
        _TABLES,
        serial="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        bytes="BYTEA",
        c=' COLLATE "C"',
        without="",
    )
    + _statements(_POSTGRES_WORDS),
    (_TRACE,),
    _NEW_FORM,
)
