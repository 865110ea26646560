"""Another process that says one turn in a stored session and prints the request it made."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from hermes.paths import Home
from hermes.sessions.contract import Store
from hermes.sessions.postgres import PostgresStore
from hermes.sessions.sqlite import SqliteStore
from tests.agent.talk import Talk
from tests.torture import model_for, tools_for


async def main(root: str, location: str, session_id: str, wire: str) -> None:
    postgres = location.startswith("postgres")
    store: Store = PostgresStore(location) if postgres else SqliteStore(location)
    try:
        talk = Talk(
            Path(root),
            store,
            tools=tools_for(Home(str(Path(root) / "home"))),
            model=model_for(wire, ["said in another process  "]),
        )
        talk.agent = talk.new_agent(session_id)
        await talk.say("from another process")
        sys.stdout.buffer.write(talk.model.sent[-1])
    finally:
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
