"""Charts as SVG: bars that lie, each of several parts. No library is needed for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH, NAME, FIGURE, ROW, TOP = 900, 220, 110, 26, 70
COLOURS = ("#4c78a8", "#72b7b2", "#f58518", "#e45756", "#b9b9b9", "#54a24b")


class Bar(NamedTuple):
    """One bar. `parts` are its lengths, in the order of the legend; `figure` stands behind it."""

    name: str
    parts: tuple[float, ...]
    figure: str


def bars(title: str, legend: Sequence[str], rows: Sequence[Bar]) -> str:
    """The chart as the text of an SVG file; the same rows give the same bytes."""
    height = TOP + ROW * len(rows) + 20
    longest = max((sum(max(p, 0.0) for p in row.parts) for row in rows), default=0.0) or 1.0
    room = WIDTH - NAME - FIGURE - 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="10" y="22" font-size="15">{escape(title)}</text>',
    ]
    at = 10
    for name, colour in zip(legend, _colours(len(legend)), strict=True):
        lines.append(f'<rect x="{at}" y="36" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{at + 17}" y="46">{escape(name)}</text>')
        at += 40 + 7 * len(name)
    for number, row in enumerate(rows):
        y, x = TOP + ROW * number, float(NAME)
        lines.append(f'<text x="{NAME - 8}" y="{y + 16}" text-anchor="end">{escape(row.name[:34])}</text>')
        for part, colour in zip(row.parts, _colours(len(row.parts)), strict=True):
            width = max(part, 0.0) / longest * room
            if width > 0:
                lines.append(
                    f'<rect x="{x:.2f}" y="{y + 3}" width="{width:.2f}" height="{ROW - 8}" fill="{colour}"/>'
                )
            x += width
        lines.append(f'<text x="{x + 6:.2f}" y="{y + 16}">{escape(row.figure)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _colours(count: int) -> tuple[str, ...]:
    return tuple(COLOURS[n % len(COLOURS)] for n in range(count))
