"""Commands in a home that cannot be used: a clear word, and never a claim that all is well."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.runner import Done, hermes


@pytest.fixture(params=["a link to itself", "a file", "a link to a file"])
def strange(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A home in which nothing can be looked up, for root as for anyone."""
    home = tmp_path / "home"
    if request.param == "a file":
        home.write_text("no directory\n")
    elif request.param == "a link to a file":
        (tmp_path / "file").write_text("no directory\n")
        os.symlink("file", home)
    else:
        os.symlink("home", home)
    return home


@pytest.mark.parametrize("command", ["config check", "local status --json", "chat -q hi", "memory list"])
def test_every_command_ends_in_the_same_clear_word(strange: Path, command: str) -> None:
    done = hermes(*command.split(), home=strange, cwd=strange.parent)
    what = (
        "is a link that leads nowhere; mend it"
        if not os.path.exists(strange)
        else "is not a folder; move it away"
    )
    said = f"Error: the home {strange} {what}, or set HERMES_HOME to a folder\n"
    assert done == Done(1, "", said)


def test_the_doctor_still_looks(strange: Path) -> None:
    done = hermes("doctor", "--json", home=strange, cwd=strange.parent)
    levels = {p["level"] for check in json.loads(done.out)["checks"] for p in check["problems"]}
    assert (done.code, "error" in levels) == (1, True)


def test_no_server_is_not_silence(tmp_path: Path) -> None:
    done = hermes("mcp", "test", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.out) == (
        0,
        "No MCP servers: mcp.servers in config.yaml names none that can be used.\n",
    )
