"""The format of MEMORY.md and USER.md: entries with a line `§` between them; plain Markdown is understood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from hermes.provenance import Passage, digest_of
from hermes.text import well_formed

SEPARATOR = "\n§\n"
ID_LENGTH = 6

_SEPARATOR_LINE = re.compile(r"^[ \t]*§[ \t]*$", re.M)
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
_LIKE_SEPARATOR = re.compile(r"^([ \t]*)(\\*§[ \t]*)$", re.M)
_ESCAPED = re.compile(r"^([ \t]*)\\(\\*§[ \t]*)$", re.M)
_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")
_HEADING = re.compile(r"#{1,6}[ \t]")
# Line ends of other systems and alphabets, which editors and `splitlines` take for line ends.
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def size(entries: Sequence[Passage] | Sequence[str]) -> int:
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


# --- what the tool reads and writes ---


def tidy(text: str) -> str:
    """A text as an entry has it: whole characters, `\\n` line ends, nothing blank around it."""
    return _LINE_ENDS.sub("\n", well_formed(text)).strip("\ufeff \t\n\xa0").strip()


def parse(text: str) -> list[str]:
    """The entries of a file, each once, in their order."""
    if is_separated(text):
        found: Iterable[str] = (_unescape(part) for part in _SEPARATOR_LINE.split(text))
    elif "\n\n" in text.strip() or _HEADING.match(text.lstrip()):
        found = written_by_hand(text)
    else:
        found = (_unescape(text),)
    return list(dict.fromkeys(tidied for part in found if (tidied := _trimmed(part))))


def render(entries: Sequence[str]) -> str:
    """The file of these entries; what `parse` gives for it is the same entries again."""
    if not entries:
        return "\n"
    body = SEPARATOR.join(map(_escape, entries))
    # Alone, an entry of several lines would be read as Markdown that somebody wrote.
    alone = len(entries) == 1 and ("\n" in body or body.startswith("#"))
    return f"{body}{SEPARATOR}" if alone else f"{body}\n"


def written_by_hand(text: str) -> Iterator[str]:
    """The parts of plain Markdown: a heading with what stands below it, or else a paragraph."""
    part: list[str] = []
    fence, headings, said = "", any(_HEADING.match(line) for line in _outside_fences(text)), False
    for line in text.split("\n"):
        opens = _FENCE.match(line)
        if opens:
            fence = "" if fence == opens[1] else fence or opens[1]
        begins = _HEADING.match(line) if headings else not line.strip()
        if begins and not fence and said:
            yield "\n".join(part)
            part, said = [], False
        part.append(line)
        said = said or bool(line.strip() and not _HEADING.match(line))
    yield "\n".join(part)


def _outside_fences(text: str) -> Iterator[str]:
    fence = ""
    for line in text.split("\n"):
        opens = _FENCE.match(line)
        if opens:
            fence = "" if fence == opens[1] else fence or opens[1]
        elif not fence:
            yield line


def ids(entries: Sequence[str]) -> list[str]:
    """A short name for each entry, made of its text: it stays while the entry stands."""
    given: list[str] = []
    taken: set[str] = set()
    for entry in entries:
        digest, length = _digest(entry), ID_LENGTH
        while digest[:length] in taken:
            length += 1
        taken.add(digest[:length])
        given.append(digest[:length])
    return given


_digest = lru_cache(maxsize=1024)(digest_of)


def _trimmed(text: str) -> str:
    """Without blank lines at the head and white space at the end."""
    text = text.rstrip()
    head = len(text) - len(text.lstrip())
    return text[text.rfind("\n", 0, head) + 1 :]


def _escape(entry: str) -> str:
    return _LIKE_SEPARATOR.sub(r"\1\\\2", entry) if "§" in entry else entry


def _unescape(text: str) -> str:
    return _ESCAPED.sub(r"\1\2", text) if "§" in text else text
