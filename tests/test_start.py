"""What a start does not load: a time is no test, but a module that crept in is one."""

from __future__ import annotations

import subprocess
import sys

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
