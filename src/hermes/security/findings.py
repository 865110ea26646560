"""What the scanner says: marks while it works, findings when it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from hermes.frozen import frozen

Severity = Literal["high", "medium", "low"]
_SEVERITIES: dict[str, Severity] = {"high": "high", "medium": "medium", "low": "low"}
_SHOWN = 120
# A text full of hits of one kind says nothing new after so many of them.
_MOST_PER_ID = 50


@frozen
class Finding:
    """One passage that tries to command the reader. Offsets are characters of the scanned text.

    `reads` is what the scanner read there, folded or decoded, with the invisible made visible.
    """

    id: str
    family: str
    severity: Severity
    start: int
    end: int
    line: int
    column: int
    reads: str
    why: str


class Mark(NamedTuple):
    """A finding before lines are counted; offsets are those of the text or view it was made from."""

    id: str
    family: str
    severity: str
    start: int
    end: int
    reads: str
    why: str


def settle(text: str, marks: Iterable[Mark]) -> tuple[Finding, ...]:
    """Findings in order, each place once per id, in its gravest reading."""
    best: list[Mark] = []
    latest: dict[str, int] = {}
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end, _rank(mark), mark.id)):
        at = latest.get(mark.id)
        if at is not None and mark.start < best[at].end:
            kept = best[at]
            if _rank(mark) < _rank(kept):
                kept = mark._replace(start=kept.start)
            best[at] = kept._replace(end=max(kept.end, mark.end, best[at].end))
            continue
        latest[mark.id] = len(best)
        best.append(mark)
    line, counted = 1, 0
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for mark in sorted(best, key=lambda mark: (mark.start, mark.end, mark.id)):
        seen[mark.id, mark.severity] += 1
        if seen[mark.id, mark.severity] > _MOST_PER_ID:
            continue
        line += text.count("\n", counted, mark.start)
        counted = mark.start
        column = mark.start - text.rfind("\n", 0, mark.start)
        found.append(
            Finding(
                mark.id, mark.family, _SEVERITIES[mark.severity], mark.start, mark.end, line, column,
                shown(mark.reads), mark.why,
            )
        )  # fmt: skip
    return tuple(found)


def _rank(mark: Mark) -> int:
    return ("high", "medium", "low").index(mark.severity)


def shown(text: str) -> str:
    """A text in one line, cut to a readable length, the invisible made visible."""
    flat = "".join(letter if letter.isprintable() else _visible(letter) for letter in text[: 2 * _SHOWN])
    flat = " ".join(flat.split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "\u2026"


def _visible(letter: str) -> str:
    return " " if letter.isspace() else f"[U+{ord(letter):04X}]"
