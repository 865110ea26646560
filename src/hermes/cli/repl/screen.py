"""What stands at the bottom of the terminal: what is under way, the input, the status."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import BufferControl, Dimension, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from hermes.cli.repl.draw import Pen

_MARK = "› "
_ROOMY = 12
"""From so many rows on a blank line stands over the input."""
_STYLE = Style.from_dict(
    {
        "mark": "bold ansigreen",
        "status": "noreverse ansibrightblack",
        "completion-menu": "noreverse",
        "completion-menu.completion": "bg:default default",
        "completion-menu.completion.current": "reverse bg:default default",
        "completion-menu.meta.completion": "bg:default ansibrightblack",
        "completion-menu.meta.completion.current": "reverse bg:default ansibrightblack",
        "auto-suggestion": "ansibrightblack",
    }
)
_PLAIN = Style.from_dict(
    {
        "status": "noreverse",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion.current": "reverse",
        "auto-suggestion": "italic",
    }
)


class Screen:
    """The terminal. `live` gives the lines of what is under way, `status` the last line, for a width."""

    def __init__(
        self,
        buffer: Buffer,
        keys: KeyBindings,
        live: Callable[[Pen], list[str]],
        status: Callable[[int], str],
        *,
        colour: bool = True,
    ) -> None:
        self._colour = colour
        self._live = live
        self._status = status
        self.app: Application[None] = Application(
            layout=Layout(self._rows(buffer)),
            key_bindings=keys,
            style=_STYLE if colour else _PLAIN,
            color_depth=ColorDepth.DEPTH_4_BIT if colour else ColorDepth.DEPTH_1_BIT,
            output=terminal_output(),
            erase_when_done=True,
            min_redraw_interval=0.03,
            enable_page_navigation_bindings=False,
        )
        self.app.ttimeoutlen = 0.1
        self.ready = asyncio.Event()
        """Keys are read as keys: until then the terminal itself takes Enter for the end of a line."""
        self.app.after_render += lambda _: self.ready.set()

    @property
    def pen(self) -> Pen:
        """A pen for the terminal as wide as it is now."""
        return Pen(self.app.output.get_size().columns, self._colour)

    def above(self, lines: Iterable[str]) -> None:
        """Put lines into the part that scrolls, over what stands at the bottom."""
        text = "".join(f"{line}\r\n" for line in lines)
        if not text:
            return
        if self.app.is_running:
            self.app.renderer.erase()
        self.app.output.write_raw(text)
        self.app.output.flush()
        self.app.invalidate()

    def raw(self, sequence: str) -> None:
        """Tell the terminal something that is not shown."""
        self.app.output.write_raw(sequence)
        self.app.output.flush()

    def redraw(self) -> None:
        self.app.invalidate()

    def _rows(self, buffer: Buffer) -> HSplit:
        status = FormattedTextControl(lambda: [("class:status", self._status(self._columns()))])
        return HSplit(
            [
                Window(FormattedTextControl(self._shown), dont_extend_height=True, height=self._live_height),
                Window(
                    BufferControl(buffer),
                    get_line_prefix=_prefix,
                    wrap_lines=True,
                    dont_extend_height=True,
                    height=Dimension(min=1, max=12),
                ),
                CompletionsMenu(max_height=8),
                Window(status, height=1, dont_extend_height=True),
            ]
        )

    def _columns(self) -> int:
        return self.app.output.get_size().columns

    def _lines(self) -> list[str]:
        rows = self.app.output.get_size().rows
        return [*self._live(self.pen)[-max(rows // 2, 1) :], *([""] if rows >= _ROOMY else [])]

    def _shown(self) -> AnyFormattedText:
        return ANSI("\n".join(self._lines()))

    def _live_height(self) -> Dimension:
        return Dimension.exact(len(self._lines()))


def _prefix(line: int, wrapped: int) -> AnyFormattedText:
    return [("class:mark", _MARK if line == 0 and wrapped == 0 else "  ")]


def terminal_output() -> Output:
    """The terminal; it is not asked where its cursor stands, since many are slow to say or never do."""
    if sys.platform == "win32":
        from prompt_toolkit.output import create_output

        return create_output()
    from prompt_toolkit.output.vt100 import Vt100_Output

    output = Vt100_Output.from_pty(sys.stdout)
    output.enable_cpr = False
    return output
