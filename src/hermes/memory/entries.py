"""The format of MEMORY.md and USER.md: entries with a line `§` between them; plain Markdown is understood."""

from __future__ import annotations

import re

from hermes.provenance import Passage

SEPARATOR = "\n§\n"

_SEPARATOR_LINE = re.compile(r"^[ \t]*§[ \t]*$", re.M)
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")


def size(entries: list[Passage] | list[str]) -> int:
    """The size of a memory in characters, as every limit counts it: entries joined by their separator."""
    return len(SEPARATOR.join(entries))


def is_separated(text: str) -> bool:
    """Whether a text has separators; without any it is one entry, or Markdown written by hand."""
    return _SEPARATOR_LINE.search(text) is not None


def split_entries(passage: Passage) -> list[Passage]:
    """The entries between separator lines, without the white space around them; empty ones left out."""
    return _split(passage, _SEPARATOR_LINE)


def split_paragraphs(passage: Passage) -> list[Passage]:
    """The paragraphs of a Markdown text written by hand, each standing for an entry."""
    return _split(passage, _BLANK_LINES)


def _split(passage: Passage, separator: re.Pattern[str]) -> list[Passage]:
    parts, at = [], 0
    for found in separator.finditer(passage):
        parts.append(passage.part(at, found.start()))
        at = found.end()
    parts.append(passage.part(at))
    return [entry for part in parts if (entry := part.trimmed())]
