"""`make bench`: how fast Hermes is, beside a rival in the same run or beside the limits of the machine.

    HERMES_PEER_PYTHON=…/bin/python make bench        ours / rival, round by round
    make bench                                        ours / the least the machine allows
    make bench BENCH='--rounds 7 --suites prompt'

The cases, their inputs and their driver are the bench scripts beside the checkout (`--bench-dir`); this
adds Hermes to them, our own cases (growth.py), and the goals (goals.py).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import adapter
import growth
from goals import ALSO, GOALS, LIMIT_WORDS, WITHIN

HERE = Path(__file__).resolve().parent
RIVAL = "hermes_upstream"
SUITES = ("startup", "prompt", "stages")
HOMES = ("small", "real", "large")
Rounds = Sequence[float | None]
"""The median of one metric in each round; None where it was not measured."""


def main() -> int:
    options = _options()
    rival = os.environ.get("HERMES_PEER_PYTHON", "")
    if not (options.bench_dir / "run.py").is_file():
        print(
            f"No bench scripts in {options.bench_dir}; name their folder with --bench-dir.", file=sys.stderr
        )
        return 2
    if rival and not os.access(rival, os.X_OK):
        print(f"HERMES_PEER_PYTHON is {rival}, which is no program.", file=sys.stderr)
        return 2
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hermes-bench-", dir=options.tmp) as folder:
        work = Path(folder)
        scripts = _with_adapter(options.bench_dir, work)
        names = [RIVAL, adapter.NAME] if rival else [adapter.NAME]
        _settle_homes(scripts, work / "run", names)
        failed = _drive(scripts, work / "run", names, options)
        grown = growth.measure(work, scripts, options.rounds) if options.growth else {}
    found = json.loads(options.out.read_text(encoding="utf-8"))
    found["growth"] = grown
    options.out.write_text(json.dumps(found), encoding="utf-8")
    lines = _against_rival(found["results"]) if rival else _against_limits(found["results"])
    print("\n".join([*lines, *growth.report(grown)]))
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    beside = HERE.parents[1] / "shared" / "bench"
    parser.add_argument("--bench-dir", type=Path, default=beside, help="folder of the bench scripts")
    parser.add_argument("--suites", default=",".join(SUITES), help="with commas (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tmp", help="where homes and projects are laid out")
    parser.add_argument("--out", type=Path, default=HERE.parent / "bench-results" / "latest.json")
    parser.add_argument("--no-growth", dest="growth", action="store_false", help="leave out our own cases")
    return parser.parse_args()


def _with_adapter(bench_dir: Path, work: Path) -> Path:
    """A copy of the scripts to which our adapter is linked: they look for it in their own folder."""
    scripts = work / "bench"
    shutil.copytree(bench_dir, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "adapters" / "ours.py").symlink_to(HERE / "adapter.py")
    return scripts


def _settle_homes(scripts: Path, run: Path, names: Sequence[str]) -> None:
    """Lay out the homes under the names by which the driver looks for them.

    Early, since a file written moments before it is read proves nothing to a cache that checks: no home of
    a person is that young.
    """
    sys.path.insert(0, str(scripts))
    fixtures = importlib.import_module("fixtures")
    for name in names:
        for kind in HOMES:
            fixtures.make_home(run / f"home_{name}_{kind}", kind)


def _drive(scripts: Path, run: Path, names: Sequence[str], options: argparse.Namespace) -> bool:
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    if rival := environ.get("HERMES_PEER_PYTHON"):
        environ["HERMES_PEER_PYTHON"] = os.path.abspath(rival)
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:
        print("No network namespaces here; the cases run with the network in reach.", file=sys.stderr)
        environ["BENCH_IN_NETNS"] = "1"
    command = [sys.executable, str(scripts / "run.py"), "--adapters", ",".join(names)]
    command += ["--suite", options.suites, "--rounds", str(options.rounds)]
    command += ["--tmp", str(run), "--out", str(options.out.resolve())]
    done = subprocess.run(command, cwd=scripts, env=environ, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(done.stdout[-4000:], file=sys.stderr)
    return bool(done.returncode)


def _rounds(results: dict[str, Any], system: str, job: str, metric: str) -> Rounds:
    rounds = results.get(system, {}).get(job, {}).get("rounds", [])
    return [statistics.median(r[metric]) if r.get(metric) else None for r in rounds]


def _ratios(above: Rounds, below: Rounds) -> list[float]:
    return [a / b for a, b in zip(above, below, strict=False) if a is not None and b]


def _fastest(results: dict[str, Any], system: str, job: str, metric: str) -> float:
    """The best sample of all rounds: what is left when nothing else ran."""
    rounds: list[dict[str, list[float]]] = results[system][job]["rounds"]
    return min(sample for r in rounds for sample in r.get(metric, ()))


def _against_rival(results: dict[str, Any]) -> Iterator[str]:
    yield f"{'ours / rival':44} {'median':>8}  {'range':19} {'fastest':>8} {'goal':>6}"
    met = missed = 0
    for case in (*GOALS, *ALSO):
        ours = _rounds(results, adapter.NAME, case.job, case.metric)
        ratios = _ratios(ours, _rounds(results, RIVAL, case.job, case.metric))
        if not ratios:
            continue
        middle = statistics.median(ratios)
        best = _fastest(results, adapter.NAME, case.job, case.metric)
        best /= _fastest(results, RIVAL, case.job, case.metric)
        row = f"{_row(case.label, ratios)} {best:8.3f}"
        if case.most is not None:
            good = middle <= case.most
            met, missed = met + good, missed + (not good)
            row += f" {case.most:6.2f}  {'met' if good else 'MISSED'}"
        yield row
    for label, job, much, little, most in WITHIN:
        grown = _ratios(
            _rounds(results, adapter.NAME, job, much), _rounds(results, adapter.NAME, job, little)
        )
        if grown:
            good = statistics.median(grown) <= most
            met, missed = met + good, missed + (not good)
            yield _row(label, grown) + f" {most:15.2f}  {'met' if good else 'MISSED'}"
    yield f"Verdict: {met} of {met + missed} goals met."


def _row(label: str, ratios: list[float]) -> str:
    return f"{label:44} {statistics.median(ratios):8.3f}  {f'[{min(ratios):.3f} .. {max(ratios):.3f}]':19}"


def _against_limits(results: dict[str, Any]) -> Iterator[str]:
    yield f"{'ours / limit':44} {'median':>8}  {'range':19}  limit"
    for case in GOALS:
        if case.limit is None:
            continue
        ours = _rounds(results, adapter.NAME, case.job, case.metric)
        ratios = _ratios(ours, _rounds(results, adapter.NAME, *case.limit))
        if ratios:
            words = next(words for job, words in LIMIT_WORDS.items() if case.limit[0].startswith(job))
            span = f"[{min(ratios):.1f} .. {max(ratios):.1f}]"
            yield f"{case.label:44} {statistics.median(ratios):8.1f}  {span:19}  {words}"
    yield "No rival: name its Python in HERMES_PEER_PYTHON, or run `make bench-peer`, for the goals."


if __name__ == "__main__":
    sys.exit(main())
