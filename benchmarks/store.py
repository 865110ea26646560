"""How fast the session store is: appends as it grows, stalls, size, search; beside raw SQLite.

    .venv/bin/python benchmarks/store.py                     100,000 messages in memory (/dev/shm)
    .venv/bin/python benchmarks/store.py --tmp /some/disk    the same on a disk
    .venv/bin/python benchmarks/store.py --rows 1000000      also filled in bulk, then searched
    .venv/bin/python benchmarks/store.py --writers 8         so many processes at once

`Store` is the face that the bench scripts beside the checkout expect of an adapter.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from hermes.messages import Message, Usage
from hermes.provenance import digest_of
from hermes.sessions.records import (
    NO_CHAIN,
    CallRecord,
    Fragment,
    SessionRecord,
    Step,
    StoredMessage,
    chain,
)
from hermes.sessions.sqlite import SqliteStore

HEAD, TAIL = b'{"model":"bench","messages":[', b'],"stream":true}'
ENDS = digest_of(HEAD), digest_of(TAIL)
AT = "2026-03-01T12:00:00.000+00:00"
SESSION = 200
"""Messages of one session."""
QUERIES = {
    "rare": "zyxwquark",
    "phrase": '"docker deployment"',
    "two terms": "copper lantern",
    "common": "copper",
    "or": "copper OR lantern",
    "prefix": "lanter*",
    "dotted": "my-app.config.ts",
    "cjk, 3 or more": "大别山项目",
    "cjk, 2": "山水",
    "none": "qqqnotthere",
}
GOALS = {"common": 150.0, "common, newest": 50.0, "cjk, 2": 50.0}
"""Milliseconds, at a million messages."""


class Store:
    """The store as the bench scripts call it: one message at a time, each durable when the call returns."""

    def __init__(self, path: object) -> None:
        self._loop = asyncio.new_event_loop()
        self._store = SqliteStore(str(path))
        self._sent: dict[str, tuple[int, int, str]] = {}
        self._json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

    def create(self, sid: str) -> None:
        self._do(
            self._store.create(SessionRecord(sid, AT, codec="openai-chat/1", prompt_json='{"format":1}'))
        )
        self._sent[sid] = (0, 0, NO_CHAIN)

    def append(self, sid: str, role: str, content: str, **_: object) -> None:
        self._do(self._store.commit(sid, self._step(sid, [(role, content)])))

    def search(self, q: str, limit: int = 20, sort: str = "") -> Any:
        return self._do(self._store.search(q, limit, newest=sort == "newest"))

    def load(self, sid: str) -> list[object]:
        return [m.message for m in self._do(self._store.messages(sid))]

    def close(self) -> None:
        self._do(self._store.close())
        self._loop.close()

    @staticmethod
    def bulk(path: object, rows: Iterable[tuple[str, str]], per_session: int = SESSION) -> int:
        """Fill fast; sessions are named bulk000000, bulk000001, …"""
        store = Store(path)
        n = 0

        async def fill() -> None:
            nonlocal n
            waiting: list[asyncio.Task[None]] = []
            for number, held in enumerate(_by(rows, per_session)):
                sid = f"bulk{number:06d}"
                store._sent[sid] = (0, 0, NO_CHAIN)
                record = SessionRecord(sid, AT, codec="openai-chat/1", prompt_json='{"format":1}')
                step = store._step(sid, held)
                waiting.append(asyncio.ensure_future(store._store.create(record, step)))
                n += len(held)
                if len(waiting) == 20:
                    await asyncio.gather(*waiting)
                    waiting.clear()
            await asyncio.gather(*waiting)

        store._do(fill())
        store.close()
        return n

    def _step(self, sid: str, rows: list[tuple[str, str]]) -> Step:
        """What an agent stores of these messages: the bytes that were sent, and a call for each answer."""
        seq, calls, chained = self._sent[sid]
        messages, fragments, made = [], [], []
        for role, content in rows:
            message = Message(role, content, id=f"m{seq}", time=AT)  # type: ignore[arg-type]
            body = self._json.encode({"role": role, "content": content}).encode()
            messages.append(StoredMessage(seq, message))
            fragments.append(Fragment(0, seq, seq, seq, body))
            if role == "assistant":
                calls += 1
                usage = Usage(4000 + 60 * seq, 3900 + 60 * seq, 0, 60)
                request = f"chatcmpl-{seq:024d}"
                made.append(
                    CallRecord(calls, 0, AT, *ENDS, seq, chained, seq, usage, request, "bench", "end", 1)
                )
            chained = chain(chained, [body])
            seq += 1
        self._sent[sid] = (seq, calls, chained)
        blobs = (HEAD, TAIL) if made and calls == len(made) else ()  # once for a session, as an agent does
        return Step(AT, tuple(messages), tuple(fragments), tuple(made), blobs=blobs)

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run to its end, as in a loop that runs already: an agent enters none for each message."""
        asyncio._set_running_loop(self._loop)
        try:
            waits_for = work.send(None)
        except StopIteration as done:
            return done.value
        finally:
            asyncio._set_running_loop(None)
        return self._loop.run_until_complete(_Rest(work, waits_for))


class _Rest(Coroutine[Any, Any, Any]):
    """A coroutine that was begun outside of a task and waits for its first future."""

    def __init__(self, work: Coroutine[Any, Any, Any], waits_for: Any) -> None:
        self._work, self._first = work, [waits_for]

    def send(self, value: Any) -> Any:
        return self._first.pop() if self._first else self._work.send(value)

    def throw(self, *error: Any) -> Any:
        return self._work.throw(*error)

    def __await__(self) -> Any:
        return self


def _by(rows: Iterable[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    held: list[tuple[str, str]] = []
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held


def grow(path: str, rows: Iterable[tuple[str, str]], block: int) -> None:
    """Append one message at a time, from nothing."""
    store = Store(path)
    lat: list[float] = []
    text = 0
    began = shown = time.perf_counter()
    for k, (role, body) in enumerate(rows):
        if k % SESSION == 0:
            store.create(sid := f"s{k // SESSION:06d}")
        text += len(body.encode())
        at = time.perf_counter()
        store.append(sid, role, body)
        now = time.perf_counter()
        lat.append(now - at)
        if (k + 1) % block == 0:
            longest = max(lat[-block:]) * 1e3
            print(f"  to {k + 1:>9,}: {block / (now - shown):7,.0f}/s, longest {longest:6.1f} ms")
            shown = now
    wall = time.perf_counter() - began
    store.close()
    lat.sort()
    size = _size(path)
    print(f"  sustained {len(lat) / wall:,.0f}/s (goal 2,248); {_spread(lat)} (goal 50)")
    print(f"  {size / 1e6:.1f} MB for {text / 1e6:.1f} MB of text: {size / text:.2f} bytes a byte (goal 3)")


def searches(path: str, repetitions: int = 5) -> None:
    """The median of some searches, in milliseconds."""
    store = Store(path)
    for name, query in QUERIES.items():
        for newest in (False, True):
            label = name + (", newest" if newest else "")
            took, hits = _median(
                lambda q=query, n=newest: store.search(q, 20, "newest" if n else ""), repetitions
            )  # type: ignore[misc]
            goal = f" (goal {GOALS[label]:.0f} at a million)" if label in GOALS else ""
            print(f"  {label:24} {took:8.2f} ms  {len(hits):2} hits{goal}")
    sid = store._do(store._store.list(limit=1))[0].id
    took, loaded = _median(lambda: store.load(sid), repetitions)
    print(f"  {'load a session of ' + str(len(loaded)):24} {took:8.2f} ms")
    store.close()


def _median(call: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    took = []
    for _ in range(repetitions + 1):
        at = time.perf_counter()
        result = call()
        took.append((time.perf_counter() - at) * 1e3)
    return sorted(took[1:])[repetitions // 2], result


def writers(path: str, processes: int, rows: list[tuple[str, str]]) -> None:
    """So many processes append at once."""
    Store(path).close()
    context = get_context("spawn")
    with context.Pool(processes) as pool:
        results = pool.starmap(_write, [(path, f"w{i}", rows) for i in range(processes)], 1)
    wall = max(ended for _, ended, _ in results) - min(began for began, _, _ in results)
    store = Store(path)
    stored = sum(len(store.load(f"w{i}")) for i in range(processes))
    store.close()
    lat = sorted(took for _, _, result in results for took in result)
    print(f"  {processes} writers: {len(lat) / wall:,.0f}/s; {_spread(lat)}; lost {len(lat) - stored}")


def _write(path: str, sid: str, rows: list[tuple[str, str]]) -> tuple[float, float, list[float]]:
    store = Store(path)
    store.create(sid)
    lat = []
    began = time.time()
    for role, body in rows:
        at = time.perf_counter()
        store.append(sid, role, body)
        lat.append(time.perf_counter() - at)
    ended = time.time()
    store.close()
    return began, ended, lat


def limits(folder: str, rows: list[tuple[str, str]]) -> None:
    """What SQLite itself takes for a message in a transaction, with and without an index of its words."""
    for indexed in (False, True):
        connection = sqlite3.connect(os.path.join(folder, f"raw{indexed}.db"), isolation_level=None)
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE m (id INTEGER PRIMARY KEY, c TEXT)")
        if indexed:
            connection.execute("CREATE VIRTUAL TABLE f USING fts5 (c, content='m', content_rowid='id')")
        lat = []
        for _, body in rows:
            at = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE")
            row = connection.execute("INSERT INTO m (c) VALUES (?)", (body,)).lastrowid
            if indexed:
                connection.execute("INSERT INTO f (rowid, c) VALUES (?, ?)", (row, body))
            connection.execute("COMMIT")
            lat.append(time.perf_counter() - at)
        connection.close()
        lat.sort()
        what = "with one index of words" if indexed else "bare"
        print(f"  raw SQLite, {what}: {_spread(lat)}")


def _spread(sorted_seconds: list[float]) -> str:
    last = len(sorted_seconds) - 1
    half, most, longest = (sorted_seconds[min(last, int(last * part))] * 1e3 for part in (0.5, 0.99, 1))
    return f"p50 {half:.2f} ms, p99 {most:.2f} ms, longest {longest:.1f} ms"


def _size(path: str) -> int:
    return sum(os.path.getsize(path + end) for end in ("", "-wal", "-shm") if os.path.exists(path + end))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    beside = Path(__file__).resolve().parents[2] / "shared" / "bench"
    parser.add_argument("--bench-dir", type=Path, default=beside, help="folder of the bench scripts")
    parser.add_argument("--grow", type=int, default=100_000, help="messages that are appended one by one")
    parser.add_argument("--rows", type=int, default=0, help="messages that are filled in before searching")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--tmp", default="/dev/shm")
    parser.add_argument("--store", help="an existing file to search, left as it is")
    options = parser.parse_args()
    sys.path.insert(0, str(options.bench_dir))
    import fixtures

    if options.store:
        return searches(options.store)
    with tempfile.TemporaryDirectory(prefix="hermes-store-", dir=options.tmp) as folder:
        print("limits")
        limits(folder, list(fixtures.store_rows(2000)))
        if options.grow:
            print(f"append, one message a step, to {options.grow:,}")
            path = os.path.join(folder, "grown.db")
            grow(path, fixtures.store_rows(options.grow), max(1, options.grow // 10))
            print(f"search at {options.grow:,}")
            searches(path)
        if options.writers:
            print("processes at once")
            rows = list(fixtures.store_rows(3000 // options.writers))
            writers(os.path.join(folder, "many.db"), options.writers, rows)
        if options.rows:
            path = os.path.join(folder, "filled.db")
            at = time.perf_counter()
            Store.bulk(path, fixtures.store_rows(options.rows))
            took = time.perf_counter() - at
            print(f"search at {options.rows:,} (filled in {took:.0f} s, {_size(path) / 1e6:,.0f} MB)")
            searches(path)
    return None


if __name__ == "__main__":
    main()
