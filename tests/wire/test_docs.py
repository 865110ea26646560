"""The examples of the pages on caches are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("cache-why.md", "cache-cost.md")
EXAMPLES = [
    pytest.param(page, example, id=f"{page} {number}")
    for page in PAGES
    for number, example in enumerate(
        re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S), 1
    )
]


@pytest.mark.parametrize(("page", "example"), EXAMPLES)
def test_example(page: str, example: str) -> None:
    exec(compile(example, page, "exec"), {})


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 4
