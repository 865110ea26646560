"""Asking the person."""

from __future__ import annotations

from hermes.tooling import ToolContext, ToolError, tool
from hermes.turns import Question

MOST = 9
MAX_CHARS = 4_000


@tool(effects=False)
async def clarify(context: ToolContext, question: str, choices: list[str] | None = None) -> str:
    """Put a question to the person; see clarify.md."""
    offered = tuple(dict.fromkeys(choice.strip() for choice in choices or () if choice.strip()))
    if not question.strip():
        raise ToolError("the question is empty; ask one")
    if len(offered) > MOST or len(question) + sum(map(len, offered)) > MAX_CHARS:
        raise ToolError(
            f"at most {MOST} choices, and {MAX_CHARS:,} characters in all; ask a shorter question"
        )
    answer = await context.ask(Question("clarify", question.strip(), offered))
    if not answer.strip():
        return (
            "[nobody can be asked here, or nobody answered: "
            "take the choice you think best, and say in your answer that you took it]"
        )
    return f"The user answers: {answer.strip()}"
