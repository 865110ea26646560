"""What the package says is said well: a number is never put before a plural that may be of one thing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hermes

SOURCE = Path(hermes.__file__).parent
THINGS = re.compile(
    r" (?:(?:more|changed|other|new|old) )*(?:calls|descriptions|directories|entries|events|files|findings|"
    r"fragments|items|lines|marks|messages|models|notices|operations|plugins|problems|prompts|rules|servers|"
    r"sessions|skills|steps|times|tools|turns|words)\b"
)
NEVER_ONE = {
    "cli/cache_import.py: {len(log.passed_over)} lines",
    "inspect/lint/cost.py: {lines} lines",
    "inspect/lint/repeats.py: {len(run)} rules",
    "memory/operations.py: {len(found)} entries",
    "memory/refusals.py: {lines} lines",
    "memory/snapshot.py: {len(admitted)} entries",
    "memory/snapshot.py: {len(entries)} entries",
    "plugins/plugins.py: {len(failed)} times",
    "tools/edit_tools.py: {len(places)} times",
    "tools/memory_tool.py: {len(changes)} operations",
    "skills/index.py: {len(lines)} descriptions",
    "tools/todo_tool.py: {len(items)} items",
}
"""Those of which the code around says that there are several, or that stand beside a part of them."""


def told(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.JoinedStr):
            continue
        for number, words in zip(node.values, node.values[1:], strict=False):
            if isinstance(number, ast.FormattedValue) and isinstance(words, ast.Constant):
                found = THINGS.match(str(words.value))
                if found and not re.fullmatch(r"[\w.]*\b[A-Z_]+|LIMITS\.\w+", ast.unparse(number.value)):
                    yield f"{path.relative_to(SOURCE)}: {{{ast.unparse(number.value)}}}{found[0]}"


@pytest.fixture(scope="module")
def found() -> set[str]:
    return {place for path in SOURCE.rglob("*.py") for place in told(path)}


def test_a_number_goes_with_its_noun(found: set[str]) -> None:
    assert sorted(found - NEVER_ONE) == []


def test_the_list_of_those_that_are_several_is_kept(found: set[str]) -> None:
    assert sorted(NEVER_ONE - found) == []
