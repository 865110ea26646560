"""Picking one of many: a list that narrows as one types."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.output import ColorDepth

from hermes.cli.repl.screen import terminal_output
from hermes.cli.repl.status import fit
from hermes.cli.screen import plain
from hermes.frozen import frozen


@frozen
class Choice:
    """One of the many: what it stands for, and the line that is shown."""

    value: str
    line: str


async def pick(title: str, choices: Sequence[Choice]) -> str:
    """Let the person pick one; "" when they leave without."""
    picker = _Picker(title, choices)
    return await picker.app.run_async()


class _Picker:
    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        self._title = title
        self._choices = choices
        self._at = 0
        self._wanted = Buffer(on_text_changed=lambda _: self._move(-self._at))
        self.app: Application[str] = Application(
            layout=Layout(
                HSplit(
                    [
                        Window(FormattedTextControl(self._shown), dont_extend_height=True),
                        Window(BufferControl(self._wanted), height=1, get_line_prefix=lambda *_: "› "),
                    ]
                )
            ),
            key_bindings=self._keys(),
            color_depth=ColorDepth.DEPTH_1_BIT,
            output=terminal_output(),
            erase_when_done=True,
        )
        self.app.ttimeoutlen = 0.1

    def _matching(self) -> list[Choice]:
        words = self._wanted.text.lower().split()
        return [c for c in self._choices if all(w in c.line.lower() for w in words)]

    def _shown(self) -> StyleAndTextTuples:
        size = self.app.output.get_size()
        found, most = self._matching(), max(size.rows - 4, 1)
        first = max(0, min(self._at - most // 2, len(found) - most))
        lines: StyleAndTextTuples = [("bold", fit(self._title, size.columns) + "\n")]
        for n, choice in enumerate(found[first : first + most], first):
            mark, style = ("❯ ", "reverse") if n == self._at else ("  ", "")
            lines.append((style, fit(mark + plain(choice.line), size.columns) + "\n"))
        if not found:
            lines.append(("", "  nothing has these words\n"))
        return [*lines[:-1], (lines[-1][0], lines[-1][1].rstrip("\n"))]

    def _move(self, by: int) -> None:
        self._at = max(0, min(self._at + by, len(self._matching()) - 1))

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("up")
        def _(event: KeyPressEvent) -> None:
            self._move(-1)

        @keys.add("down")
        def _(event: KeyPressEvent) -> None:
            self._move(1)

        @keys.add("pageup")
        def _(event: KeyPressEvent) -> None:
            self._move(-10)

        @keys.add("pagedown")
        def _(event: KeyPressEvent) -> None:
            self._move(10)

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            found = self._matching()
            event.app.exit(result=found[self._at].value if found else "")

        @keys.add("escape")
        @keys.add("c-c")
        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(result="")

        return keys
