"""Many processes and an outside editor at one file; and writers that are killed at any moment."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import hermes
from tests.memory.memory_child import is_whole, store_of, text_of

HERE = Path(__file__).parents[2]


def start(*arguments: object) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join([str(Path(hermes.__file__).parents[1]), str(HERE)])
    command = [sys.executable, "-m", "tests.memory.memory_child", *map(str, arguments)]
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": paths}, cwd=HERE, stdout=subprocess.PIPE
    )


def test_writers_and_an_editor(tmp_path: Path) -> None:
    write_and_edit(tmp_path, processes=3, operations=20, edits=12)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_eight_writers_and_an_editor(tmp_path: Path) -> None:
    write_and_edit(tmp_path, processes=8, operations=200, edits=300)


def write_and_edit(root: Path, processes: int, operations: int, edits: int) -> None:
    store = store_of(str(root))
    store.apply([])
    (root / "memories" / "MEMORY.md").write_text("\n")
    children = [start("write", root, f"w{n}", 0, operations, n) for n in range(processes)]
    editor = start("edit", root, edits, processes)
    told = [[json.loads(line) for line in child.communicate()[0].splitlines()] for child in children]
    saves = [json.loads(line) for line in editor.communicate()[0].splitlines()]
    assert [child.returncode for child in (*children, editor)] == [0] * (processes + 1)
    assert [len(t) for t in told] == [operations] * processes
    check(store.view().entries, [op for t in told for op in t], saves)
    records = store.records()
    for op in (op for t in told for op in t if op["done"]):
        assert any((r.old, r.new) == (op["old"], op["new"]) for r in records)
    assert not list((root / "memories").glob(".*.tmp"))


def check(entries: Iterable[str], operations: list[dict[str, Any]], saves: list[dict[str, Any]]) -> None:
    """Compare with the model. The editor may undo what was done between its reading and saving, no more."""
    there = set(entries)
    done = [op for op in operations if op["done"]]
    gone = {op["old"] for op in done if op["old"]}
    for op in done:
        if op["new"] and op["new"] not in gone and op["new"] not in there:
            assert any(op["new"] not in s["text"] for s in overlapping(op, saves)), f"lost: {op}"
        if op["old"] in there:
            assert any(op["old"] in s["text"] for s in overlapping(op, saves)), f"came back: {op}"
    assert all(map(is_whole, there))
    by_editor = {entry for entry in there if entry.startswith("editor-")}
    mine = set(saves[-1]["mine"])
    assert mine <= by_editor
    assert all(entry in saves[-1]["text"] for entry in by_editor - mine)  # it wrote them back itself
    assert there - by_editor <= {op["new"] for op in operations}


def overlapping(op: dict[str, Any], saves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [s for s in saves if s["began"] <= op["ended"] and op["began"] <= s["ended"]]


def test_a_few_kills(tmp_path: Path) -> None:
    kill_often(tmp_path, 6)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_three_hundred_kills(tmp_path: Path) -> None:
    kill_often(tmp_path, 300)


def kill_often(root: Path, times: int) -> None:
    """Each writer goes on for a while and is killed; what it was told is done stands, all else is clean."""
    order = random.Random(times)
    store = store_of(str(root))
    expected: set[str] = set()
    for number in range(times):
        operations = live_and_die(root, f"k{number}", order.randrange(1, 12), number)
        expected |= {op["new"] for op in operations if op["new"]}
        expected -= {op["old"] for op in operations}
        assert store.recover() == ()
        entries = set(store.view().entries)
        assert all(map(is_whole, entries))
        # One operation may have been on its way: it is done or not, never half.
        next_one = text_of(f"k{number}", len(operations))
        assert entries - expected <= {next_one}
        assert len(expected - entries) <= 1
        assert all(f"k{number}-" in entry for entry in expected - entries)
        expected = entries
        assert sorted(p.name for p in (root / "memories").iterdir()) == [".lock", "MEMORY.md", "log.jsonl"]
    news = {r.new for r in store.records()}
    assert expected <= news


def live_and_die(root: Path, name: str, lines: int, seed: int) -> list[dict[str, Any]]:
    """Let a writer go on until it has told so many lines, kill it, and give all that it told."""
    told: list[bytes] = []
    with start("write", root, name, 0, 10_000, seed) as child:
        assert child.stdout is not None
        for line in child.stdout:
            told.append(line)
            if len(told) == lines:
                child.kill()
    return [json.loads(line) for line in told if line.endswith(b"\n")]
