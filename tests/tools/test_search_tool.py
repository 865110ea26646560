"""search_files: lines, paths, ignore files, caps, and answers for what cannot be searched."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hermes.tooling import ToolContext, ToolError
from hermes.tools.search_tool import MAX_COLUMNS, search_tool


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "src/a.py": "import os\n\ndef find_me(x):\n    return x\n",
        "src/b.ts": "function find_me() {}\n",
        ".github/ci.yml": "run: find_me\n",
        ".git/config": "find_me\n",
        "build/out.py": "find_me\n",
        ".gitignore": "build/\n",
        "a(b.txt": "f(x)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def search(cwd: Path, rg: str | None = None, **arguments: object) -> str:
    return asyncio.run(search_tool(rg).call(json.dumps(arguments), ToolContext(cwd=str(cwd))))


def test_lines_come_with_path_and_number_in_order(project: Path) -> None:
    assert search(project, pattern="find_me") == (
        ".github/ci.yml:1:run: find_me\nsrc/a.py:3:def find_me(x):\nsrc/b.ts:1:function find_me() {}"
    )
    assert search(project, pattern="FIND_ME", ignore_case=True, glob=["*.py"], context_lines=1) == (
        "src/a.py-2-\nsrc/a.py:3:def find_me(x):\nsrc/a.py-4-    return x"
    )
    assert search(project, pattern="f(", literal=True) == "a(b.txt:1:f(x)"
    assert search(project, pattern="find_me", path="src/b.ts") == "src/b.ts:1:function find_me() {}"


def test_paths_by_name_and_by_what_is_in_them(project: Path) -> None:
    assert search(project, mode="files", glob=["*.py"]) == "src/a.py"
    assert search(project, mode="files", pattern="find_me", path="src") == "src/a.py\nsrc/b.ts"
    assert search(project, mode="files", glob=["*.py"], ignored=True) == "build/out.py\nsrc/a.py"


def test_what_is_not_found_says_where_it_was_not_looked_for(project: Path) -> None:
    assert search(project, pattern="zebra", glob=["*.py"]) == (
        "nothing matches 'zebra' in . that fit *.py; "
        "what ignore files leave out was not searched (ignored=true searches it)"
    )


def test_long_answers_are_cut_with_a_pointer(project: Path) -> None:
    (project / "many.txt").write_text("needle\n" * 250)
    (project / "wide.txt").write_text("pin" + "x" * 100_000)
    first = search(project, pattern="needle")
    assert first.count("\n") == 100
    assert first.endswith("[150 more lines; go on with offset=101, or narrow the search]")
    last = search(project, pattern="needle", offset=201)
    assert last.splitlines()[0] == "many.txt:201:needle"
    assert len(last.splitlines()) == 50
    assert len(search(project, pattern="pin")) < MAX_COLUMNS + 100


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": "f("}, "unclosed group"),
        ({"pattern": ""}, "needs a pattern"),
        ({"pattern": "x", "path": "gone"}, "there is no file or folder gone"),
        ({"pattern": "a\0b"}, "NUL"),
        ({"pattern": "x", "glob": ["{"]}, "glob"),
        ({"pattern": "x", "mode": "both"}, "'mode' must be one of content, files"),
    ],
)
def test_what_cannot_be_searched_is_answered(project: Path, arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ToolError, match=said):
        search(project, **arguments)


def test_names_that_models_guess_are_understood(project: Path) -> None:
    wanted = "src/a.py:3:def find_me(x):"
    assert search(project, query="find_me", include="*.py", directory=".") == wanted


def test_where_ripgrep_is_missing_the_answer_says_what_to_do(project: Path) -> None:
    with pytest.raises(ToolError, match=r"ripgrep .rg. is not installed.*grep or find in the terminal"):
        search(project, rg="", pattern="x")
