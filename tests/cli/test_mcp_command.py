"""`hermes mcp list` and `test`: nothing secret is shown, and what fails says why."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.runner import Done, hermes
from tests.mcp.world import SCRIPT

CONFIG = f"""
mcp:
  start_timeout: 30
  servers:
    demo: {{command: {sys.executable}, args: [{SCRIPT}], env: {{API_TOKEN: "${{TOKEN}}"}}}}
    bad: {{command: /no/such/command}}
    off: {{url: "https://user:hunter2@host/mcp", headers: {{X-Key: hunter2}}, enabled: false}}
    lost: {{command: x, env: {{A: "${{MISSING}}"}}}}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").write_text(CONFIG)
    return tmp_path / "home"


def run(home: Path, *arguments: str) -> Done:
    done = hermes("mcp", *arguments, home=home, cwd=home.parent, TOKEN="hunter2", PYTHONWARNINGS="default")
    assert "hunter2" not in done.out + done.err
    return done


def test_list_starts_nothing(home: Path) -> None:
    done = run(home, "list")
    assert done.out.splitlines() == [
        "bad   on   stdio  /no/such/command",
        f"demo  on   stdio  {sys.executable} {SCRIPT}",
        "off   off  http   https://***@host/mcp",
    ]
    assert "mcp.servers.lost names the variable MISSING in env.A, which is not set" in done.err
    body = json.loads(run(home, "list", "--json").out)
    assert [(s["name"], s["enabled"]) for s in body["servers"]] == [
        ("bad", True),
        ("demo", True),
        ("off", False),
    ]
    assert len(body["notices"]) == 1


def test_test_tells_what_is_offered(home: Path) -> None:
    done = run(home, "test", "--json")
    assert done.code == 1
    body = json.loads(done.out)
    bad, demo = body["servers"]
    assert (bad["answered"], bad["tools"]) == (False, [])
    assert (demo["answered"], demo["instructions"]) == (True, 17)
    assert demo["tools"][:3] == ["mcp__demo__add", "mcp__demo__die", "mcp__demo__environment"]
    assert any("bad failed" in n["text"] for n in body["notices"])


def test_an_unknown_one(home: Path) -> None:
    done = run(home, "test", "nobody")
    assert done.code == 2
    assert "there is no MCP server 'nobody' that can be used; there is: bad, demo, off" in done.err
