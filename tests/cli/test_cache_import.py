"""`hermes cache import`, as a person meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.runner import hermes
from tests.wire.test_logs import CLAUDE, TOOLS, App, claude

PAGE = Path(__file__).parents[2] / "docs" / "cache-import.md"


def log_of_a_faulty_application(folder: Path) -> None:
    app = App(CLAUDE)
    app.call(claude("hi"))
    app.call(claude("hi", "Hello.", "go on"))
    app.call(claude("hi", "Hello.", "go on", "Done.", "more"))
    app.call(claude("hi", "Hello.", "go on", "Done.", "more", "Done.", "on", tools=TOOLS[::-1]))
    (folder / "calls.jsonl").write_text("\n".join([*app.lines, "not json"]), encoding="utf-8")


def test_the_cause_is_named_by_its_line(tmp_path: Path) -> None:
    log_of_a_faulty_application(tmp_path)
    done = hermes("cache", "import", "calls.jsonl", home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 0
    assert "the log as one conversation: 4 calls" in done.out
    assert "line 4: changed - tools changed: act, another order" in done.out
    assert done.err == "line 5 is no call: Expecting value: line 1 column 1 (char 0)\n"


def test_one_call_in_full_and_as_json(tmp_path: Path) -> None:
    log_of_a_faulty_application(tmp_path)
    done = hermes("cache", "import", "calls.jsonl", "2", home=tmp_path / "home", cwd=tmp_path)
    assert done.out.startswith("line 2: hit - ")
    done = hermes("cache", "import", "calls.jsonl", "--json", home=tmp_path / "home", cwd=tmp_path)
    told = json.loads(done.out)
    assert [c["verdict"]["cause"] for c in told["conversations"][""]] == ["first", "hit", "hit", "changed"]
    assert told["passed_over"] == [{"line": 5, "why": "Expecting value: line 1 column 1 (char 0)"}]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    log_of_a_faulty_application(tmp_path)
    done = hermes("cache", "import", "nothing.jsonl", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: nothing.jsonl cannot be read:")
    done = hermes("cache", "import", "calls.jsonl", "5", home=tmp_path / "home", cwd=tmp_path)
    assert done.err.startswith("Error: line 5 of calls.jsonl is no call")


def test_the_example_of_the_page(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    log, shown = re.findall(r"```(?:json|text)\n(.*?)```", page, re.S)[:2]
    (tmp_path / "app.jsonl").write_text(log, encoding="utf-8")
    command, _, expected = shown.partition("\n")
    assert command == "$ hermes cache import app.jsonl"
    done = hermes("cache", "import", "app.jsonl", home=tmp_path / "home", cwd=tmp_path)
    assert done.out == expected
