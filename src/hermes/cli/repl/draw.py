"""Draws text for a terminal: lines with colours and nothing else that a terminal would obey."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Heading, Markdown
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from hermes.cli.screen import plain, plain_lines
from hermes.frozen import frozen

WIDEST = 120
"""Columns that prose takes at most: longer lines are hard to read."""

# No backgrounds: nobody knows whether the terminal is dark or light.
_THEME = {"markdown.code": "cyan", "markdown.block_quote": "italic", "markdown.item.number": "default"}
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.M)
_FILE_HEADS = ("--- ", "+++ ")


class _Heading(Heading):
    """A heading at the left, bold, without a frame."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        self.text.stylize("bold underline" if self.tag == "h1" else "bold")
        yield self.text


class _Markdown(Markdown):
    elements = {**Markdown.elements, "heading_open": _Heading}  # noqa: RUF012 - as the class it extends


@frozen
class Pen:
    """Draws for a terminal of `width` columns; without `colour` only bold and the like are used."""

    width: int = 80
    colour: bool = True

    def markdown(self, text: str) -> list[str]:
        """Markdown as lines. Addresses of links are always shown, never hidden behind a word."""
        safe = plain_lines(text)
        drawn = _Markdown(safe, code_theme="ansi_dark", hyperlinks=False)
        return _trimmed(self._lines(drawn, min(self.width, WIDEST)))

    def text(self, text: str, style: str = "", indent: str = "") -> list[str]:
        """A text as it stands, its long lines folded."""
        drawn = Text(plain_lines(text), style=style, overflow="fold", no_wrap=False)
        drawn.expand_tabs(4)
        return [indent + line for line in self._lines(drawn, max(self.width - len(indent), 1))]

    def diff(self, text: str, indent: str = "") -> list[str]:
        """A unified diff, what comes in green and what goes in red."""
        drawn = Text(overflow="fold")
        for n, line in enumerate(plain_lines(text).split("\n")):
            drawn.append("\n" if n else "")
            drawn.append(line, _of_diff(line))
        drawn.expand_tabs(4)
        return [indent + line for line in self._lines(drawn, max(self.width - len(indent), 1))]

    def styled(self, parts: Iterable[tuple[str, str]], fold: bool = False) -> list[str]:
        """Pieces of one line, each with its style; cut at the width unless it may `fold`."""
        drawn = Text(overflow="fold" if fold else "ellipsis", no_wrap=not fold)
        for text, style in parts:
            drawn.append(plain(text), style)
        return self._lines(drawn, self.width)

    def _lines(self, drawn: RenderableType, width: int) -> list[str]:
        console = Console(
            file=io.StringIO(),
            width=max(width, 1),
            force_terminal=True,
            color_system="standard" if self.colour else None,
            no_color=not self.colour,
            legacy_windows=False,
            highlight=False,
            emoji=False,
            markup=False,
            theme=Theme(_THEME),
        )
        lines = console.render_lines(drawn, console.options.update(height=None), pad=False)
        return [self._line(line) for line in lines]

    def _line(self, line: Iterable[Segment]) -> str:
        pieces = [s for s in line if not s.control]
        while pieces and not pieces[-1].text.strip() and not (pieces[-1].style and pieces[-1].style.bgcolor):
            pieces.pop()
        if pieces and not (pieces[-1].style and pieces[-1].style.bgcolor):
            pieces[-1] = pieces[-1]._replace(text=pieces[-1].text.rstrip())
        return "".join(self._piece(s.text, s.style) for s in pieces)

    def _piece(self, text: str, style: Style | None) -> str:
        from rich.color import ColorSystem

        safe = plain(text)  # an entity of Markdown may have become a character that is obeyed
        if style is None:
            return safe
        wanted = style if self.colour else style.without_color
        return wanted.update_link(None).render(safe, color_system=ColorSystem.STANDARD)


def _trimmed(lines: list[str]) -> list[str]:
    """Without the blank lines that some blocks have around them."""
    first = next((n for n, line in enumerate(lines) if line.strip()), len(lines))
    last = next((n for n in range(len(lines), 0, -1) if lines[n - 1].strip()), first)
    return lines[first:last]


def looks_like_diff(text: str) -> bool:
    return bool(_HUNK.search(text))


def _of_diff(line: str) -> str:
    if line.startswith(_FILE_HEADS):
        return "bold"
    if line.startswith("@@"):
        return "cyan"
    return {"+": "green", "-": "red"}.get(line[:1], "")
