"""One scene for each way in which a prompt cache is lost, and what the verdict on its last call must say."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from hermes.agent.bookkeeping import call_record
from hermes.contracts import Codec, ModelProfile
from hermes.messages import Annex, Completed, Message, ModelRequest, ToolCall, ToolSpec
from hermes.prompt import Section, SystemPrompt, Tier
from hermes.provenance import Origin, Passage
from hermes.providers.anthropic import AnthropicMessages
from hermes.providers.cache_marks import MarkPolicy
from hermes.tooling import Tool, ToolContext
from tests.providers.loopback import Reply
from tests.wire.rig import CLAUDE, GPT, OPUS, POINTS, Rig

Scene = Callable[[Rig], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and the verdict: its cause, where it differs first, how, and from which source."""

    name: str
    scene: Scene
    cause: str
    where: str = ""
    how: str = ""
    source: str = ""
    profile: ModelProfile = CLAUDE
    soul: str = ""
    replies: tuple[Reply, ...] = ()


def spec(name: str, schema: dict[str, Any] | None = None) -> ToolSpec:
    return ToolSpec(name, f"The tool {name}.", json.dumps(schema or {"type": "object", "properties": {}}))


def tool(name: str, schema: dict[str, Any] | None = None) -> Tool:
    async def run(context: ToolContext, **arguments: Any) -> str:
        return "done"

    return Tool(spec(name, schema), run)


WORDS = "So it was said, and so it was done, before anybody knew. " * 20
PROPERTIES = {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}}
TOOLS = (tool("alpha"), tool("beta", PROPERTIES), tool("gamma"))


# -- what changes the system text --------------------------------------------------------------------------


def with_plugin(prompt: SystemPrompt, time: str) -> SystemPrompt:
    """The prompt with a section of a plugin that tells the time."""
    path = "/plugins/clock/clock.md"
    text = Passage.quote(
        f"Be on time.\nNow it is {time}.\nBe brief.", Origin("plugin", path, trust="third_party")
    )
    sections = [s for s in prompt.sections if s.slot != "plugin: clock"]
    sections.insert(1, Section.of("plugin: clock", Tier.STABLE, text))
    return SystemPrompt.of(sections, prompt.key)


async def clock_in_a_plugin(rig: Rig) -> None:
    await rig.say()
    rig.session.prompt = with_plugin(rig.session.prompt, "14:30:07")
    await rig.say()
    rig.session.prompt = with_plugin(rig.session.prompt, "14:31:52")
    await rig.say()


def edited(path: str, old: str, new: str) -> Scene:
    async def scene(rig: Rig) -> None:
        await rig.say()
        await rig.say()
        rig.edit(path, old, new)
        await rig.agent.refresh()
        await rig.say()

    return scene


# -- what changes the list of tools ------------------------------------------------------------------------


def retooled(change: Callable[[tuple[ToolSpec, ...]], tuple[ToolSpec, ...]]) -> Scene:
    async def scene(rig: Rig) -> None:
        await rig.say()
        await rig.say()
        rig.session.tools = change(rig.session.tools)
        await rig.say()

    return scene


def redescribed(tools: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    return (tools[0], replace(tools[1], description="The tool beta, connected."), tools[2])


def reordered_schema(tools: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    properties = {"limit": {"type": "integer"}, "path": {"type": "string"}}
    return (tools[0], spec("beta", {"type": "object", "properties": properties}), tools[2])


# -- what changes messages ---------------------------------------------------------------------------------


def rewritten(change: Callable[[list[Message]], list[Message]], codec: Codec | None = None) -> Scene:
    """The history is sent in another form, as by a hook that edits it, or a codec that writes it anew."""

    async def scene(rig: Rig) -> None:
        await rig.say(f"Look at it.  \nThen tell. {WORDS}")
        rig.session.append(Message("user", "Read it.", annex=(Annex("recall", "Ann likes tea."),)))
        call = ToolCall("c1", "beta", '{"path":"a","limit":1}')
        rig.session.append(Message("assistant", "", tool_calls=(call,)))
        rig.session.append(Message("tool", "[image: AAAA]", call_id="c1", name="beta"))
        rig.session.append(Message("assistant", "Aye."))
        await rig.say(f"What is it? {WORDS}")
        messages = change(list(rig.session.visible))
        rig.session.new_epoch("a hook", rig.session.prompt, messages)
        if codec is not None:
            model = rig.model(rig.profile)
            model.codec = codec
            await rig.use(model)
        await rig.say()

    return scene


def edit(number: int, **changes: Any) -> Callable[[list[Message]], list[Message]]:
    def change(messages: list[Message]) -> list[Message]:
        messages[number] = replace(messages[number], **changes)
        return messages

    return change


def same(messages: list[Message]) -> list[Message]:
    return messages


def one_gone(messages: list[Message]) -> list[Message]:
    return [*messages[:2], *messages[6:]]


class Rewriting(AnthropicMessages):
    """A codec that writes the same messages in other bytes."""

    __slots__ = ("_new", "_old")

    def __init__(self, old: bytes, new: bytes) -> None:
        super().__init__()
        object.__setattr__(self, "_old", old)
        object.__setattr__(self, "_new", new)

    def fragments(
        self, messages: tuple[Message, ...], profile: ModelProfile, after: str = ""
    ) -> tuple[bytes, ...]:
        made = AnthropicMessages.fragments(self, messages, profile, after)
        return tuple(f.replace(self._old, self._new) for f in made)


def with_image(data: str) -> bytes:
    source = {"type": "base64", "media_type": "image/png", "data": data * 400}
    return json.dumps({"type": "image", "source": source}, separators=(",", ":")).encode()


PLACE = b'See the picture."}'


async def an_image_is_encoded_anew(rig: Rig) -> None:
    for data in ("iVBORw0KGgo", "iVBORw0KGgp"):
        model = rig.model(CLAUDE)
        model.codec = Rewriting(old=PLACE, new=PLACE + b"," + with_image(data))
        await rig.use(model)
        if rig.agent.session:
            rig.session.new_epoch("images are kept smaller", rig.session.prompt, rig.session.visible)
        await rig.say("See the picture.")


async def summarised(rig: Rig) -> None:
    await rig.say(WORDS)
    await rig.say()
    session = rig.session
    summary = session.append(Message("user", "What was said: little."))
    session.new_epoch("the conversation was summarised", session.prompt, [summary])
    await rig.say()


# -- models and settings -----------------------------------------------------------------------------------


def switched(profile: ModelProfile) -> Scene:
    async def scene(rig: Rig) -> None:
        await rig.say()
        await rig.say()
        await rig.use(rig.model(profile))
        await rig.say()

    return scene


class Thinking(AnthropicMessages):
    """A codec that asks for thinking."""

    def tail(self, request: ModelRequest, profile: ModelProfile) -> bytes:
        thinking = b',"thinking":{"type":"enabled","budget_tokens":2048}}'
        return AnthropicMessages.tail(self, request, profile)[:-1] + thinking


async def thinking_is_switched_on(rig: Rig) -> None:
    await rig.say()
    await rig.say()
    model = rig.model(CLAUDE)
    model.codec = Thinking()
    await rig.use(model)
    await rig.say()


async def another_cache_key(rig: Rig) -> None:
    await rig.say()
    await rig.say()
    rig.server.serve_from("fp_1b")
    prompt, texts, _ = rig.session._opening
    rig.session._opening = prompt, texts, "another"
    rig.server.worker = "fp_1"  # it does not tell
    await rig.say()


# -- time and place ----------------------------------------------------------------------------------------


def paused(seconds: float, ttl: str = "") -> Scene:
    async def scene(rig: Rig) -> None:
        await rig.use(rig.model(CLAUDE, MarkPolicy(prompt=ttl, messages=ttl)))
        await rig.say()
        await rig.say()
        rig.wait(seconds)
        await rig.say()

    return scene


async def another_worker(rig: Rig) -> None:
    await rig.say()
    await rig.say()
    rig.server.serve_from("fp_2")
    await rig.say()


async def another_version(rig: Rig) -> None:
    await rig.say()
    await rig.say()
    rig.server.cache.forget()
    rig.server.models = ("scripted-2",)
    await rig.say()


async def evicted(rig: Rig) -> None:
    await rig.say()
    await rig.say()
    rig.server.cache.forget()
    await rig.say()


async def never_cached(rig: Rig) -> None:
    await rig.say()
    rig.server.cache.forget()
    await rig.say()


async def started_together(rig: Rig) -> None:
    """Two questions beside the conversation begin before either is answered."""
    rig.server.cache.latency = 5.0
    session, codec = await rig.agent._hold(), rig.agent.model.codec
    question = Message("user", f"Which is it? {WORDS}")
    for answer in ("left", "right"):
        request = session.aside((0, 0), (question, Message("user", answer)), codec, rig.profile)
        async with aclosing(rig.agent.model.stream(request)) as events:
            *_, done = [event async for event in events]
        assert isinstance(done, Completed)
        done = replace(done, trace=replace(done.trace, first=5000))
        started = session.clock().isoformat()
        session.called_aside(request, codec, rig.profile, call_record(done, started))
        rig.wait(0.2)
    await session.save()


# -- marks -------------------------------------------------------------------------------------------------

MARK = rb',"cache_control":\{[^}]*\}'


def proxied(strip: Callable[[bytes], bytes]) -> Scene:
    async def scene(rig: Rig) -> None:
        await rig.say()
        await rig.say()
        rig.server.proxy = strip
        await rig.say(WORDS)

    return scene


def no_marks(body: bytes) -> bytes:
    return re.sub(MARK, b"", body)


def no_newest_mark(body: bytes) -> bytes:
    found = list(re.finditer(MARK, body))
    return body[: found[-1].start()] + body[found[-1].end() :]


async def marks_switched_off(rig: Rig) -> None:
    await rig.use(rig.model(CLAUDE, MarkPolicy(send=False)))
    await rig.say()
    await rig.say()


async def a_long_turn_without_a_mark_between(rig: Rig) -> None:
    """The newest mark alone is sent, as by a client that does not know of the look-back."""
    await rig.say()
    model = rig.model(CLAUDE)
    model.codec = AnthropicMessages()
    place = model._body

    def newest_only(request: ModelRequest) -> tuple[list[bytes], tuple[tuple[int, str], ...]]:
        body, marks = place(request)
        return body, marks[-1:]

    model._body = newest_only  # type: ignore[method-assign]
    await rig.use(model)
    await rig.say()
    for n in range(12):
        rig.session.append(Message("user", f"Also {n}."))
        rig.session.append(Message("assistant", "Yes."))
    await rig.say()


async def short(rig: Rig) -> None:
    await rig.say()
    await rig.say()


async def nothing_reported(rig: Rig) -> None:
    await rig.say()
    await rig.say()


SILENT = Reply(
    body={
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "scripted-1",
        "content": [{"type": "text", "text": "Aye."}],
        "stop_reason": "end_turn",
    }
)
SOUL = "SOUL.md:9"
SEVEN = edited("home/SOUL.md", "Rule 7:", "Rule seven:")
WIDER = edited("home/SOUL.md", "Rule 7: say", "Rule 7:  say")
STRIPPED = edit(0, text=f"Look at it.\nThen tell. {WORDS}")
SWAPPED = edit(3, tool_calls=(ToolCall("c1", "beta", '{"limit":1,"path":"a"}'),))
FIRST = "message 1 (user), line 3"
KEYS = Rewriting(old=b'"id":"c1","name":"beta"', new=b'"name":"beta","id":"c1"')
FAULTS = (
    Fault("a clock in a plugin", clock_in_a_plugin, "changed", "system", "a clock", "clock.md:2"),
    Fault("identity edited", SEVEN, "changed", "system", "edited", SOUL),
    Fault("identity edited", SEVEN, "changed", "system", "edited", SOUL, GPT),
    Fault("identity edited", SEVEN, "changed", "system", "edited", SOUL, POINTS),
    Fault("white space in it", WIDER, "changed", "system", "white space", SOUL),
    Fault(
        "project rules edited",
        edited("project/AGENTS.md", "make lint", "make all"),
        "changed",
        "system",
        "edited",
        "AGENTS.md:2",
    ),
    Fault(
        "memory edited",
        edited("home/memories/MEMORY.md", "nvim", "emacs"),
        "changed",
        "system",
        "edited",
        "MEMORY.md:3",
    ),
    Fault(
        "tools in another order",
        retooled(lambda t: (t[1], t[0], t[2])),
        "changed",
        "tools",
        "another order",
        "tool beta",
    ),
    Fault("a tool added", retooled(lambda t: (*t, spec("delta"))), "changed", "tools", "added", "tool delta"),
    Fault("a tool gone", retooled(lambda t: (t[0], t[2])), "changed", "tools", "removed", "tool beta"),
    Fault(
        "a tool described anew",
        retooled(redescribed),
        "changed",
        "tools",
        "edited",
        "tool beta: description",
    ),
    Fault(
        "keys of a schema moved",
        retooled(reordered_schema),
        "changed",
        "tools",
        "key order",
        "tool beta: input_schema",
    ),
    Fault(
        "keys of a schema moved",
        retooled(reordered_schema),
        "changed",
        "tools",
        "key order",
        "tool beta: parameters",
        GPT,
    ),
    Fault("history edited", rewritten(edit(0, text="Gaze.")), "changed", "messages", "edited", FIRST),
    Fault("white space stripped", rewritten(STRIPPED), "changed", "messages", "white space", FIRST),
    Fault("white space stripped", rewritten(STRIPPED), "changed", "messages", "white space", FIRST, GPT),
    Fault("messages gone", rewritten(one_gone), "changed", "messages", "edited", "message 3 (user), line 1"),
    Fault(
        "recall taken out",
        rewritten(edit(2, annex=())),
        "changed",
        "messages",
        "cut short",
        "message 3 (user), line 1",
    ),
    Fault(
        "arguments in another order",
        rewritten(SWAPPED),
        "changed",
        "messages",
        "key order",
        "message 4 (assistant), line 1",
    ),
    Fault(
        "keys of a message moved",
        rewritten(same, KEYS),
        "changed",
        "messages",
        "key order",
        "message 4 (assistant), line 1",
    ),
    Fault(
        "an image encoded anew",
        an_image_is_encoded_anew,
        "changed",
        "messages",
        "an image",
        "message 1 (user)",
    ),
    Fault("a summary", summarised, "changed", "messages", "edited", "message 1 (user), line 1"),
    Fault("another model", switched(OPUS), "changed", "model", "another model"),
    Fault("another provider", switched(GPT), "changed", "model", "another model"),
    Fault("thinking switched on", thinking_is_switched_on, "changed", "settings", "another value"),
    Fault("a pause of six minutes", paused(360), "expired"),
    Fault("a pause of two hours", paused(7200, "1h"), "expired"),
    Fault("marks stripped by a proxy", proxied(no_marks), "mark"),
    Fault("one mark stripped by a proxy", proxied(no_newest_mark), "mark"),
    Fault("marks switched off", marks_switched_off, "mark"),
    Fault("a long turn", a_long_turn_without_a_mark_between, "look-back"),
    Fault("too short", short, "minimum", soul="Be brief.\n"),
    Fault("started together", started_together, "race"),
    Fault("another worker", another_worker, "route", profile=GPT),
    Fault("another cache key", another_cache_key, "route", profile=GPT),
    Fault("another version of the model", another_version, "route"),
    Fault("dropped by the provider", evicted, "evicted", profile=GPT),
    Fault("dropped, or another worker", evicted, "unknown"),
    Fault("a cache that never shows", never_cached, "unknown", profile=GPT),
    Fault("nothing reported", nothing_reported, "unknown", replies=(SILENT, SILENT)),
)
