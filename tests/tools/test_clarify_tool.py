"""clarify: the question reaches the person, the answer the model."""

from __future__ import annotations

import asyncio
import json

import pytest

from hermes.tooling import ToolContext, ToolError
from hermes.tools.clarify_tool import clarify
from hermes.turns import Question


def ask(said: str | None, **arguments: object) -> tuple[str, list[Question]]:
    asked: list[Question] = []

    async def person(question: Question) -> str:
        asked.append(question)
        return said or ""

    context = ToolContext() if said is None else ToolContext(ask=person)
    return asyncio.run(clarify.call(json.dumps(arguments), context)), asked


def test_a_question_with_choices() -> None:
    answer, asked = ask(
        "the second\n", question=" Which? ", options=["the first", "the second", "the first", " "]
    )
    assert answer == "The user answers: the second"
    assert asked == [Question("clarify", "Which?", ("the first", "the second"))]


def test_where_nobody_answers_the_model_is_told_what_to_do() -> None:
    for said in (None, ""):
        assert ask(said, question="Which?")[0].startswith(
            "[nobody can be asked here, or nobody answered: take"
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"question": " "}, "the question is empty"),
        ({}, "needs the argument 'question'"),
        ({"question": "?", "choices": [str(n) for n in range(10)]}, "at most 9 choices"),
        ({"question": "x" * 5000}, "a shorter question"),
    ],
)
def test_a_wrong_question_is_answered(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ToolError, match=said):
        ask("x", **arguments)
