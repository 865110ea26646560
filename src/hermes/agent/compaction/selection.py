"""Which messages stay word for word when a conversation is summarised. Pure: messages in, messages out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from hermes.frozen import frozen
from hermes.messages import Annex, Message
from hermes.prompts import prompt_text

SUMMARY = "summary"
"""The kind of annex that holds an account; a message that has one is no message of the person's."""

LOADS_SKILLS = "skill_view"
LONG = 4000
"""Characters of a tool result that may be shortened when room is short."""

Size = Callable[[Message], int]


@frozen
class Selection:
    """A conversation in four parts. `cut` is what an account takes the place of.

    `asked` is the person's last message where it is older than the tail: it is kept, after the account.
    """

    head: tuple[Message, ...]
    cut: tuple[Message, ...]
    asked: tuple[Message, ...]
    tail: tuple[Message, ...]

    @property
    def kept(self) -> tuple[Message, ...]:
        return (*self.head, *self.asked, *self.tail)

    def around(self, account: Message) -> tuple[Message, ...]:
        """The conversation with the account in the place of what was cut."""
        return (*self.head, account, *self.asked, *self.tail)


def select(
    messages: Sequence[Message], *, keep_head: int, keep_tail: int, tail_size: int, size: Size
) -> Selection | None:
    """What stays and what goes; None when nothing would go that is not an account already.

    The tail is the last `keep_tail` messages as far as they fit in `tail_size`, and always the last step:
    an assistant's calls and their results are never parted.
    """
    steps = list(steps_of(messages))
    start = _tail_start(steps, keep_tail, tail_size, size)
    old = [m for step in steps[:start] for m in step]
    tail = tuple(m for step in steps[start:] for m in step)
    asked = _asked(old, tail)
    head = _head([s for s in steps[:start] if not is_account(s[0])], keep_head, asked)
    kept = {id(m) for m in (*head, *asked)}
    cut = tuple(m for m in old if id(m) not in kept)
    return Selection(head, cut, asked, tail) if tail and not all(map(is_account, cut)) else None


def steps_of(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """The messages in runs that belong together: tool results go with the message before them."""
    run: list[Message] = []
    for message in messages:
        if run and message.role != "tool":
            yield tuple(run)
            run = []
        run.append(message)
    if run:
        yield tuple(run)


def is_account(message: Message) -> bool:
    """Whether a message is an account of older ones."""
    return any(annex.kind == SUMMARY for annex in message.annex)


def shortened(message: Message) -> Message:
    """A long tool result as its beginning and end; any other message, and a skill, as it is.

    What is left of it stands in an annex: the clean text is that of the message it comes from, once.
    """
    length = len(message.text)
    if message.role != "tool" or message.name == LOADS_SKILLS or length <= LONG:
        return message
    first, last = LONG * 7 // 10, LONG * 2 // 10
    note = prompt_text("compaction_shortened").format(left_out=length - first - last, length=length)
    text = f"{message.text[:first]}\n{note}\n{message.text[-last:]}"
    return replace(message, text="", annex=(Annex("shortened", text, "before"), *message.annex))


def _tail_start(steps: Sequence[tuple[Message, ...]], keep_tail: int, tail_size: int, size: Size) -> int:
    start, kept, used = len(steps), 0, 0
    while start > 0 and not is_account(steps[start - 1][0]):
        step = steps[start - 1]
        kept += len(step)
        used += sum(map(size, step))
        if start < len(steps) and (kept > keep_tail or used > tail_size):
            break
        start -= 1
    return start


def _asked(old: Sequence[Message], tail: Sequence[Message]) -> tuple[Message, ...]:
    if any(m.role == "user" for m in tail):
        return ()
    said = [m for m in old if m.role == "user" and not is_account(m)]
    return (said[-1],) if said else ()


def _head(
    steps: Sequence[tuple[Message, ...]], keep_head: int, asked: tuple[Message, ...]
) -> tuple[Message, ...]:
    head: list[Message] = []
    for step in steps:
        if len(head) >= keep_head or any(step[0] is m for m in asked):
            break
        head += step
    return tuple(head)
