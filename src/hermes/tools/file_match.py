"""Finding the place a patch means: word for word first, then with less and less regard for white space."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_NUMBERED = re.compile(r"[ \t]*\d+\t")
_WORD = re.compile(r"\w+")
_COMPARED = 200  # characters of a line
_CANDIDATES = 200  # lines that share most words
_BLANK = re.compile(r"[ \t]*")


class Place(NamedTuple):
    """Part of a text, and what is to stand there."""

    start: int
    end: int
    new: str


class Match(NamedTuple):
    """Where a passage was found, and how: "" for word for word."""

    places: list[Place]
    how: str = ""


def find(text: str, old: str, new: str) -> Match:
    """Every place that `old` may mean, by the strictest way that finds any; none when no way does."""
    for how, reading in (("", str), ("without the line numbers of read_file", _without_numbers)):
        wanted, meant = reading(old), reading(new)
        if how and wanted == old:
            continue
        if wanted and (places := [Place(i, i + len(wanted), meant) for i in _occurrences(text, wanted)]):
            return Match(places, how)
        for loosely, seen in _LOOSELY:
            if places := list(_by_lines(text, wanted, meant, seen)):
                return Match(places, ", ".join(part for part in (how, loosely) if part))
    return Match([])


def _occurrences(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def _without_numbers(passage: str) -> str:
    """The passage as it stands in the file, where it was copied with line numbers."""
    lines = passage.split("\n")
    if not all(_NUMBERED.match(line) for line in lines if line):
        return passage
    return "\n".join(_NUMBERED.sub("", line, count=1) for line in lines)


_LOOSELY: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("white space at the ends of lines aside", str.rstrip),
    ("indentation aside", str.strip),
    ("white space aside", lambda line: " ".join(line.split())),
)


def _by_lines(text: str, old: str, new: str, seen: Callable[[str], str]) -> Iterator[Place]:
    """Whole lines that look the same; they do not overlap."""
    wanted = [seen(line) for line in old.strip("\n").split("\n")]
    if not any(wanted):
        return
    lines = text.split("\n")
    looks = [seen(line) for line in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    i, n = 0, len(wanted)
    while i + n <= len(looks):
        if looks[i] == wanted[0] and looks[i : i + n] == wanted:
            meant = _indented(new.strip("\n"), old.strip("\n").split("\n"), lines[i : i + n])
            yield Place(starts[i], starts[i + n] - 1, meant)
            i += n
        else:
            i += 1


def _indented(new: str, old_lines: list[str], found: list[str]) -> str:
    """The new lines, moved as far as the old ones stand from where they were thought to stand."""
    first = next(i for i, line in enumerate(old_lines) if line.strip())
    thought, real = _indentation(old_lines[first]), _indentation(found[first])
    if thought == real:
        return new
    return "\n".join(
        real + line[len(thought) :] if line.strip() and line.startswith(thought) else line
        for line in new.split("\n")
    )


def _indentation(line: str) -> str:
    found = _BLANK.match(line)
    return found[0] if found else ""


def nearest(text: str, old: str) -> int:
    """The number of the line most like the first that says something of a passage; 0 for none."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")[:_COMPARED]
    words = set(_WORD.findall(wanted))
    lines = [line.strip()[:_COMPARED] for line in text.split("\n")]
    shared = [(-len(words & set(_WORD.findall(line))), i) for i, line in enumerate(lines) if line]
    from difflib import SequenceMatcher

    compare = SequenceMatcher(b=wanted, autojunk=False)
    best, number = 0.6, 0
    for _, i in sorted(shared)[:_CANDIDATES]:
        compare.set_seq1(lines[i])
        if compare.ratio() > best:
            best, number = compare.ratio(), i + 1
    return number
