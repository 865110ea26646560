"""Which store a home uses."""

from __future__ import annotations

from hermes.config import Config
from hermes.errors import StoreError
from hermes.paths import Home
from hermes.sessions.base import ScriptStore

FILE = "sessions.db"
POSTGRES = ("postgresql://", "postgres://")


def open_store(home: Home, config: Config) -> ScriptStore:
    """PostgreSQL when `sessions.url` names one, else SQLite in the home; opened when it is first used."""
    url = config.sessions.url
    if not url:
        from hermes.sessions.sqlite import SqliteStore

        return SqliteStore(home.path(FILE))
    if not url.startswith(POSTGRES):
        raise StoreError("sessions.url must begin with postgresql://; leave it empty for SQLite in the home")
    from hermes.sessions.postgres import PostgresStore

    return PostgresStore(url)
