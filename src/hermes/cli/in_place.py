"""Findings shown in the text where they stand, with what a terminal would hide made visible."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence

import click

from hermes.security.scan import Finding
from hermes.text import many

# So much of a line is shown before, in and behind what was found, where the screen has room for it.
_BEFORE, _HIT, _AFTER = 32, 60, 24
_ROOM, _BESIDE = _BEFORE + _HIT + _AFTER, 12
_COLOURS = {"high": "red", "medium": "yellow", "low": "cyan"}
SHOWN_AT_MOST = 25
# Printable by Unicode's classes, yet nothing is seen: joiners, fillers, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_SPACES = frozenset(" \u00a0\u3000")


def visible(text: str) -> str:
    """A text on one line as a person must see it: everything unseen as `<U+200B>`, tabs as spaces."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(letter: str) -> str:
    if letter == "\t":
        return "    "
    if letter in _SPACES or (letter.isprintable() and not _UNSEEN.match(letter)):
        return letter
    return f"<U+{ord(letter):04X}>"


def in_place(name: str, text: str, findings: Sequence[Finding], notes: Iterable[str] = ()) -> list[str]:
    """Lines for a terminal: each finding with its place, its line and a caret below; styled.

    `notes` say for each finding what is done about it.
    """
    lines = []
    for finding, note in zip(findings[:SHOWN_AT_MOST], (*notes, *[""] * len(findings)), strict=False):
        place = f"{visible(name)}:{finding.line}:{finding.column}"
        severity = click.style(finding.severity, fg=_COLOURS[finding.severity], bold=True)
        done = f" [{note}]" if note else ""
        lines.append(f"{click.style(place, bold=True)}: {severity} {finding.id}: {finding.why}{done}")
        lines += _excerpt(text, finding)
    if len(findings) > SHOWN_AT_MOST:
        lines.append(f"  … and {many(len(findings) - SHOWN_AT_MOST, 'more finding')} in {visible(name)}")
    return lines


def _excerpt(text: str, finding: Finding) -> list[str]:
    """The line of a finding, cut to a window around it, and what was read there when it reads otherwise."""
    start = text.rfind("\n", 0, finding.start) + 1
    end = text.find("\n", finding.start)
    end = len(text) if end < 0 else end
    stop = min(max(finding.end, finding.start + 1), end)
    before, after = text[start : finding.start], text[stop:end]
    hit = text[finding.start : stop]
    room = min(_ROOM, shutil.get_terminal_size((_ROOM + _BESIDE, 24)).columns - _BESIDE)
    most_before, most_hit, most_after = (max(1, most * room // _ROOM) for most in (_BEFORE, _HIT, _AFTER))
    head = ("…" if len(before) > most_before else "") + visible(before[-most_before:])
    middle = visible(hit[:most_hit]) + ("…" if len(hit) > most_hit else "")
    tail = visible(after[:most_after]) + ("…" if len(after) > most_after else "")
    tail = "" if len(hit) > most_hit else tail
    number = f"{finding.line:>6} | "
    colour = _COLOURS[finding.severity]
    caret = " " * _width(head) + click.style("^" * max(1, _width(middle)), fg=colour)
    rows = [f"{number}{head}{middle}{tail}", f"{' ' * 6} | {caret}"]
    if finding.reads and " ".join(hit.split()).casefold() != finding.reads.casefold():
        rows.append(f"{' ' * 6} = reads: {visible(finding.reads)}")
    return rows


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    return max(int(wcswidth(text)), 0) or len(text)
