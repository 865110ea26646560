"""Which session was talked in a directory last."""

from __future__ import annotations

import json

from hermes.sessions.contract import Store

PAGE = 50
MOST = 500
"""So many of the last sessions are looked at."""


async def last_of_place(store: Store, cwd: str, platform: str = "cli") -> str:
    """The id of the session last used that was begun in a directory; "" when there is none."""
    before = ""
    for _ in range(MOST // PAGE):
        page = await store.list(limit=PAGE, before=before)
        for summary in page:
            if summary.platform != platform or summary.parent:
                continue
            record = await store.get(summary.id)
            if record is not None and json.loads(record.state).get("cwd") == cwd:
                return summary.id
        if len(page) < PAGE:
            break
        before = page[-1].id
    return ""
