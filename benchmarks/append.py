"""The store from nothing to 100,000 messages, beside a rival's: one message a step, in turns.

    HERMES_PEER_PYTHON=…/bin/python .venv/bin/python benchmarks/append.py
    .venv/bin/python benchmarks/append.py --turn 2500 --tmp /some/disk       ours alone, on a disk

Both systems keep a process of their own that waits while the other has its turn, so a busy hour hits both.
Seconds and CPU seconds are of the appends and of whatever a system does beside them; the longest append too.
A turn ends with a search, so that nothing of it is left to be indexed while the other has his.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RIVAL, OURS = "hermes_upstream", "adapter"
SESSION = 200
"""Messages of one session."""
RARE = "zyxwquark"


@dataclass
class System:
    """One of the two, and what its turns took: seconds, CPU seconds, the longest append."""

    name: str
    process: subprocess.Popen[str]
    turns: list[tuple[float, float, float]] = field(default_factory=list)

    def turn(self, messages: int) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{messages}\n")
        self.process.stdin.flush()
        self.turns.append(tuple(json.loads(self.process.stdout.readline())))

    def sums(self) -> tuple[float, float, float]:
        wall, cpu, longest = zip(*self.turns, strict=True)
        return sum(wall), sum(cpu), max(longest)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    beside = HERE.parents[1] / "shared" / "bench"
    parser.add_argument("--bench-dir", type=Path, default=beside, help="folder of the bench scripts")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--turn", type=int, default=5_000, help="messages that a system stores in its turn")
    parser.add_argument("--tmp", default="/dev/shm")
    parser.add_argument("--as", dest="system", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path[:0] = [str(options.bench_dir), str(options.bench_dir / "adapters"), str(HERE)]
    if options.system:
        _append(importlib.import_module(options.system), options)
        return
    rival = os.environ.get("HERMES_PEER_PYTHON", "")
    with tempfile.TemporaryDirectory(prefix="hermes-append-", dir=options.tmp) as folder:
        systems = [_started(OURS, sys.executable, folder, options)]
        if rival:
            systems.append(_started(RIVAL, os.path.abspath(rival), folder, options))
        for done in range(0, options.rows, options.turn):
            for system in systems if done // options.turn % 2 else systems[::-1]:
                system.turn(options.turn)
            last = [system.turns[-1] for system in systems]
            print(_line(f"to {done + options.turn:,}", last, options.turn), flush=True)
        for system in systems:
            system.process.communicate("")
    print(_line("all", [system.sums() for system in systems], options.rows))


def _started(name: str, python: str, folder: str, options: argparse.Namespace) -> System:
    home = Path(folder, name)
    home.mkdir()
    command = [
        python,
        __file__,
        "--as",
        name,
        "--rows",
        str(options.rows),
        "--bench-dir",
        str(options.bench_dir),
    ]
    environ = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_")}
    process = subprocess.Popen(
        [*command, "--tmp", str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**environ, "HERMES_HOME": str(home)},
    )
    return System(name, process)


def _append(system: Any, options: argparse.Namespace) -> None:
    """A system's own process: for each number it reads it appends so many messages."""
    import fixtures

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a system prints must not mix with the answers
    store = system.Store(Path(options.tmp, "store.db"))
    rows = enumerate(fixtures.store_rows(options.rows))
    session = ""
    for line in sys.stdin:
        given = [next(rows) for _ in range(int(line))]
        longest = 0.0
        began, used = time.perf_counter(), _cpu()
        for number, (role, body) in given:
            if number % SESSION == 0:
                store.create(session := f"s{number // SESSION:06d}")
            at = time.perf_counter()
            store.append(session, role, body)
            longest = max(longest, time.perf_counter() - at)
        store.search(RARE)
        answers.write(json.dumps((time.perf_counter() - began, _cpu() - used, longest)) + "\n")
        answers.flush()
    store.close()


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _line(label: str, turns: list[tuple[float, float, float]], messages: int) -> str:
    shown = " | ".join(
        f"{messages / w:6,.0f}/s, {c / messages * 1e6:6,.0f} us CPU, {m * 1e3:8.1f} ms" for w, c, m in turns
    )
    if len(turns) == 2:
        (wall, cpu, _), (their_wall, their_cpu, _) = turns
        shown += f" | {their_wall / wall:5.2f} times as many, {their_cpu / cpu:5.2f} by CPU time"
    return f"{label:>12}: {shown}"


if __name__ == "__main__":
    main()
