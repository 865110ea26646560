"""The examples of docs/cache-cost.md are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "cache-cost.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: str) -> None:
    exec(compile(example, str(DOCUMENT), "exec"), {})


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 2
