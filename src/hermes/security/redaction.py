"""Taking out only the lines that were found, each replaced by a marker that says so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hermes.provenance import Origin, Passage, Span
from hermes.security.scan import Finding

_NAMED_AT_MOST = 4


class Lines(NamedTuple):
    """Whole lines of a passage, by offsets without the last line end, and what was found there."""

    start: int
    end: int
    findings: list[Finding]


def line_ranges(passage: Passage, findings: Iterable[Finding]) -> list[Lines]:
    """The lines that the findings touch, in order; lines that findings share stand in one range."""
    ranges: list[Lines] = []
    for finding in sorted(findings, key=lambda f: (f.start, f.end)):
        if ranges and finding.start <= ranges[-1].end:
            last = ranges.pop()
            end = last.end if finding.end <= last.end else _line_end(passage, finding.end)
            ranges.append(Lines(last.start, end, [*last.findings, finding][:_NAMED_AT_MOST]))
        else:
            start = passage.rfind("\n", 0, finding.start) + 1
            ranges.append(Lines(start, _line_end(passage, finding.end), [finding]))
    return ranges


def _line_end(text: str, offset: int) -> int:
    """Where the line that holds the character before `offset` ends."""
    end = text.find("\n", max(offset - 1, 0))
    return len(text) if end < 0 else end


def redacted(passage: Passage, ranges: list[Lines], name: str) -> Passage:
    """The passage with a marker in the place of each range; every other character keeps its source."""
    parts: list[Passage] = []
    at = 0
    for lines in ranges:
        parts += [passage.part(at, lines.start), _redaction(passage, lines, name)]
        at = lines.end
    parts.append(passage.part(at))
    return Passage.joined("", parts).with_notes(passage.notices, passage.decisions)


def _redaction(passage: Passage, lines: Lines, name: str) -> Passage:
    """The marker that stands for lines, with their place as its origin."""
    first, last = passage.line_at(lines.start), passage.line_at(max(lines.start, lines.end - 1))
    ids = ", ".join(dict.fromkeys(f.id for f in lines.findings))
    origin = passage.span_at(lines.start).origin
    counted = first and origin.kind != "import"  # whose lines are not those of the file that is named
    where = f"{_where(first, last)} of {name}" if counted else f"part of {name}"
    marker = f"[REDACTED: {where} contained potential prompt injection ({ids})]"
    origin = Origin("redaction", origin.path, origin.digest, first, last, origin.trust)
    return Passage(marker, (Span(0, len(marker), origin, ("redacted",)),))


def _where(first: int, last: int) -> str:
    return f"line {first}" if last <= first else f"lines {first}-{last}"


def says_anything(passage: Passage) -> bool:
    """Whether anything but markers is left."""
    return any(s.origin.kind != "redaction" and passage[s.start : s.end].strip() for s in passage.spans)
