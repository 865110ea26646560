"""Findings for people, one a line, in the form that editors jump from; and for machines as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from hermes.inspect.lint.baseline import Judged
from hermes.inspect.lint.finding import LEVELS, Finding
from hermes.text import many


def lines(judged: Judged) -> Iterator[tuple[str, str, str]]:
    """For each finding: its place, its level, and the rest of the line."""
    for finding in judged.new:
        yield str(finding.place), finding.level, _told(finding)


def _told(finding: Finding) -> str:
    cost = f", {finding.tokens:,} tokens" if finding.tokens else ""
    return f"{finding.message} [{finding.rule}{cost}]"


def summary(judged: Judged, files: int) -> str:
    """The last line: how many findings of each level, and what the baseline took out."""
    counts = Counter(finding.level for finding in judged.new)
    parts = [many(counts[level], level) for level in LEVELS if counts[level]]
    found = ", ".join(parts) if parts else "nothing found"
    known = f"; {judged.known} more in the baseline" if judged.known else ""
    spare = sum(f.tokens for f in judged.new if f.rule.startswith("repeat-"))
    saved = f"; repeated rules cost {spare:,} tokens in every call" if spare else ""
    return f"{many(files, 'file')} read: {found}{known}{saved}"


def body(judged: Judged, files: int) -> dict[str, Any]:
    """The same as a tree for JSON."""
    counts = Counter(finding.level for finding in judged.new)
    return {
        "findings": [asdict(finding) for finding in judged.new],
        "counts": {level: counts[level] for level in LEVELS},
        "files": files,
        "known": judged.known,
        "stale": [asdict(entry) for entry in judged.stale],
    }
