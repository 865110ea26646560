"""What a start does not load: a time is no test, but a module that crept in is one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("imported", "unwanted"),
    [
        ("hermes.cli.entry", "click dataclasses json re typing"),
        (
            "hermes.agent.system_prompt, hermes.agent.prompt_builder",
            "asyncio click json logging pathlib rich ruamel.yaml shutil sqlite3 tempfile tomllib wcwidth "
            "hermes.config hermes.messages hermes.run_agent hermes.security.rulebook hermes.security.trust "
            "hermes.skills.find hermes.skills.index hermes.skills.parse hermes.skills.records",
        ),
    ],
    ids=["command", "library"],
)
def test_a_start_stays_small(imported: str, unwanted: str) -> None:
    names = frozenset(unwanted.split())
    code = f"import sys, {imported}; print(sorted({set(names)!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


UNWANTED = """
    prompt_toolkit rich pygments markdown_it tree_sitter pluggy mcp opentelemetry xllamacpp psycopg numpy
    hermes.inspect hermes.cli.lines hermes.mcp hermes.plugins.plugins hermes.skills.check
    hermes.tools.file_text hermes.tools.skill_desk hermes.wire.blocks hermes.wire.ledger
"""


def test_one_question_loads_what_it_needs(tmp_path: Path) -> None:
    """Asked of a provider that is not there: what was loaded until the error."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text("model:\n  default: m\n  base_url: http://127.0.0.1:9/v1\n")
    program = (
        "import sys; from hermes.cli.entry import main; code = main();"
        f"print(code, sorted(m for m in {UNWANTED.split()!r} if m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "chat", "-q", "hello"],
        env={"HERMES_HOME": str(home), "PATH": "", "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("5 []\n"), done.stdout + done.stderr
