"""A question to the person who sits there: shown above, answered below."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hermes.cli.repl.draw import Pen, looks_like_diff
from hermes.turns import Question


@dataclass(slots=True)
class Pending:
    """A question that waits for its answer. `at` is the choice that is marked, -1 for none.

    An approval marks none by itself: an Enter that was meant for something else must not be a yes.
    """

    question: Question
    answer: asyncio.Future[str]
    at: int

    @classmethod
    def of(cls, question: Question) -> Pending:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        return cls(question, answer, -1 if question.kind == "approval" else 0)

    def move(self, by: int) -> None:
        at = 0 if self.at < 0 and by > 0 else max(self.at, 0) + by
        self.at = at % max(len(self.question.choices), 1)

    def typed(self, text: str) -> str | None:
        """The answer that is meant by what was typed; `None` when it is none."""
        choices = self.question.choices
        said = text.strip()
        if not said:
            return choices[self.at] if choices and self.at >= 0 else None
        if said.isdigit() and 0 < int(said) <= len(choices):
            return choices[int(said) - 1]
        begun = [c for c in choices if c.lower().startswith(said.lower())]
        if len(begun) == 1:
            return begun[0]
        return said

    def give(self, answer: str) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)

    def lines(self, pen: Pen) -> list[str]:
        """What is shown over the input while it waits."""
        shown = pen.styled([("? ", "bold yellow"), (self.question.text, "bold")], fold=True)
        for n, choice in enumerate(self.question.choices):
            marked = n == self.at
            mark = "❯ " if marked else "  "
            shown += pen.styled([(mark, "yellow"), (f"{n + 1}. {choice}", "reverse" * marked)])
        how = "a number, or your own words" if self.question.choices else "your answer"
        return [*shown, *pen.styled([(f"  {how}, then Enter; Esc leaves it unanswered", "dim")], fold=True)]


@dataclass(slots=True)
class Desk:
    """Where questions wait: one is shown, the others queue behind it."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    pending: Pending | None = None

    async def put(self, question: Question) -> str:
        """Show a question and wait; "" when it is left unanswered."""
        async with self.turn:
            self.pending = Pending.of(question)
            try:
                return await self.pending.answer
            finally:
                self.pending = None


def detail_lines(question: Question, pen: Pen) -> list[str]:
    """What there is to look at first, all of it: nobody should say yes to what was cut away."""
    if not question.detail:
        return []
    draw = pen.diff if looks_like_diff(question.detail) else pen.text
    return draw(question.detail, indent="  ")
