"""A turn on the screen: its events become lines above, and what is under way stands below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hermes.cli.repl.calls import Calls
from hermes.cli.repl.draw import Pen
from hermes.cli.repl.stream import Block, Stream
from hermes.messages import Message
from hermes.provenance import Notice
from hermes.text import many
from hermes.turns import (
    AnswerRestarted,
    Event,
    NoticeShown,
    PromptProgress,
    ReasoningShown,
    TextShown,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)

_COLOURS = {"info": "cyan", "warning": "yellow", "error": "bold red"}
_ENDINGS = {
    "max_turns": "out of steps (agent.max_turns); say go on to go on",
    "length": "the answer is longer than a model may give at once; say go on to get the rest",
    "refused": "the model refused to answer",
}


class Show:
    """Turns events into lines. `above` takes those that are finished; `pen` draws for the present width."""

    def __init__(self, pen: Callable[[], Pen], above: Callable[[Iterable[str]], None]) -> None:
        self.calls = Calls()
        self._pen = pen
        self._above = above
        self._stream = Stream()
        self._thought = ""
        self._reason = ""
        self._reading = ""
        self._drawn: tuple[tuple[str, Pen] | None, list[str]] = (None, [])
        self._told: set[Notice] = set()

    def event(self, event: Event) -> None:
        match event:
            case TextShown(text):
                self._thought = ""
                self._blocks(self._stream.feed(text))
            case ReasoningShown(text):
                self._thought = (self._thought + text)[-500:]
            case PromptProgress(read, total):
                self._reading = f"reading the prompt: {read:,} of {total:,} tokens" if read < total else ""
            case ToolStarted(call):
                self._whole()
                self.calls.begin(call)
            case ToolFinished():
                self._above(self.calls.end(event, self._pen()))
            case ToolProgress(_, text):
                self._above(self._pen().styled([(f"  {text}", "dim")], fold=True))
            case AnswerRestarted(reason):
                self._whole()
                self._restarted(reason)
            case NoticeShown(notice):
                self._whole()
                self.notice(notice)
            case TurnEnded(_, _, _, reason):
                self._whole()
                self._reason = ""
                if reason in _ENDINGS:
                    self._above(self._pen().styled([(f"({_ENDINGS[reason]})", "yellow")], fold=True))

    def _restarted(self, reason: str) -> None:
        """A call that is made again; what was told already is not told word for word once more."""
        same, self._reason = reason == self._reason, reason
        told = "once more" if same else f"{reason}; the answer begins anew"
        self._above(self._pen().styled([(told, "dim" if same else "yellow")], fold=True))

    def stopped(self) -> None:
        """The turn was stopped: what was said until then stays on the screen."""
        self._whole()
        self.calls.running.clear()
        self._above(self._pen().styled([("Stopped; what was said is kept.", "yellow")], fold=True))

    def notice(self, notice: Notice) -> None:
        """A notice, the same one only once."""
        if notice in self._told and notice.level != "error":
            return
        self._told.add(notice)
        label = (f"{notice.level}: ", _COLOURS[notice.level])
        self._above(self._pen().styled([label, (notice.text, "")], fold=True))

    def person(self, text: str) -> None:
        """What the person said, as it is sent."""
        lines = text.split("\n")
        pen = self._pen()
        first, *rest = pen.text("\n".join(lines[:6]), "bold", "  ")
        self._above(["", f"› {first.removeprefix('  ')}", *rest])
        if len(lines) > 6:
            self._above(pen.styled([(f"  … {many(len(lines) - 6, 'more line')}", "dim")]))

    def recap(self, messages: Sequence[Message]) -> None:
        """Where a conversation was left: the last words of the person, and the last answer."""
        for role, tell in (("user", self.person), ("assistant", self._said_before)):
            text = next((m.text for m in reversed(messages) if m.role == role and m.text), "")
            if text:
                tell(text)

    def _said_before(self, text: str) -> None:
        self._blocks([*self._stream.feed(text), *self._stream.finish()])

    def answer(self, text: str) -> None:
        """What a command answers."""
        self._above(self._pen().text(text))

    def live(self, pen: Pen) -> list[str]:
        """What is under way: the block that grows, the last thought, the tools that run."""
        lines = list(self.calls.lines(pen))
        if self._stream.pending.strip():
            lines = [*self._growing(pen), *lines]
        elif self._reading:
            lines = [*pen.styled([(self._reading, "dim")]), *lines]
        elif self._thought:
            lines = [*pen.styled([("… " + self._thought[-200:].replace("\n", " "), "dim italic")]), *lines]
        return lines

    def _growing(self, pen: Pen) -> list[str]:
        if self._drawn[0] != (self._stream.pending, pen):
            self._drawn = (self._stream.pending, pen), ["", *pen.markdown(self._stream.pending)]
        return self._drawn[1]

    def _whole(self) -> None:
        self._thought = self._reading = ""
        self._blocks(self._stream.finish())

    def _blocks(self, blocks: list[Block]) -> None:
        pen = self._pen()
        for block in blocks:
            self._above([*([] if block.joined else [""]), *pen.markdown(block.text)])
