"""Characters that draw nothing, by their names. What counts as such is the scanner's judgement."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from hermes.inspect.lint.finding import Finding, Level, finding
from hermes.inspect.lint.subject import Subject
from hermes.security.findings import settle
from hermes.security.invisible import find

_SHOWN = 4


def check(subject: Subject) -> Iterator[Finding]:
    for source in subject.sources:
        text = source.document.text
        if text.isascii():
            continue
        by_line: dict[int, list[tuple[int, int, str]]] = {}
        for hit in settle(text, find(text)):
            if hit.severity != "low":
                by_line.setdefault(hit.line, []).append((hit.start, hit.end, hit.severity))
        for number, hits in by_line.items():
            names = dict.fromkeys(_name(char) for start, end, _ in hits for char in text[start:end])
            shown = ", ".join(list(names)[:_SHOWN]) + (" and others" if len(names) > _SHOWN else "")
            level: Level = "error" if any(severity == "high" for _, _, severity in hits) else "warning"
            count = sum(end - start for start, end, _ in hits)
            noun = "character draws" if count == 1 else "characters draw"
            message = f"{count} {noun} nothing here: {shown}; remove what you did not mean"
            place = source.place(hits[0][0], hits[0][1], number)
            yield finding("invisible-character", place, message, shown, level=level)


def _name(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'unnamed')}"
