"""One turn: say, hear, act, until the answer is there. Emits events; knows no screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace

from hermes.agent.bookkeeping import call_record
from hermes.agent.compaction import Compactor
from hermes.agent.dispatch import Guard, Step, no_guard, run_calls
from hermes.agent.guard import price_of
from hermes.agent.overlays import PRESSURE
from hermes.agent.session import STOPPED, Session
from hermes.agent.subdirectory_hints import Conversation, Hinted
from hermes.bulkhead import behind_bulkhead
from hermes.contracts import Model, ModelProfile
from hermes.errors import ModelError
from hermes.frozen import frozen
from hermes.messages import (
    Annex,
    Completed,
    Message,
    PromptRead,
    ReasoningDelta,
    Restarted,
    TextDelta,
    ToolCall,
    Usage,
)
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Origin
from hermes.tooling import Tool, ToolContext, ToolError
from hermes.turns import (
    AnswerRestarted,
    Event,
    NoticeShown,
    PromptProgress,
    ReasoningShown,
    TextShown,
    TurnEnded,
)


@frozen
class Limits:
    """`max_turns`: calls of the model in a turn, before the one grace call. `pressure`: of the window."""

    max_turns: int = 90
    pressure: float = 0.8
    repeats: int = 3
    max_tokens: int = 8192


def limits_for(profile: ModelProfile, max_turns: int) -> Limits:
    """The limits of a model: in a small window an answer leaves room for what was said before."""
    if not profile.small or profile.context_window is None:
        return Limits(max_turns)
    return Limits(max_turns, max_tokens=min(Limits().max_tokens, profile.context_window // 8))


Hints = Callable[[Conversation, ToolCall, Message], Hinted]
"""What is to be said of the places a call went to: to the model with its result, and to the person."""


def no_hints(conversation: Conversation, call: ToolCall, result: Message) -> Hinted:  # noqa: ARG001
    return Hinted()


@dataclass(slots=True)
class Turn:
    """A turn under way. `steering` gives what the person has said meanwhile; it is drained between steps."""

    session: Session
    model: Model
    tools: Mapping[str, Tool]
    context: ToolContext
    limits: Limits = field(default_factory=Limits)
    steering: Callable[[], Sequence[str]] = tuple
    hints: Hints = no_hints
    compactor: Compactor | None = None
    guard: Guard = no_guard
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    _failed: tuple[str, str] = ("", "")
    _failures: int = 0
    _too_long: ModelError | None = None

    async def run(self, *said: Message) -> AsyncGenerator[Event, None]:
        """Everything that happens from what was said to the final answer.

        Stopping the iteration, or cancelling the task, leaves a session that can go on: what was said is
        kept, a running call is recorded as interrupted and never run again by itself.
        """
        for message in said:
            self.session.append(message)
        while True:
            answer: Completed | None = None
            async with aclosing(self._hear()) as events:
                async for event in events:
                    if isinstance(event, Completed):
                        answer = event
                    else:
                        yield event
            if answer is None or (ending := self._ending(answer)):
                reason, text = ("failed", "") if answer is None else (ending, answer.message.text)
                async for event in self._ended(reason, text):
                    yield event
                return
            async with aclosing(self._act(answer.message.tool_calls)) as events:
                async for event in events:
                    yield event
            for text in self.steering():
                self.session.append(Message("user", text))

    def _ending(self, answer: Completed) -> str:
        """Why the turn is over with this answer; "" when it asks for tools that are to be run."""
        if not answer.message.tool_calls:
            return {"length": "length", "refused": "refused"}.get(answer.stop, "done")
        if self.calls <= self.limits.max_turns:
            return ""
        self._refuse(answer.message.tool_calls)  # even the grace call asked for more
        return "max_turns"

    async def _hear(self) -> AsyncGenerator[Event | Completed, None]:
        """An answer of the model, with room made for it where there is little, or was too little."""
        self._too_long = None
        for part in (self._make_room, self._ask, self._ask_shorter):
            async with aclosing(part()) as events:
                async for event in events:
                    yield event

    async def _make_room(self) -> AsyncGenerator[Event | Completed, None]:
        """Have the conversation summarised when it is due, or when a request was too long."""
        compactor, forced = self.compactor, self._too_long is not None
        if compactor is None or not (forced or compactor.due(self.session, self.model.profile)):
            return
        try:
            async with aclosing(compactor.run(self.session, self.model, forced=forced)) as events:
                async for event in events:
                    if isinstance(event, Completed):
                        self.usage = self.usage.plus(event.usage)
                    else:
                        yield event
        except (asyncio.CancelledError, GeneratorExit):
            self._stopped([])
            await asyncio.shield(self.session.save())
            raise

    async def _ask_shorter(self) -> AsyncGenerator[Event | Completed, None]:
        """Once more after a request that was too long, when a summary has made it shorter."""
        if (error := self._too_long) is None:
            return
        epoch = self.session.record.epoch
        async with aclosing(self._make_room()) as events:
            async for event in events:
                yield event
        if self.session.record.epoch == epoch:
            self._stopped([])
            yield NoticeShown(Notice("error", str(error), Origin("model", self.model.profile.name)))
            return
        async with aclosing(self._ask()) as events:
            async for event in events:
                yield event

    async def _ask(self) -> AsyncGenerator[Event | Completed, None]:
        """One call of the model; its answer is appended. A failure is told and ends the turn."""
        codec, profile = self.model.codec, self.model.profile
        self.session.speak_with(profile, codec)
        request = self.session.request(codec, profile, self.limits.max_tokens)
        self.session.asked(request, codec, profile)
        for notice in await self.session.keep():  # what is sent is stored before it is sent
            yield NoticeShown(notice)
        started = self.session.clock().isoformat(timespec="milliseconds")
        heard: list[str] = []
        self.calls += 1
        try:
            async with aclosing(self.model.stream(request)) as stream:
                async for event in stream:
                    match event:
                        case TextDelta(text):
                            heard.append(text)
                            yield TextShown(text)
                        case ReasoningDelta(text):
                            yield ReasoningShown(text)
                        case PromptRead(read, total):
                            yield PromptProgress(read, total)
                        case Restarted(reason, _, another):
                            heard.clear()
                            if another:
                                now = self.session.clock()
                                price = price_of(self.session, profile, now, self.model.profile)
                                reason += f" What that adds: {price}." if price.tokens else ""
                                codec, profile = self.model.codec, self.model.profile
                                self.session.speak_with(profile, codec)
                                request = self.session.request(codec, profile, self.limits.max_tokens)
                            yield AnswerRestarted(reason)
                        case Completed():
                            self.session.append(event.message)
                            self.usage = self.usage.plus(event.usage)
                            self.session.called(request, codec, profile, call_record(event, started))
                            yield event
        except ModelError as error:
            if error.kind == "context" and self.compactor and not heard and self._too_long is None:
                self._too_long = error
                return
            self._stopped(heard)
            yield NoticeShown(Notice("error", str(error), Origin("model", profile.name)))
        except (asyncio.CancelledError, GeneratorExit):
            if not self.session.visible[-1].tool_calls and self.session.visible[-1].role != "assistant":
                self._stopped(heard)
            await asyncio.shield(self.session.save())
            raise

    def _stopped(self, heard: list[str]) -> None:
        """The turn of the assistant still ends, so that roles keep taking turns."""
        text = "".join(heard)
        self.session.append(Message("assistant", f"{text}\n\n{STOPPED}".strip()))

    async def _act(self, calls: tuple[ToolCall, ...]) -> AsyncGenerator[Event, None]:
        """Run the calls of one answer; one result for each is appended, whatever happens."""
        if any(c.name in self.tools and self.tools[c.name].effects for c in calls):
            for notice in await self.session.keep():  # what is about to act outside is on record first
                yield NoticeShown(notice)
        step, context = Step.of(calls), replace(self.context, spent=self._spent)
        try:
            async with aclosing(run_calls(step, self.tools, context, self.guard)) as events:
                async for event in events:
                    yield event
        except (asyncio.CancelledError, GeneratorExit):
            for result in step.messages():
                self.session.append(result)
            self._stopped([])
            await asyncio.shield(self.session.save())
            raise
        results = step.messages()
        told: list[Notice] = []
        for i, (call, result) in enumerate(zip(calls, results, strict=True)):
            notes = self._notes(call, result, told)
            if i + 1 == len(results):
                notes += self._pressure()
            self.session.append(replace(result, annex=(*result.annex, *notes)) if notes else result)
        for notice in told:
            yield NoticeShown(notice)

    def _spent(self, usage: Usage) -> None:
        self.usage = self.usage.plus(usage)

    def _notes(self, call: ToolCall, result: Message, told: list[Notice]) -> list[Annex]:
        """What rides on a result: hints of the folders it entered, and a word when it keeps failing."""
        same = (call.name, call.arguments)
        self._failures = (self._failures + 1 if same == self._failed else 1) if result.error else 0
        self._failed = same if result.error else ("", "")
        seen = Conversation(self.session.prompt, self.session.visible, lambda: self._stands(call))
        hinted, failed = behind_bulkhead("the hints", lambda: self.hints(seen, call, result), Hinted())
        told += (*hinted.notices, *failed)
        notes = list(hinted.annexes)
        if self._failures >= self.limits.repeats:
            notes.append(
                Annex("repeated failure", prompt_text("notes/repeated").format(times=self._failures))
            )
        return notes

    def _stands(self, call: ToolCall) -> str:
        """The directory in which a call has left its shell; "" when it has none."""
        tool = self.tools.get(call.name)
        if tool is None or tool.plan is None:
            return ""
        with suppress(ToolError):
            return tool.plan(self.context, **tool.read(call.arguments)).cwd
        return ""

    def _pressure(self) -> list[Annex]:
        """Words about what runs out: the steps of this turn, the context window."""
        notes = []
        window = self.model.profile.context_window
        if window and PRESSURE not in self.session.standing:
            percent = 100 * self.session.last_input // window
            if percent >= 100 * self.limits.pressure:
                notes.append(Annex("pressure", prompt_text("notes/pressure").format(percent=percent)))
                self.session.stand({**self.session.standing, PRESSURE: str(percent)})
        if self.calls == self.limits.max_turns:
            notes.append(Annex("budget", str(prompt_text("notes/budget"))))
        return notes

    def _refuse(self, calls: tuple[ToolCall, ...]) -> None:
        for call in calls:
            self.session.append(
                Message(
                    "tool", str(prompt_text("notes/refused")), call_id=call.id, name=call.name, error=True
                )
            )
        self._stopped([])

    async def _ended(self, reason: str, text: str = "") -> AsyncGenerator[Event, None]:
        for notice in await self.session.keep():
            yield NoticeShown(notice)
        yield TurnEnded(text, self.usage, self.calls, reason)  # type: ignore[arg-type]
