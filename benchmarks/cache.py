"""`make bench-cache`: how much of what was sent before the engine need not read again.

    HERMES_PEER_PYTHON=…/bin/python make bench-cache        ours beside the rival
    make bench-cache                                         ours alone

Both play the session of cache_script.py, turn by turn in the same minutes. Each has an engine of its own, a
real model with a real prefix cache (engine.py), behind the proxy that keeps the accounts (cache_proxy.py).

reused   tokens that the engine reports as `cached_tokens`
could    tokens that could be reused: the whole prompt of the request before and, of the answer that the
         engine wrote to it, as much as the new request repeats
read     tokens that the engine had to read
first    from the words being handed in until the first token of the turn's first answer
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import cache_ours
import cache_rival
from cache_proxy import Proxy
from cache_script import FILES, PERSONA, SCRIPT, STARTS, Do, Turn
from engine import Engine

HERE = Path(__file__).resolve().parent
GOAL = 0.99
System = tuple[str, str, ModuleType]
"""A name, the Python it runs under, and the module that drives it."""
ENGINE_PYTHON = HERE.parent / ".venv-engine" / "bin" / "python"
RESULTS = HERE.parent / "bench-results" / "cache.json"


@dataclass(slots=True)
class Played:
    """What became of a session.

    `seconds` in all; by turn, the seconds until its first request `came` and until its `first` token.
    """

    name: str
    proxy: Proxy
    came: dict[str, float] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    version: str = ""
    notes: tuple[str, ...] = ()

    def of(self, turn: str) -> tuple[int, int, int]:
        """Tokens of the prompts of a turn, those reused, those that could be."""
        asked = [a for a in self.proxy.asked if turn in ("", a.turn)]
        return sum(a.prompt for a in asked), sum(a.reused for a in asked), sum(a.could for a in asked)

    @property
    def ratio(self) -> float:
        _, reused, could = self.of("")
        return reused / could


class Worker:
    """A system in a process of its own."""

    def __init__(self, python: str, module: ModuleType, home: Path, project: Path, seed: int) -> None:
        self._log = (home.parent / "log").open("ab")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_")}
        wanted = {"HERMES_HOME": str(home), "PYTHONHASHSEED": str(seed), "BENCH_PERSONA": PERSONA}
        quiet = {"HERMES_DISABLE_LAZY_INSTALLS": "1", "HERMES_SKIP_UPDATE_CHECK": "1"}
        self._process = subprocess.Popen(
            [python, str(module.__file__), str(project)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**inherited, **wanted, **quiet},
        )

    def do(self, order: str, **given: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": order, **given}).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            said = Path(self._log.name).read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
            raise SystemExit("\n".join(["the worker failed:", *said]))
        return json.loads(line)

    def close(self) -> None:
        """End it: it gives everything back when its input ends."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


class Session:
    """One system plays the script."""

    def __init__(self, name: str, python: str, module: ModuleType, work: Path) -> None:
        self._python, self._module = python, module
        self._root = work / name
        self._seed = 1
        self._session, self._now = "", STARTS
        for folder in ("home", "project"):
            (self._root / folder).mkdir(parents=True)
        self._engine = Engine(str(ENGINE_PYTHON), self._root / "engine.log")
        self._proxy = Proxy(self._engine)
        self.played = Played(name, self._proxy, notes=module.NOTES)
        module.prepare(self._root / "home", self._proxy.url)
        for do in FILES:
            self._do(do)
        self._worker = self._begin()

    def play(self, turn: Turn) -> None:
        began = time.monotonic()
        for do in turn.before:
            self._do(do)
        self._turn(turn)
        self.played.seconds += time.monotonic() - began

    def close(self) -> None:
        self._worker.close()
        self._proxy.close()
        self._engine.close()

    def _turn(self, turn: Turn) -> None:
        self._proxy.turn = turn.name
        self._proxy.script.extend(turn.answers)
        before, began = len(self._proxy.asked), time.monotonic()
        told = self._worker.do("turn", text=turn.text, recall=turn.recall)
        if not told["ok"] or self._proxy.broken or self._proxy.script:
            raise SystemExit(f"{self.played.name}, {turn.name}: {self._proxy.broken or told}")
        self._session = told["session"]
        asked = self._proxy.asked[before]
        self.played.came[turn.name], self.played.first[turn.name] = asked.came - began, asked.first - began

    def _do(self, do: Do) -> None:
        if do.act == "write":
            path = self._root / do.at
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(do.value, encoding="utf-8")
        elif do.act == "restart":
            self._worker.close()
            self._seed += 1
            self._worker = self._begin()
        else:
            self._now = do.value if do.act == "clock" else self._now
            self._worker.do(do.act, **({"value": do.value} if do.act != "evict" else {}))

    def _begin(self) -> Worker:
        home, project = self._root / "home", self._root / "project"
        worker = Worker(self._python, self._module, home, project, self._seed)
        self.played.version = worker.do("open", session=self._session, now=self._now)
        return worker


def main() -> int:
    options = _options()
    if not ENGINE_PYTHON.exists():
        print(f"There is no engine at {ENGINE_PYTHON}; make bench-cache puts it there.", file=sys.stderr)
        return 2
    rival = os.environ.get("HERMES_PEER_PYTHON", "")
    if rival and not os.access(rival, os.X_OK):
        print(f"HERMES_PEER_PYTHON is {rival}, which is no program.", file=sys.stderr)
        return 2
    _alone()
    systems: list[System] = [("ours", sys.executable, cache_ours)]
    if rival:
        systems.append(("rival", rival, cache_rival))
    with tempfile.TemporaryDirectory(prefix="hermes-cache-") as folder:
        played = _play(systems, options.keep or Path(folder))
    RESULTS.parent.mkdir(exist_ok=True)
    kept = {
        p.name: {"asked": [a._asdict() for a in p.proxy.asked], "came": p.came, "first": p.first}
        for p in played
    }
    RESULTS.write_text(json.dumps(kept), encoding="utf-8")
    print("\n".join(table(played)))
    return 0 if played[0].ratio >= GOAL else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--keep", type=Path, help="an empty folder for homes and logs, kept afterwards")
    return parser.parse_args()


def _alone() -> None:
    """Go on in a network namespace with only loopback, so that nothing else is spoken to."""
    if os.environ.get("BENCH_IN_NETNS"):
        return
    os.environ["BENCH_IN_NETNS"] = "1"
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:
        print("No network namespaces here; the session runs with the network in reach.", file=sys.stderr)
        return
    again = "ip link set lo up; exec " + shlex.join([sys.executable, *sys.argv])
    os.execvp("unshare", ["unshare", "-n", "sh", "-c", again])


def _play(systems: Sequence[System], work: Path) -> list[Played]:
    """Turn by turn, one system after the other, in an order that changes: what else runs here hits both."""
    with ExitStack() as stack:
        sessions = [stack.enter_context(closing(Session(*system, work))) for system in systems]
        for turn in SCRIPT:
            for session in sessions:
                session.play(turn)
            sessions.reverse()
        return sorted((session.played for session in sessions), key=lambda p: p.name)


def table(played: Sequence[Played]) -> list[str]:
    """A row for each turn."""
    heads = (f"{p.name + ': reused / could':>25} {'':7} {'read':>6} {'first':>8}" for p in played)
    lines = [f"{'':27}" + "".join(heads)]
    for turn in SCRIPT:
        lines.append(f"{turn.name:27}" + "".join(_cells(p, turn.name, p.first[turn.name]) for p in played))
    lines.append(f"{'in all':27}" + "".join(_cells(p, "", sum(p.first.values())) for p in played))
    for p in played:
        prompt, _, _ = p.of("")
        lines.append(f"{p.name}: {p.version}; {len(p.proxy.asked)} requests, {p.proxy.aside} more aside")
        lines.append(
            f"  {prompt:,} tokens sent; {p.seconds:.0f} s, of which {sum(p.came.values()):.1f} s before the "
            "first requests of the turns"
        )
        lines += (f"  {note}" for note in p.notes)
    met = "met" if played[0].ratio >= GOAL else "MISSED"
    return [*lines, f"Goal: {GOAL} of what could be reused; ours {played[0].ratio:.4f}, {met}."]


def _cells(played: Played, turn: str, first: float) -> str:
    prompt, reused, could = played.of(turn)
    share = f"{reused / could:7.4f}" if could else f"{'-':>7}"
    return f"{f'{reused:,} / {could:,}':>25} {share} {prompt - reused:6,} {first:6.2f} s"


if __name__ == "__main__":
    sys.exit(main())
