"""What changes in a text, as a unified diff; only the part that differs is compared."""

from __future__ import annotations

import re

from hermes.text import many

MAX_CHARS = 8_000
_AROUND = 2
_COMPARED = 20_000  # lines that differ; more would take long to align
_MARK = re.compile("\0[+-][0-9]+\0")  # no text that is shown has a NUL character
_PLACE = re.compile(r"^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@", re.M)


def diff(before: str, after: str, path: str) -> str:
    """The diff between two texts with `\\n` line ends; "" for none. A long one is cut, and says so."""
    olds, news = (text.removesuffix("\n").split("\n") if text else [] for text in (before, after))
    start = _alike(olds, news)
    end = _alike(olds[start:][::-1], news[start:][::-1])
    first = max(0, start - _AROUND)
    olds, news = (_marked(lines, first, start, len(lines) - end) for lines in (olds, news))
    if len(olds) + len(news) > _COMPARED:
        return (
            f"(too long for a diff: {many(len(olds), 'line')} become {len(news):,} from line {start + 1} on)"
        )
    from difflib import unified_diff

    shown = "\n".join(unified_diff(olds, news, path, path, n=_AROUND, lineterm=""))
    shown = _PLACE.sub(lambda m: f"@@ -{int(m[1]) + first}{m[2]} +{int(m[3]) + first}{m[4]} @@", shown)
    shown = _MARK.sub("", shown)
    if len(shown) <= MAX_CHARS:
        return shown
    kept = shown[:MAX_CHARS].rpartition("\n")[0]
    return f"{kept}\n[… {many(shown.count(chr(10)) - kept.count(chr(10)), 'more line')} of the diff]"


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _marked(lines: list[str], first: int, start: int, end: int) -> list[str]:
    """The lines that differ, and those around them with a mark, so that each is aligned with its like."""
    before = [f"\0-{start - i}\0{lines[i]}" for i in range(first, start)]
    after = [f"\0+{i - end}\0{lines[i]}" for i in range(end, min(len(lines), end + _AROUND))]
    return [*before, *lines[start:end], *after]
