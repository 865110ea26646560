"""The explanation of a prompt as lines of a table, for any place that shows text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from hermes.inspect.explain import Explanation, Part, Row

_BAR = 12
_NUMBERS = 36
"""Columns that the figures take."""

Kind = Literal["head", "tier", "row", "part", "total"]


class Line(NamedTuple):
    """A line of the table, and what it is."""

    kind: Kind
    text: str
    tier: str = ""


def table(explanation: Explanation, width: int) -> Iterator[Line]:
    """The explanation for a place of that width, in columns."""
    width = max(60, min(width, 140))
    name = width - _NUMBERS - _BAR
    yield Line("head", f"{'tier / section':<{name}}{'chars':>9}{'tokens':>9}{'share':>8}")
    tier = ""
    for row in explanation.rows:
        if row.tier != tier:
            tier = row.tier
            yield Line("tier", tier, tier)
        yield Line("row", _row(row, name), tier)
        for part in row.parts:
            if len(row.parts) > 1 or part.path:
                yield Line("part", _part(part, name), tier)
    yield Line("total", f"{'total':<{name}}{explanation.chars:>9,}{explanation.tokens:>9,}{'100 %':>8}")
    yield Line("total", f"tokens: {explanation.method}")


def _row(row: Row, name: int) -> str:
    bar = "█" * round(row.share * _BAR) or "▏"
    label = f"  {row.section}" + _count(len(row.notices))
    share = f"{row.share * 100:.1f} %"
    return f"{_fit(label, name)}{row.chars:>9,}{row.tokens:>9,}{share:>8}  {bar}"


def _count(notices: int) -> str:
    return f" ({notices} notice{'s' if notices > 1 else ''})" if notices else ""


def _part(part: Part, name: int) -> str:
    lines = f":{part.first_line}-{part.last_line}" if part.first_line else ""
    done = f" [{', '.join(part.transforms)}]" if part.transforms else ""
    label = _fit(f"    {_shorten(part.path + lines, name - 5 - len(done))}{done}", name)
    return f"{label}{part.chars:>9,}{part.tokens:>9,}"


def _fit(text: str, width: int) -> str:
    return text[: width - 1].ljust(width) if len(text) >= width else text.ljust(width)


def _shorten(path: str, width: int) -> str:
    """A long path loses its head: the file's name is what people look for."""
    return path if len(path) <= width or width < 8 else "…" + path[-(width - 1) :]
