"""What the keys do. Everything else is as in readline."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from hermes.frozen import frozen

HELP = """\
Enter sends, and while the agent works it queues the next message.
Alt-Enter or Ctrl-J  a new line
Ctrl-C               stops the agent; at the input clears it, twice leaves
Ctrl-D               leaves, when the input is empty
Ctrl-S               says what is in the input to the agent while it works (so does >> in front)
Ctrl-O               the whole result of the last tool (/expand N: of the Nth)
Tab, @               completes commands, their arguments, and files after an @
Up, Ctrl-R           what was typed before"""


@frozen
class Actions:
    """What a conversation does for a key. `asks` tells whether a question waits."""

    send: Callable[[], None]
    steer: Callable[[], None]
    stop: Callable[[], None]
    leave: Callable[[], None]
    expand: Callable[[], None]
    paste: Callable[[str], str]
    move: Callable[[int], None]
    unanswered: Callable[[], None]
    asks: Callable[[], bool]


def key_bindings(actions: Actions) -> KeyBindings:
    keys = KeyBindings()
    asks = Condition(actions.asks)

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        actions.send()

    @keys.add("escape", "enter")
    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(actions.paste(event.data))

    @keys.add("c-c")
    @keys.add(Keys.SIGINT)
    def _(event: KeyPressEvent) -> None:
        actions.stop()

    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        buffer.delete() if buffer.text else actions.leave()

    @keys.add("c-s")
    def _(event: KeyPressEvent) -> None:
        actions.steer()

    @keys.add("c-o")
    def _(event: KeyPressEvent) -> None:
        actions.expand()

    @keys.add("c-l")
    def _(event: KeyPressEvent) -> None:
        event.app.renderer.clear()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add("up", filter=asks)
    @keys.add("down", filter=asks)
    def _(event: KeyPressEvent) -> None:
        actions.move(-1 if event.key_sequence[0].key == Keys.Up else 1)

    @keys.add("escape", filter=asks)
    def _(event: KeyPressEvent) -> None:
        actions.unanswered()

    return keys
