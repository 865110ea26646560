"""What is done behind the steps never keeps a step waiting for longer than a slice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hermes.sessions.scripts import Script
from hermes.sessions.sqlite_writer import ROWS, Writer


def nothing() -> Script[bool]:
    yield "SELECT 1", ()
    return False


def never_done() -> Script[bool]:
    yield "SELECT 1", ()
    return True


def many_rows() -> Script[str]:
    yield "CREATE TABLE notes (n)", ()
    for n in range(ROWS):
        yield "INSERT INTO notes VALUES (?)", (n,)
    return "the first"


def one_row() -> Script[str]:
    yield "INSERT INTO notes VALUES (-1)", ()
    return "the next"


@pytest.mark.parametrize("durable", [True, False])
def test_a_step_comes_before_the_rest_of_what_is_behind(tmp_path: Path, durable: bool) -> None:
    async def use() -> list[str]:
        writer = Writer(str(tmp_path / "sessions.db"), nothing, never_done)
        try:
            return [await writer.write(step, durable) for step in (many_rows, one_row, one_row)]
        finally:
            await asyncio.to_thread(writer.close)

    assert asyncio.run(asyncio.wait_for(use(), 30)) == ["the first", "the next", "the next"]
