"""What all tests share: golden files, and a small world of a home and a project."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with a file under tests/golden; HERMES_UPDATE_GOLDEN=1 writes it anew."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("HERMES_UPDATE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.read_text(encoding="utf-8") == text

    return check
