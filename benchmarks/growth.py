"""Our own cases: ten times the input must take about ten times as long, and what a whole command takes.

As a program, one build in a process of its own: `growth.py HOME CWD`, a line of JSON on standard output.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import adapter

LINEAR = 15.0
"""Ten times the input may take this many times as long: ten, and the noise of a shared machine."""
_WARM = 5


def measure(work: Path, scripts: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds by case, one for each round."""
    sys.path.insert(0, str(scripts))
    fixtures = importlib.import_module("fixtures")
    places = {
        f"{what} {size}": _laid_out(work / "growth" / f"{what}-{size}", fixtures, make, number)
        for what, make, numbers in _GROWING
        for size, number in zip(("1x", "10x"), numbers, strict=True)
    }
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, (home, cwd) in places.items():
            for metric, seconds in _one_process(home, cwd).items():
                found.setdefault(f"{name} {metric}", []).append(seconds)
        home, cwd = places["bytes 1x"]
        found.setdefault("prompt show", []).append(_timed([adapter.BIN, "prompt", "show"], home, cwd))
        found.setdefault("python", []).append(_timed([adapter.PYTHON, "-c", "pass"], home, cwd))
    return found


def report(found: dict[str, list[float]]) -> Iterator[str]:
    """Ratios with their ranges."""
    if not found:
        return
    yield f"\n{'growth: time for 10 times the input':44} {'median':>8}  range"
    for what, _, _ in _GROWING:
        for metric in ("first", "warm"):
            ratios = _pairs(found[f"{what} 10x {metric}"], found[f"{what} 1x {metric}"])
            middle = statistics.median(ratios)
            verdict = "linear" if middle <= LINEAR else "NOT LINEAR"
            yield _row(f"10 x {what}, {metric} build", ratios) + f"  {verdict}"
    ratios = _pairs(found["prompt show"], found["python"])
    yield _row("hermes prompt show / python -c pass, wall", ratios)


def _row(label: str, ratios: list[float]) -> str:
    return f"{label:44} {statistics.median(ratios):8.1f}  [{min(ratios):.1f} .. {max(ratios):.1f}]"


def _pairs(above: list[float], below: list[float]) -> list[float]:
    return [a / b for a, b in zip(above, below, strict=True)]


def _laid_out(
    place: Path, fixtures: Any, make: Callable[[Any, Path, Path, int], None], number: int
) -> tuple[Path, Path]:
    home, cwd = place / "home", place / "project"
    (cwd / ".git").mkdir(parents=True)
    fixtures.write(cwd / ".git" / "HEAD", "ref: refs/heads/main\n")
    fixtures.write(home / "SOUL.md", "You are a careful assistant.\n")
    make(fixtures, home, cwd, number)
    return home, cwd


def _rules(fixtures: Any, _home: Path, cwd: Path, number: int) -> None:
    for i in range(number):
        text = f"---\nalwaysApply: true\n---\n{fixtures.prose(2000, seed=i)}"
        fixtures.write(cwd / ".cursor" / "rules" / f"rule{i:04d}.mdc", text)


def _bytes(fixtures: Any, _home: Path, cwd: Path, number: int) -> None:
    fixtures.write(cwd / "AGENTS.md", fixtures.prose(number, seed=1))


def _skills(fixtures: Any, home: Path, _cwd: Path, number: int) -> None:
    fixtures.make_skills(home, number)


_GROWING: tuple[tuple[str, Callable[[Any, Path, Path, int], None], tuple[int, int]], ...] = (
    ("files", _rules, (80, 800)),
    ("bytes", _bytes, (400_000, 4_000_000)),
    ("skills", _skills, (150, 1500)),
)


def _one_process(home: Path, cwd: Path) -> dict[str, float]:
    command = [adapter.PYTHON, str(Path(__file__).resolve()), str(home), str(cwd)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


def _timed(command: list[str], home: Path, cwd: Path) -> float:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), adapter.HOME_VAR: str(home), "LANG": "C.UTF-8"}
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=environ, capture_output=True, check=True)
    return time.perf_counter() - start


def _build_here(home: str, cwd: str) -> dict[str, float]:
    """The first build of this content, then the median of some more; imports and rules loaded before."""
    import tempfile

    with tempfile.TemporaryDirectory() as empty:
        (Path(empty) / "AGENTS.md").write_text("# Nothing\n\nHere is nothing.\n", encoding="utf-8")
        adapter.Prompt(empty, empty).build()
        prompt = adapter.Prompt(home, cwd)
        adapter.drop_skill_caches(True)
        times = []
        for _ in range(_WARM + 1):
            start = time.perf_counter()
            prompt.build()
            times.append(time.perf_counter() - start)
    return {"first": times[0], "warm": statistics.median(times[1:])}


if __name__ == "__main__":
    print(json.dumps(_build_here(sys.argv[1], sys.argv[2])))
