"""terminal: what lasts between commands, what ends with them, and what is cut."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from hermes.tooling import Tool, ToolContext, ToolError
from hermes.tools.terminal_output import MAX_CHARS
from hermes.tools.terminal_tool import terminal_tool


@pytest.fixture
def terminal(tmp_path: Path) -> Tool:
    (tmp_path / "work").mkdir()
    return terminal_tool(str(tmp_path / "state"), str(tmp_path / "work"))


def run(tool: Tool, command: str, **more: object) -> str:
    return asyncio.run(tool.call(json.dumps({"command": command, **more}), ToolContext(call_id="call_1")))


def test_output_and_exit_code(terminal: Tool) -> None:
    assert run(terminal, "echo out; echo err >&2") == "out\nerr"
    assert run(terminal, "echo no; exit 3") == "no\n[exit code 3]"
    assert run(terminal, "true") == ""


def test_directory_and_variables_last(terminal: Tool, tmp_path: Path) -> None:
    assert run(terminal, "pwd") == os.path.realpath(tmp_path / "work")
    run(terminal, "mkdir 'a b' && cd 'a b' && export NAME='x y' && false")
    assert run(terminal, 'pwd; echo "$NAME"') == f"{os.path.realpath(tmp_path / 'work')}/a b\nx y"
    run(terminal, "cd .. && rmdir 'a b'")
    assert run(terminal, "pwd") == os.path.realpath(tmp_path / "work")


def test_a_command_gets_no_input(terminal: Tool) -> None:
    assert run(terminal, "cat; echo done") == "done"


def test_a_command_that_takes_too_long_is_ended_with_all_it_started(terminal: Tool, tmp_path: Path) -> None:
    shown = run(terminal, "echo begun; (sleep 60; touch late) & echo $! > pid; sleep 60", timeout=1)
    assert shown == (
        "begun\n[timed out after 1 s; the command was ended. "
        "What takes longer runs with a longer timeout, or with background]"
    )
    child = int((tmp_path / "work" / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        while True:  # it is gone, or about to be
            os.kill(child, 0)


def test_what_is_left_running_does_not_hold_the_answer(terminal: Tool) -> None:
    assert run(terminal, "sleep 60 & echo at once", timeout=20) == "at once"


def test_long_output_is_cut_and_kept(terminal: Tool, tmp_path: Path) -> None:
    shown = run(terminal, "seq 1 20000")
    whole = "".join(f"{n}\n" for n in range(1, 20001))
    assert len(shown) < MAX_CHARS + 300
    assert shown.startswith("1\n2\n")
    assert shown.endswith("\n20000")
    (kept,) = (tmp_path / "state").glob("output-*.txt")
    assert str(kept) in shown
    assert kept.read_text() == whole


def test_bytes_that_are_no_text_are_shown(terminal: Tool) -> None:
    assert run(terminal, r"printf 'a\xff\0b'") == "a\ufffd\0b"


def test_a_nul_in_the_command_is_refused(terminal: Tool) -> None:
    with pytest.raises(ToolError, match="NUL"):
        run(terminal, "echo \0")


def look(tool: Tool, **arguments: object) -> str:
    return asyncio.run(tool.call(json.dumps(arguments), ToolContext()))


def close(tool: Tool) -> None:
    assert tool.close is not None
    asyncio.run(tool.close())


def test_a_job_runs_beside_and_is_looked_at(terminal: Tool) -> None:
    run(terminal, "export NAME=x")
    assert run(terminal, 'echo "$NAME"; read -t 60 < <(sleep 60); echo late', background=True) == (
        "job 1 was started; terminal with job=1 shows its output and state"
    )
    assert run(terminal, "echo meanwhile") == "meanwhile"
    shown = ""
    while "x" not in shown.splitlines():
        shown = look(terminal, job=1)
    assert "[job 1 running for" in shown
    assert look(terminal, job=1).startswith("[job 1 running for")
    assert look(terminal).startswith("job 1: running for")
    assert look(terminal, job="1", stop=True) == "[job 1 ended by signal 15]"
    close(terminal)


def test_a_job_that_ends_tells_its_code_and_the_rest_of_its_output(terminal: Tool) -> None:
    run(terminal, "echo begun; exit 3", background=True)
    assert look(terminal, job=1, wait=30) == "begun\n[job 1 ended with exit code 3]"
    assert look(terminal, job=1) == "[job 1 ended with exit code 3]"
    close(terminal)


def test_jobs_end_when_the_session_closes(terminal: Tool, tmp_path: Path) -> None:
    run(terminal, "trap '' TERM; echo $$ > pid; (sleep 60) & wait; sleep 60", background=True)
    while not (tmp_path / "work" / "pid").exists() or not (tmp_path / "work" / "pid").read_text():
        look(terminal, job=1)
    pid = int((tmp_path / "work" / "pid").read_text())
    close(terminal)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert (
        look(terminal) == "job 1: ended by signal 9: trap '' TERM; echo $$ > pid; (sleep 60) & wait; sleep 60"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"job": 7}, "there is no job 7; there are no jobs"),
        ({"job": 1, "command": "ls"}, "either a command or the number of a job"),
        ({"job": "first"}, "'job' must be an integer"),
        ({"command": ["ls", "-l"]}, "'command' must be a string"),
    ],
)
def test_wrong_questions_about_jobs_are_answered(
    terminal: Tool, arguments: dict[str, object], said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        look(terminal, **arguments)


def test_a_confined_terminal_comes_back(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    tool = terminal_tool(str(tmp_path / "state"), str(tmp_path / "work"), confine=True)
    work = os.path.realpath(tmp_path / "work")
    assert run(tool, "export A=1; cd ..") == (
        f"[{os.path.realpath(tmp_path)} is outside the project; the next command begins in {work} again]"
    )
    assert run(tool, "pwd; echo $A") == f"{work}\n1"


def test_at_the_end_only_kept_outputs_stay_and_those_for_a_week(tmp_path: Path) -> None:
    folders = [tmp_path / "cache" / name for name in ("0123456789ab", "ba9876543210", "something-else")]
    for folder in folders[1:]:
        folder.mkdir(parents=True)
        (folder / "output.txt").touch()
        os.utime(folder, (0, 0))
    tool = terminal_tool(str(folders[0]), str(tmp_path))
    run(tool, "export SECRET=1; echo short")
    assert (folders[0] / "shell-state").exists()
    close(tool)
    assert [folder.exists() for folder in folders] == [False, False, True]
    run(tool, "seq 1 20000")
    close(tool)
    assert [path.suffix for path in folders[0].iterdir()] == [".txt"]
