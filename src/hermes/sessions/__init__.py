"""The session store: what was said and sent, in SQLite or in PostgreSQL."""
