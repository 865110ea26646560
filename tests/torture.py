"""What the torture session is made of, for its own process and for the others that go on with it."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import repeat

from hermes.agent.overlays import fenced
from hermes.agent.result_notes import Hints
from hermes.agent.subdirectory_hints import Conversation, Hinted
from hermes.config import load_config
from hermes.contracts import CacheRules, CacheTtl, Codec
from hermes.memory.scope import memory_files
from hermes.messages import Annex, Message, ModelRequest, ToolCall
from hermes.paths import Home
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.openai_chat import OpenAiChat
from hermes.providers.scripted import PROFILE, Answer, ScriptedModel, Step
from hermes.security.policy import Policies
from hermes.tooling import Tool
from hermes.tools.memory_tool import memory_tool
from tests.agent.compaction_world import account
from tests.agent.talk import failing, make_tool

MARKS = CacheRules("marks", 1024, None, 4, 20, (CacheTtl("5m", 1.25, 300), CacheTtl("1h", 2.0, 3600)), 0.1)
OPENAI, ANTHROPIC = OpenAiChat(), AnthropicMessages()


def model_for(wire: str, script: list[Answer] | Answer, provider: str = "scripted") -> ScriptedModel:
    """A model of a wire, with its rules of caching; one answer is given for ever."""
    answers = script if isinstance(script, list) else repeat(script)
    profile = replace(PROFILE, provider=provider)
    codec: Codec = OPENAI
    if wire == "anthropic":
        profile, codec = replace(profile, cache=MARKS), ANTHROPIC
    return ScriptedModel(answers, profile=profile, codec=codec)


def tools_for(home: Home) -> tuple[Tool, ...]:
    """Tools that work and that fail, alone and side by side, and the memory of the home."""
    memory = memory_tool(home, memory_files(load_config(home).memory), Policies())
    takes = ["text"]
    return (
        make_tool("quick", lambda text="": f"quick {text}\n", takes=takes),
        make_tool(
            "together", lambda text="": f"together {text}  ", parallel=True, effects=False, takes=takes
        ),
        make_tool("fails", failing("it broke  "), takes=takes),
        make_tool("skill_view", lambda text="": "", effects=False, takes=takes),
        memory,
    )


class Answers:
    """What the model says: words, or calls of tools good and bad, then words; all by one seed.

    While it is `quiet` it writes no memory.
    """

    def __init__(self, seed: int) -> None:
        self.order = random.Random(seed)
        self.calls = 0
        self.pending = 0
        self.quiet = False

    def __call__(self, request: ModelRequest) -> Step | str:
        if request.session_id.endswith(":aside"):
            return account("It was long.")
        if not self.pending:
            self.pending = self.order.choice([0, 0, 1, 2, 5])
            if not self.pending:
                words = "so it is, and more of it " * 20
                return Step(f"answer {self.calls} {words}" + self.order.choice(["", "  ", "\n", " é"]))
        self.pending -= 1
        if not self.pending:
            return Step("done with the tools ")
        calls = tuple(self._call() for _ in range(self.order.choice([1, 1, 3])))
        return Step(self.order.choice(["", "let me look  "]), calls)

    def _call(self) -> ToolCall:
        self.calls += 1
        names = ["quick", "together", "fails", "skill_view", "unknown", "memory"]
        name = self.order.choice(names[:-1] if self.quiet else names)
        arguments = self.order.choice(
            ["{}", '{"text": "a b "}', '{ "text" : "é" }', "{broken", '{"nope": 1}']
        )
        if name == "memory":
            content = f"the model noted {self.calls}"
            arguments = json.dumps({"action": "add", "target": "memory", "content": content})
        return ToolCall(f"call_{self.calls}", name, arguments)


def hints(order: random.Random) -> Hints:
    """Hints of folders that some calls entered, as the tracker of such hints gives them."""

    def hint(conversation: Conversation, call: ToolCall, result: Message) -> Hinted:
        if order.random() < 0.7:
            return Hinted()
        text = fenced("hint", f"Rules of folder {order.randrange(9)}: be kind.  ")
        return Hinted((Annex("hint", text),))

    return hint
