"""Conversations and requests that the tests of the wires share."""

from __future__ import annotations

from hypothesis import strategies as st

from hermes.messages import Annex, Message, ModelRequest, ToolCall, ToolSpec
from hermes.providers.profiles import profile_for

OPENAI = profile_for("gpt-4o", "openai")
OPENAI_POINTS = profile_for("gpt-5.6", "openai")
ROUTED = profile_for("anthropic/claude-sonnet-4.5", "openrouter")
STRICT = profile_for("qwen3-8b", "ollama")
CLAUDE = profile_for("claude-sonnet-4-5", "anthropic")

TOOLS = (
    ToolSpec("read_file", "Read a file.", '{"type":"object","properties":{"path":{"type":"string"}}}'),
    ToolSpec(
        "terminal", "Run a command.", '{"type":"object","properties":{"cache_control":{"type":"string"}}}'
    ),
)
SYSTEM = ("You are Hermes.", "# Project Context\n\nUse pytest.", "Current time: 2026-03-30")

TALK = (
    Message("user", "Look at it. ", annex=(Annex("clock", "It is 14:30."), Annex("recall", "Ann", "before"))),
    Message(
        "assistant",
        "I look.",
        tool_calls=(ToolCall("c1", "read_file", '{"path": "a.py"}'), ToolCall("c2", "terminal", '{"bad')),
        reasoning="First the file.",
    ),
    Message("tool", "print('hé')\n", call_id="c1", name="read_file"),
    Message("tool", "", call_id="c2", name="terminal", error=True),
    Message("user", "And \ud83d now?"),
    Message("assistant", "", tool_calls=(ToolCall("c3", "terminal", ""),)),
    Message("tool", "ok", call_id="c3", name="terminal"),
    Message("system", "A skill was added."),
    Message("assistant", "Done."),
)


def request(messages: tuple[Message, ...] = TALK, **fields: object) -> ModelRequest:
    values: dict[str, object] = {"model": "m-1", "system": SYSTEM, "tools": TOOLS, "messages": messages}
    return ModelRequest(**(values | fields))  # type: ignore[arg-type]


_text = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["", " ", "\ud83d", '","cache_control":{"type":"ephemeral"}']
)
_arguments = st.sampled_from(
    ["", "{}", '{"a": 1}', '{"a"', "[1]", "NaN", '{"x": "\\ud83d"}', '{"cache_control":{"type":"ephemeral"}}']
)


@st.composite
def steps(draw: st.DrawFn) -> tuple[Message, ...]:
    """What is appended between two calls of a model: an answer with the results of its calls, then words."""
    said: list[Message] = []
    if draw(st.booleans()):
        calls = tuple(
            ToolCall(f"c{n}", draw(st.sampled_from(["read_file", "terminal"])), draw(_arguments))
            for n in range(draw(st.integers(0, 3)))
        )
        said.append(Message("assistant", draw(_text), tool_calls=calls, reasoning=draw(_text)))
        said += [Message("tool", draw(_text), call_id=call.id, error=draw(st.booleans())) for call in calls]
    for _ in range(draw(st.integers(0, 2))):
        annex = tuple(
            Annex("clock", draw(_text), draw(st.sampled_from(["before", "after"])))
            for _ in range(draw(st.integers(0, 2)))
        )
        said.append(Message(draw(st.sampled_from(["user", "user", "system"])), draw(_text), annex=annex))
    return tuple(said)


talks = st.lists(steps(), max_size=5)
"""Conversations, as the steps in which they were sent."""
