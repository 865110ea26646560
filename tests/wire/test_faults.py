"""Planted faults: the verdict names the right cause and the right source of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wire.faults import FAULTS, TOOLS, Fault
from tests.wire.rig import LONG, Rig
from tests.world import write


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.name} {fault.profile.name}")
def test_fault(fault: Fault, tmp_path: Path) -> None:
    rig = Rig(tmp_path, fault.profile, fault.replies, TOOLS, fault.soul or LONG)
    write(tmp_path / "home" / "memories" / "MEMORY.md", "Uses Python\n§\nEditor is nvim\n§\nLives in Lima\n")
    *before, last = rig.play(fault.scene)
    verdict = last.verdict
    assert before[0].verdict.cause in ("first", fault.cause), before[0].verdict
    told = f"{verdict}"
    assert verdict.cause == fault.cause, told
    found = verdict.difference
    assert (found.where if found else "") == fault.where, told
    if found:
        assert found.how.startswith(fault.how), told
        assert found.source.endswith(fault.source), told


def test_there_are_thirty() -> None:
    assert len({(f.name, f.profile.name) for f in FAULTS}) == len(FAULTS) >= 30
