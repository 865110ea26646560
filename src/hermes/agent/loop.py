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
from hermes.agent.result_notes import Hints, ResultNotes, no_hints
from hermes.agent.session import STOPPED, Session
from hermes.contracts import Codec, Model, ModelProfile
from hermes.errors import ModelError, StoreError
from hermes.frozen import frozen
from hermes.messages import (
    Annex,
    Completed,
    Message,
    ModelRequest,
    PromptRead,
    ReasoningDelta,
    Restarted,
    TextDelta,
    ToolCall,
    Usage,
)
from hermes.prompts import prompt_text
from hermes.provenance import Notice, Origin
from hermes.tooling import Tool, ToolContext
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
    """`max_turns`: calls of the model in a turn, before the one grace call. `pressure`: of the window.

    After `repeats` equal outcomes of the same call the model is told; after twice as many failures the turn
    is asked to end.
    """

    max_turns: int = 90
    pressure: float = 0.8
    repeats: int = 3
    max_tokens: int = 8192

    def room(self, profile: ModelProfile) -> int:
        """Tokens that an answer of a model may have: no more than it can write, and in a small window so few
        that there is room for what was said before.
        """
        most = min(self.max_tokens, profile.output_limit or self.max_tokens)
        if profile.small and profile.context_window is not None:
            return min(most, profile.context_window // 8)
        return most


@dataclass(slots=True)
class Turn:
    """A turn under way. `tools` gives those that can be called now: a summary may bring new ones. `steering`
    gives what the person has said meanwhile; it is drained between steps.
    """

    session: Session
    model: Model
    tools: Callable[[], Mapping[str, Tool]]
    context: ToolContext
    limits: Limits = field(default_factory=Limits)
    steering: Callable[[], Sequence[str]] = tuple
    hints: Hints = no_hints
    compactor: Compactor | None = None
    guard: Guard = no_guard
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    _most: int = field(init=False)  # calls before the grace call
    _notes: ResultNotes = field(init=False)
    _heard: list[str] = field(default_factory=list)  # of an answer that is not over
    _step: Step | None = None  # that is under way
    _too_long: ModelError | None = None

    def __post_init__(self) -> None:
        self._most = self.limits.max_turns
        self._notes = ResultNotes(self.session, self.context, self.hints, self.limits.repeats)

    async def run(self, *said: Message, told: Sequence[Notice] = ()) -> AsyncGenerator[Event, None]:
        """Everything that happens from what was said to the final answer; first what the person is `told`.

        Stopping the iteration, or cancelling the task, leaves a session that can go on: what was said is
        kept, a running call is recorded as interrupted and never run again by itself.
        """
        for message in said:
            self.session.append(message)
        try:
            for notice in told:
                yield NoticeShown(notice)
            async with aclosing(self._steps()) as events:
                async for event in events:
                    yield event
        except (asyncio.CancelledError, GeneratorExit):
            self._stop()
            with suppress(StoreError):  # what could not be stored comes with the next step
                await asyncio.shield(self.session.save())
            raise

    async def _steps(self) -> AsyncGenerator[Event, None]:
        """Hear and act, until the answer is there."""
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
                for notice in await self.session.keep():
                    yield NoticeShown(notice)
                yield TurnEnded(text, self.usage, self.calls, reason)  # type: ignore[arg-type]
                return
            async with aclosing(self._act(answer.message.tool_calls)) as acting:
                async for event in acting:
                    yield event
            for said in self.steering():
                self.session.append(Message("user", said))

    def _ending(self, answer: Completed) -> str:
        """Why the turn is over with this answer; "" when it asks for tools that are to be run."""
        if not answer.message.tool_calls:
            return {"length": "length", "refused": "refused"}.get(answer.stop, "done")
        if self.calls <= self._most:
            return ""
        for call in answer.message.tool_calls:  # even the grace call asked for more
            refused = str(prompt_text("notes/refused"))
            self.session.append(Message("tool", refused, call_id=call.id, name=call.name, error=True))
        self._end_early()
        return "max_turns"

    # -- hear ---------------------------------------------------------------------------------------------

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
        async with aclosing(compactor.run(self.session, self.model, forced=forced)) as events:
            async for event in events:
                if isinstance(event, Completed):
                    self.usage = self.usage.plus(event.usage)
                else:
                    yield event

    async def _ask_shorter(self) -> AsyncGenerator[Event | Completed, None]:
        """Once more after a request that was too long, when a summary has made it shorter."""
        if (error := self._too_long) is None:
            return
        epoch = self.session.record.epoch
        async with aclosing(self._make_room()) as events:
            async for event in events:
                yield event
        if self.session.record.epoch == epoch:
            self._end_early()
            yield NoticeShown(Notice("error", str(error), Origin("model", self.model.profile.name)))
            return
        async with aclosing(self._ask()) as events:
            async for event in events:
                yield event

    async def _ask(self) -> AsyncGenerator[Event | Completed, None]:
        """One call of the model; its answer is appended. A failure is told and ends the turn."""
        request, codec, profile = self._request()
        self.session.asked(request, codec, profile)
        for notice in await self.session.keep():  # what is sent is stored before it is sent
            yield NoticeShown(notice)
        started = self.session.clock().isoformat(timespec="milliseconds")
        self.calls += 1
        try:
            async with aclosing(self.model.stream(request)) as stream:
                async for event in stream:
                    match event:
                        case TextDelta(text):
                            self._heard.append(text)
                            yield TextShown(text)
                        case ReasoningDelta(text):
                            yield ReasoningShown(text)
                        case PromptRead(read, total):
                            yield PromptProgress(read, total)
                        case Restarted(reason, _, another):
                            self._heard.clear()
                            if another:
                                reason += self._what_that_adds(profile)
                                request, codec, profile = self._request()
                            yield AnswerRestarted(reason)
                        case Completed():
                            self._heard.clear()
                            self.session.append(event.message)
                            self.usage = self.usage.plus(event.usage)
                            self.session.called(request, codec, profile, call_record(event, started))
                            yield event
        except ModelError as error:
            if error.kind == "context" and self.compactor and not self._heard and self._too_long is None:
                self._too_long = error
                return
            self._end_early()
            yield NoticeShown(Notice("error", str(error), Origin("model", profile.name)))

    def _request(self) -> tuple[ModelRequest, Codec, ModelProfile]:
        """The next request to the model that answers now, which may be another than the last."""
        codec, profile = self.model.codec, self.model.profile
        self.session.speak_with(profile, codec)
        return self.session.request(codec, profile, self.limits.room(profile)), codec, profile

    def _what_that_adds(self, before: ModelProfile) -> str:
        """The price, in words, of another model that takes over in the midst of a call."""
        price = price_of(self.session, before, self.session.clock(), self.model.profile)
        return f" What that adds: {price}." if price.tokens else ""

    # -- act ----------------------------------------------------------------------------------------------

    async def _act(self, calls: tuple[ToolCall, ...]) -> AsyncGenerator[Event, None]:
        """Run the calls of one answer; one result for each is appended."""
        self._step, tools = Step.of(calls), self.tools()
        if any(c.name in tools and tools[c.name].effects for c in calls):
            for notice in await self.session.keep():  # what is about to act outside is on record first
                yield NoticeShown(notice)
        context = replace(self.context, spent=self._spent)
        async with aclosing(run_calls(self._step, tools, context, self.guard)) as events:
            async for event in events:
                yield event
        for notice in self._take(self._step, tools):
            yield NoticeShown(notice)

    def _take(self, step: Step, tools: Mapping[str, Tool]) -> tuple[Notice, ...]:
        """Append the results of a step, with what is to be said beside them; what the person should know."""
        notes, results, self._step = self._notes, step.messages(), None
        for i, (call, result) in enumerate(zip(step.calls, results, strict=True)):
            more = notes.of(call, result, tools.get(call.name))
            if i + 1 == len(results):
                more += notes.of_window(self.model.profile.context_window, self.limits.pressure)
                more += self._of_steps()
            self.session.append(replace(result, annex=(*result.annex, *more)) if more else result)
        told, notes.told = tuple(notes.told), []
        return told

    def _of_steps(self) -> list[Annex]:
        """Words about the end of the steps: they are used up, or it would lead to nothing to go on."""
        if self._notes.hopeless:
            self._most = min(self._most, self.calls)
        return [Annex("budget", str(prompt_text("notes/budget")))] if self.calls == self._most else []

    def _spent(self, usage: Usage) -> None:
        self.usage = self.usage.plus(usage)

    # -- stop ---------------------------------------------------------------------------------------------

    def _stop(self) -> None:
        """End what is open when the turn is stopped: each call has a result, the assistant the last word."""
        last = self.session.visible[-1]
        if last.role == "assistant" and not last.tool_calls:
            return
        if last.role == "assistant":
            for result in (self._step or Step.of(last.tool_calls)).messages():
                self.session.append(result)
        self._end_early()

    def _end_early(self) -> None:
        """The turn of the assistant still ends, so that roles keep taking turns."""
        text, self._heard = "".join(self._heard), []
        self.session.append(Message("assistant", f"{text}\n\n{STOPPED}".strip()))
