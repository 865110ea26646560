"""Many sessions in one process: turns a second, the longest wait, memory of a session, threads, connections.

    .venv/bin/python benchmarks/many.py                      500 sessions, 2 turns each, 3 calls a turn
    .venv/bin/python benchmarks/many.py --sessions 50 --delay-ms 1000
    HERMES_PEER_PYTHON=…/bin/python .venv/bin/python benchmarks/many.py --rival-sessions 200

All on one event loop, over HTTP to a model server of the bench scripts that answers at once (or after
`--delay-ms`), one durable store. A home and a project of the size that people have. A rival does the same
afterwards, in threads, as it is made; it needs minutes for hundreds.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import adapter


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    beside = Path(__file__).resolve().parents[2] / "shared" / "bench"
    parser.add_argument("--bench-dir", type=Path, default=beside, help="folder of the bench scripts")
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--calls", type=int, default=3, help="calls of the model in a turn")
    parser.add_argument("--delay-ms", type=float, default=0, help="how long the model takes to answer")
    parser.add_argument("--rival-sessions", type=int, help="default: as many as ours")
    parser.add_argument("--tmp", default="/dev/shm")
    options = parser.parse_args()
    sys.path.insert(0, str(options.bench_dir))
    fixtures: Any = importlib.import_module("fixtures")
    with tempfile.TemporaryDirectory(prefix="hermes-many-", dir=options.tmp) as folder:
        cwd = Path(fixtures.make_project(Path(folder, "project"), "real"))
        home, rival_home = Path(folder, "home"), Path(folder, "rival")
        fixtures.make_home(home, "real")
        with _server(options, Path(folder, "port")) as base:
            os.environ.update(adapter.write_config(home, f"{base}/v1"))
            os.chdir(cwd)
            found = asyncio.run(_measure(base, home / "many.db", options))
        print(json.dumps(found))
        if os.environ.get("HERMES_PEER_PYTHON"):
            fixtures.make_home(rival_home, "real")
            with _server(options, Path(folder, "rival-port")) as base:
                rival = _rival(base, rival_home, cwd, options)
            print(json.dumps(rival))
            shared = (name for name in rival if name != "sessions")
            print(
                json.dumps({"ours / rival": {name: round(found[name] / rival[name], 3) for name in shared}})
            )


@contextmanager
def _server(options: argparse.Namespace, port: Path) -> Iterator[str]:
    """The address of a model server."""
    command = [sys.executable, str(options.bench_dir / "fake_openai.py"), "--portfile", str(port)]
    with subprocess.Popen(
        [*command, "--delay-ms", str(options.delay_ms)], stdout=subprocess.DEVNULL
    ) as server:
        try:
            while not port.exists():
                time.sleep(0.02)
            yield f"http://127.0.0.1:{port.read_text(encoding='ascii')}"
        finally:
            server.terminate()


def _rival(base: str, home: Path, cwd: Path, options: argparse.Namespace) -> dict[str, float]:
    """The same by the rival's adapter and the case of the bench scripts."""
    sys.path.insert(0, str(options.bench_dir / "adapters"))
    rival: Any = importlib.import_module("hermes_upstream")
    asked = {
        "home": str(home),
        "cwd": str(cwd),
        "port": int(base.rpartition(":")[2]),
        "sessions": options.rival_sessions or options.sessions,
        "turns": options.turns,
        "k": options.calls - 1,
    }
    told = rival.write_config(home, f"{base}/v1")
    kept = {name: os.environ[name] for name in ("PATH", "HERMES_PEER_PYTHON")}
    search = f"{options.bench_dir / 'adapters'}{os.pathsep}{options.bench_dir}"
    command = [rival.PYTHON, str(options.bench_dir / "worker.py"), "--adapter", rival.NAME]
    done = subprocess.run(
        [*command, "--case", "loop_threads", "--args", json.dumps(asked)],
        env={"HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": search, **kept, **told},
        stdout=subprocess.PIPE,
        check=True,
    )
    info = json.loads(done.stdout.splitlines()[-1])["info"]
    if info["errors"]:
        raise RuntimeError(f"the rival: {info['error_examples']}")
    return {
        "sessions": info["sessions"],
        "turns_per_s": round(info["turns_per_s"], 2),
        "cpu_ms_per_call": round(1e3 * info["cpu_per_call_s"], 1),
        "turn_p50_s": round(info["turn_p50"], 1),
        "turn_max_s": round(info["turn_max"], 1),
        "kib_per_session": round(info["rss_per_session_after_kb"], 1),
        "peak_mib": round(info["rss_peak_kb"] / 1024, 1),
    }


async def _measure(base: str, path: Path, options: argparse.Namespace) -> dict[str, float]:
    import adapter_agent

    store = adapter_agent.Store(path)
    first = adapter_agent.Agent(f"{base}/v1", store=store)
    await first.take_turn(_task(1, "warm"))
    gc.collect()
    before, threads = _resident(), threading.active_count()
    agents = [adapter_agent.Agent(f"{base}/v1", store=store) for _ in range(options.sessions)]
    waits: list[float] = []

    async def talk(number: int, agent: adapter_agent.Agent) -> None:
        for turn in range(options.turns):
            at = time.perf_counter()
            told = await agent.take_turn(_task(options.calls, f"m{number}_{turn}"))
            waits.append(time.perf_counter() - at)
            if not told["ok"]:
                raise RuntimeError(f"session {number}, turn {turn}: {told}")

    at, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(talk(number, agent) for number, agent in enumerate(agents)))
    wall, cpu = time.perf_counter() - at, time.process_time() - cpu
    gc.collect()
    turns = options.sessions * options.turns
    return {
        "sessions": options.sessions,
        "turns_per_s": round(turns / wall, 1),
        "cpu_ms_per_call": round(1e3 * cpu / (turns * options.calls), 2),
        "turn_p50_s": round(sorted(waits)[len(waits) // 2], 3),
        "turn_max_s": round(max(waits), 3),
        "kib_per_session": round((_resident() - before) / options.sessions, 1),
        "peak_mib": round(_resident("VmHWM") / 1024, 1),
        "threads": threading.active_count(),
        "more_threads_than_one_session": threading.active_count() - threads,
        "connections": _stats(base)["connections"] - 1,
    }


def _task(calls: int, name: str) -> str:
    return f"go BENCH:{calls - 1}:{adapter.TOOL}:1 SID={name}"


def _stats(base: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{base}/stats", timeout=30) as reply:
        return dict(json.load(reply))


def _resident(field: str = "VmRSS") -> int:
    """KiB."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    main()
