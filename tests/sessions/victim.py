"""A process that stores one turn after the other and says so; it is made to be killed.

python -m tests.sessions.victim LOCATION SESSION TURNS
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

from hermes.sessions.base import ScriptStore
from hermes.sessions.records import chain
from hermes.sessions.sqlite import SqliteStore
from tests.sessions.said import HEAD, TAIL, a_call, a_session, a_step, stored

TEXT = "turn {} of {}: the cache of the prompt is kept warm, 缓存命中 " + "and so on " * 20


def store_at(location: str) -> ScriptStore:
    if location.startswith("postgres"):
        from hermes.sessions.postgres import PostgresStore

        return PostgresStore(location)
    return SqliteStore(location)


async def main(location: str, name: str, turns: int) -> None:
    store = store_at(location)
    await store.claim(name, "the victim")
    if await store.get(name) is None:
        await store.create(a_session(name))
    begun = len(await store.calls(name))
    chained = chain("", (f.body for f in await store.fragments(name, 0)))
    for n in range(begun, begun + turns):
        step = a_step(stored(2 * n, TEXT.format(n, name)), stored(2 * n + 1, "Yes.", "assistant"))
        sent = chain(chained, (step.fragments[0].body,))
        made_of = {"fragments": 2 * n + 1, "chain": sent, "messages": 2 * n + 1, "inserts": ()}
        call = replace(a_call(n + 1, ()), **made_of)
        chained = chain(sent, (step.fragments[1].body,))
        await store.commit(name, replace(step, calls=(call,), blobs=(HEAD, TAIL)))
        sys.stdout.write(f"{n + 1}\n")
        sys.stdout.flush()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
