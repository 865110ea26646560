"""Many agents, one file: no edit is lost, and whoever came too late is told so that it can be mended."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.config import Config
from hermes.one_writer import Busy, only_writer
from hermes.paths import Home
from hermes.security.policy import Policies
from hermes.tooling import Tool, ToolContext, ToolError
from hermes.tools.edit_tools import patch, write_file
from hermes.tools.file_tools import read_file
from hermes.tools.skill_manage_tool import skill_manage_tool
from hermes.tools.skill_tools import skill_tools
from tests.world import write

AGENT = """
import asyncio, json, sys
from hermes.tooling import ToolContext, ToolError
from hermes.tools.edit_tools import patch, write_file
from hermes.tools.file_tools import read_file

who, turns, whole = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "whole"
context, late = ToolContext(cwd="."), 0

def call(tool, **arguments):
    return asyncio.run(tool.call(json.dumps(arguments), context))

for turn in range(turns):
    while True:
        shown = call(read_file, path="notes.txt")
        text = "".join(line.partition("\\t")[2] + "\\n" for line in shown.split("\\n"))
        try:
            if whole:
                call(write_file, path="notes.txt", content=f"{text}{who} {turn}\\n")
            else:
                call(patch, path="notes.txt", old_string="end\\n", new_string=f"{who} {turn}\\nend\\n")
            break
        except ToolError as error:
            assert "changed by somebody else" in str(error), error
            late += 1
print(late)
"""


@pytest.mark.parametrize("how", ["whole", "passage"])
def test_no_edit_of_several_processes_is_lost(tmp_path: Path, how: str) -> None:
    agents, turns = 4, 12
    (tmp_path / "notes.txt").write_text("first\n" if how == "whole" else "first\nend\n")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", AGENT, str(who), str(turns), how],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in range(agents)
    ]
    late = [int(agent.communicate(timeout=60)[0]) for agent in running]
    lines = (tmp_path / "notes.txt").read_text().splitlines()
    expected = [f"{who} {turn}" for who in range(agents) for turn in range(turns)]
    assert sorted(lines[1:] if how == "whole" else lines[1:-1]) == sorted(expected)
    assert os.listdir(tmp_path) == ["notes.txt"]
    assert how == "whole" or not any(late)  # a passage is changed in what stands there now


class Agent:
    """One conversation with its tools."""

    def __init__(self, cwd: Path) -> None:
        self.context = ToolContext(cwd=str(cwd))

    def call(self, tool: Tool, **arguments: object) -> str:
        return asyncio.run(tool.call(json.dumps(arguments), self.context))

    def late(self, tool: Tool, **arguments: object) -> str:
        with pytest.raises(ToolError) as caught:
            self.call(tool, **arguments)
        return str(caught.value)


def test_who_saw_an_older_file_does_not_write_over_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "one\ntwo\n")
    one, other = Agent(tmp_path), Agent(tmp_path)
    one.call(read_file, path="a.txt")
    other.call(patch, path="a.txt", old_string="two", new_string="2")
    assert one.late(write_file, path="a.txt", content="ONE\ntwo\n") == (
        "a.txt was changed by somebody else since you saw it, so nothing was written. Read it again and make "
        "your change to what stands there now; patch changes a passage and leaves all else as it is"
    )
    assert path.read_text() == "one\n2\n"
    one.call(read_file, path="a.txt")
    one.call(write_file, path="a.txt", content="ONE\n2\n")
    assert other.late(write_file, path="a.txt", content="one\n3\n").startswith("a.txt was changed")
    assert path.read_text() == "ONE\n2\n"


def test_a_patch_does_not_show_what_others_wrote_elsewhere(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "one\ntwo\n")
    agent = Agent(tmp_path)
    agent.call(read_file, path="a.txt")
    write(path, "one\n2\n")
    agent.call(patch, path="a.txt", old_string="one", new_string="ONE")
    assert path.read_text() == "ONE\n2\n"
    assert "changed by somebody else" in agent.late(write_file, path="a.txt", content="ONE\ntwo\n")


def test_what_a_person_said_yes_to_must_still_stand_there(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "one\n")
    agent = Agent(tmp_path)
    assert write_file.plan
    write_file.plan(agent.context, path="a.txt", content="two\n")
    write(path, "meanwhile\n")
    assert "changed by somebody else" in agent.late(write_file, path="a.txt", content="two\n")
    assert path.read_text() == "meanwhile\n"


def test_a_file_that_came_or_went_meanwhile(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    assert write_file.plan
    write_file.plan(agent.context, path="new.txt", content="mine\n")
    path = write(tmp_path / "new.txt", "theirs\n")
    assert "changed by somebody else" in agent.late(write_file, path="new.txt", content="mine\n")
    agent.call(read_file, path="new.txt")
    path.unlink()
    assert "changed by somebody else" in agent.late(write_file, path="new.txt", content="mine\n")


def test_skills_are_not_written_over_either(tmp_path: Path) -> None:
    home, text = Home(str(tmp_path)), "---\nname: a\ndescription: Does a.\n---\n\nStep one.\n"
    path = write(tmp_path / "skills" / "a" / "SKILL.md", text)
    manage = skill_manage_tool(home, Config(), Policies())
    view = skill_tools(home, Config(), Policies(), frozenset({"skill_view"}))[1]
    one, other = Agent(tmp_path), Agent(tmp_path)
    one.call(view, name="a")
    other.call(manage, action="patch", name="a", old_string="one", new_string="1")
    late = one.late(manage, action="edit", name="a", content=text.replace("Step", "First step"))
    assert late.startswith(f"{path} was changed by somebody else meanwhile, so nothing was written")
    one.call(view, name="a")
    one.call(manage, action="edit", name="a", content=text.replace("Step one", "First step 1"))
    assert "First step 1." in path.read_text()


def test_who_waits_too_long_is_told(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    with pytest.raises(Busy), only_writer(str(tmp_path), wait=0.01):
        pass
    os.close(fd)
    with only_writer(str(tmp_path), wait=0.01), pytest.raises(Busy), only_writer(str(tmp_path), wait=0.01):
        pass
