"""A question to the person who sits there: shown above, answered below."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hermes.cli.repl.draw import Pen, looks_like_diff
from hermes.turns import Question


@dataclass(slots=True)
class Pending:
    """A question that waits for its answer. `at` is the choice that is marked."""

    question: Question
    answer: asyncio.Future[str]
    at: int = 0

    def move(self, by: int) -> None:
        self.at = (self.at + by) % max(len(self.question.choices), 1)

    def typed(self, text: str) -> str | None:
        """The answer that is meant by what was typed; `None` when it is none."""
        choices = self.question.choices
        said = text.strip()
        if not said:
            return choices[self.at] if choices else None
        if said.isdigit() and 0 < int(said) <= len(choices):
            return choices[int(said) - 1]
        begun = [c for c in choices if c.lower().startswith(said.lower())]
        if len(begun) == 1:
            return begun[0]
        return said if self.question.kind == "clarify" else None

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
        kind = "a number, arrows and Enter" if self.question.choices else "type your answer"
        free = ", or your own words" if self.question.choices and self.question.kind == "clarify" else ""
        return [*shown, *pen.styled([(f"  {kind}{free}; Esc leaves it unanswered", "dim")])]


@dataclass(slots=True)
class Desk:
    """Where questions wait: one is shown, the others queue behind it."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    pending: Pending | None = None

    async def put(self, question: Question) -> str:
        """Show a question and wait; "" when it is left unanswered."""
        async with self.turn:
            self.pending = Pending(question, asyncio.get_running_loop().create_future())
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
