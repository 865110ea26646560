"""Sessions that pass away: a copy is opened, and what stands in the way of one is told."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from hermes.errors import StoreError
from hermes.sessions.passing import PassingStore


def test_without_any_place_for_a_copy_it_is_said_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(
        StoreError, match="nor is there a temporary folder that can; set TMPDIR or HERMES_HOME"
    ):
        PassingStore(str(tmp_path / "home" / "sessions.db"))
