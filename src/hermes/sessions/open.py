"""Which store a home uses."""

from __future__ import annotations

import os

from hermes.config import Config
from hermes.errors import StoreError
from hermes.paths import Home, can_be_written
from hermes.provenance import Notice
from hermes.sessions.base import ScriptStore

FILE = "sessions.db"
POSTGRES = ("postgresql://", "postgres://")


def open_store(home: Home, config: Config) -> ScriptStore:
    """PostgreSQL when `sessions.url` names one, else SQLite in the home; opened when it is first used.

    Where the home cannot be written, it is a copy that passes away.
    """
    url = config.sessions.url
    if not url:
        path = os.path.realpath(home.path(FILE))  # its journal lies beside the file, not beside a link to it
        if can_be_written(path):
            from hermes.sessions.sqlite import SqliteStore

            return SqliteStore(path)
        from hermes.sessions.passing import PassingStore

        return PassingStore(path)
    if not url.startswith(POSTGRES):
        raise StoreError("sessions.url must begin with postgresql://; leave it empty for SQLite in the home")
    from hermes.sessions.postgres import PostgresStore

    return PostgresStore(url)


def store_notices(store: object) -> tuple[Notice, ...]:
    """What a person must know of a store before they talk."""
    notice = getattr(store, "notice", None)
    return (notice,) if isinstance(notice, Notice) else ()
