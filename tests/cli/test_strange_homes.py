"""Commands in a home that cannot be used: a clear word, and never a claim that all is well."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.runner import hermes


@pytest.fixture(params=["a link to itself", "a file"])
def strange(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A home in which nothing can be looked up, for root as for anyone."""
    home = tmp_path / "home"
    if request.param == "a file":
        home.write_text("no directory\n")
    else:
        os.symlink("home", home)
    return home


def test_it_is_said_why_the_configuration_was_not_read(tmp_path: Path) -> None:
    os.symlink("home", tmp_path / "home")
    done = hermes("config", "check", home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 1
    assert done.out.startswith("error: config.yaml was not read: too many levels of symbolic links")


def test_the_engine_can_be_asked_after(strange: Path) -> None:
    done = hermes("local", "status", "--json", home=strange, cwd=strange.parent)
    assert (done.code, json.loads(done.out)["running"]) == (0, False)


def test_talking_ends_in_a_clear_word(strange: Path) -> None:
    done = hermes("chat", "-q", "hi", home=strange, cwd=strange.parent)
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith(f"Error: {strange}/sessions.db cannot be used")


def test_no_server_is_not_silence(tmp_path: Path) -> None:
    done = hermes("mcp", "test", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.out) == (
        0,
        "No MCP servers: mcp.servers in config.yaml names none that can be used.\n",
    )
