"""The index that is kept: the same as one rendered anew, and never an old one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.provenance import Passage
from hermes.security.policy import Policies, Policy
from hermes.skills.index import skills_index
from hermes.skills.kept_index import FILE, forget_indexes, home_index
from hermes.skills.library import forget, load_library

from .conftest import SkillHome, as_nobody
from .test_snapshot import CHANGES, later, stocked, written

__all__ = ["stocked"]

TOOLS = frozenset({"skill_view", "skills_list", "terminal"})
Whole = tuple[object, ...]


def whole(index: Passage) -> Whole:
    return str(index), index.spans, index.notices, index.decisions


def rendered(skills: SkillHome, policies: Policies | None = None, budget: int = 150) -> Whole:
    """As nothing but the disk has it."""
    forget(skills.home)
    library = load_library(skills.home, policies=policies, clock=later)
    return whole(skills_index(library, tools=TOOLS, budget_tokens=budget))


def asked(skills: SkillHome, policies: Policies | None = None, budget: int = 150) -> Whole:
    """As a new process would ask for it."""
    forget(skills.home)
    forget_indexes()
    return whole(home_index(skills.home, policies=policies, tools=TOOLS, budget_tokens=budget))


def kept(skills: SkillHome) -> Path:
    return skills.root / "cache" / FILE


def keys(skills: SkillHome) -> list[bytes]:
    return [line.split()[0] for line in kept(skills).read_bytes().splitlines()[1:]]


@pytest.mark.parametrize("budget", [20, 90, 150, 3_000])
def test_what_is_kept_is_what_is_rendered(stocked: SkillHome, budget: int) -> None:
    fresh = rendered(stocked, budget=budget)
    first = asked(stocked, budget=budget)
    before = written(kept(stocked))
    assert asked(stocked, budget=budget) == first == fresh
    assert written(kept(stocked)) == before  # it was used, not written again


def test_what_is_kept_is_really_used(stocked: SkillHome) -> None:
    rendered(stocked)
    asked(stocked)
    data = kept(stocked).read_bytes()
    text, *others = json.loads(data.split(b" ", 4)[4])
    changed = json.dumps([text.replace("plain", "PLAIN"), *others]).encode()
    kept(stocked).write_bytes(sealed(data, changed))
    assert "PLAIN" in str(asked(stocked)[0])
    kept(stocked).chmod(0o666)  # now another may have written it
    assert asked(stocked) == rendered(stocked)
    assert kept(stocked).stat().st_mode & 0o777 == 0o600


def test_an_index_of_nothing_is_kept_too(skills: SkillHome) -> None:
    (skills.root / "skills").mkdir(parents=True)
    fresh = rendered(skills)
    assert asked(skills) == fresh
    before = written(kept(skills))
    assert asked(skills) == fresh == ("", (), (), ())
    assert written(kept(skills)) == before


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(stocked: SkillHome, change: Callable[[SkillHome], None]) -> None:
    rendered(stocked)
    old = asked(stocked)
    change(stocked)
    in_process = whole(home_index(stocked.home, tools=TOOLS, budget_tokens=150))
    assert in_process != old
    assert in_process == asked(stocked) == rendered(stocked) == asked(stocked)


def test_every_setting_has_an_index_of_its_own(stocked: SkillHome) -> None:
    settings: list[dict[str, object]] = [
        {"tools": TOOLS},
        {"tools": TOOLS - {"skills_list"}, "budget_tokens": 40},
        {"tools": TOOLS, "budget_tokens": 40},
        {"tools": TOOLS, "disabled": frozenset({"plain"})},
        {"tools": TOOLS, "pinned": ("long",), "budget_tokens": 60},
    ]
    for setting in settings * 2:
        forget_indexes()
        assert whole(home_index(stocked.home, **setting)) == whole(  # type: ignore[arg-type]
            skills_index(load_library(stocked.home), **setting)  # type: ignore[arg-type]
        )
    lenient = Policies(Policy(high="warn"))
    assert asked(stocked, lenient) == rendered(stocked, lenient) != asked(stocked)


def test_the_newest_few_are_kept(stocked: SkillHome) -> None:
    rendered(stocked)
    seen: list[bytes] = []
    for budget in (100, 200, 300, 400, 500, 600):
        asked(stocked, budget=budget)
        seen = [key for key in keys(stocked) if key not in seen] + seen
    assert len(seen) == 6
    assert keys(stocked) == seen[:4]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-10],
        lambda data: data.replace(b"plain", b"PLAIN"),
        lambda data: b"\0" * len(data),
        lambda data: sealed(data, b"[]"),
        lambda data: sealed(data, b'["a",[],[],[],[],[],[],[],[],[]]'),
        lambda data: sealed(data, b"[[],[],[],[],[],[],[],[],[],[]]"),
        lambda data: sealed(data, b'["a",[1],[7],[0],[],[[]],[],[],[],[]]'),
        lambda data: sealed(data, b'["a",[1],[0],[0],[["skill"]],[[]],[],[],[],[]]'),
        lambda data: sealed(
            data, b'["a",["",1],[0,0],[0,0],[["k"],["p"],["d"],[1],[1],["t"]],[[]],[],[],[],[]]'
        ),
        lambda data: sealed(data, b'["",[],[],[],[],[],[],[],[0],[]]'),
        lambda data: sealed(data, b'["",[],[],[],[],[],[],["path"],[0],[["skill","loaded"]]]'),
        lambda data: sealed(data, b"[" * 100_000),
        lambda data: sealed(data, b"\xff"),
    ],
)
def test_what_is_damaged_is_ignored_and_replaced(
    stocked: SkillHome, damage: Callable[[bytes], bytes]
) -> None:
    fresh = rendered(stocked)
    asked(stocked)
    good = kept(stocked).read_bytes()
    kept(stocked).write_bytes(damage(good))
    assert asked(stocked) == fresh
    assert kept(stocked).read_bytes() == good


def test_a_damaged_index_leaves_the_others(stocked: SkillHome) -> None:
    rendered(stocked)
    fresh = asked(stocked, budget=100), asked(stocked, budget=200)
    head, newer, older = kept(stocked).read_bytes().split(b"\n")
    for lines in ((head, newer[:-1], older), (head, newer, older[:-1]), (head, newer, b"rubbish", older)):
        kept(stocked).write_bytes(b"\n".join(lines))
        assert (asked(stocked, budget=100), asked(stocked, budget=200)) == fresh
    assert {*kept(stocked).read_bytes().split(b"\n")} >= {head, newer, older}


def sealed(data: bytes, row: bytes) -> bytes:
    """The file with another row and a checksum that fits."""
    head, line = data.split(b"\n")
    return b"%s\n%s %08x %s" % (head, line.split()[0], zlib.crc32(row), row)


def test_a_home_that_cannot_be_written_is_no_matter(open_directory: Path) -> None:
    skills = SkillHome(open_directory / "home")
    skills.put("tool", "x")
    with as_nobody():
        assert "tool: x" in str(asked(skills)[0])
    assert not (skills.root / "cache").exists()
    assert asked(SkillHome(open_directory / "no-home"))[0] == ""
    assert not (open_directory / "no-home").exists()


PROGRAM = """
import sys
from hermes.paths import Home
from hermes.skills.kept_index import home_index
index = home_index(Home(sys.argv[1]), tools=frozenset({"skill_view", "terminal"}), budget_tokens=150)
print("hermes.skills.parse" in sys.modules, index, index.spans, index.notices, index.decisions)
"""


def test_every_process_finds_what_another_kept(stocked: SkillHome) -> None:
    rendered(stocked)
    seen = set()
    for seed in ("0", "1", "42"):
        env = {"PYTHONHASHSEED": seed, "LC_ALL": "C", "PATH": os.environ["PATH"]}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(stocked.root)], env=env, capture_output=True, check=True
        )
        seen.add(run.stdout)
    assert len(seen) == 1
    assert len(keys(stocked)) == 1
