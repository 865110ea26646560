"""A model that says what it is told to: deterministic, offline, strict about the bytes it is sent.

It speaks through a real codec, keeps every body, answers with the usage that the provider's cache would
have reported, and fails when a request does not begin with the whole of the one before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import replace

from hermes.contracts import CacheRules, Codec, ModelProfile
from hermes.errors import ModelError
from hermes.fragments import Fragments
from hermes.frozen import frozen
from hermes.messages import (
    Completed,
    Message,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCall,
    Trace,
)
from hermes.providers.accounting import BYTES_PER_TOKEN, BadMarks, PromptCache, common_length
from hermes.providers.cache_marks import (
    Frame,
    MarkPolicy,
    mark_places,
    place_marks,
    with_puts,
)
from hermes.providers.openai_chat import OpenAiChat

PROFILE = ModelProfile(
    name="scripted-1",
    provider="scripted",
    family="scripted",
    context_window=200_000,
    output_limit=8192,
    cache=CacheRules(kind="prefix", minimum_tokens=1024, step=128),
)


class BrokenPrefix(ModelError, AssertionError):
    """A request moved bytes that were already sent, and no epoch had ended."""


@frozen
class Step:
    """One answer. `gate` is waited for before the first word; `error` is raised after the last one.

    The text comes in pieces of `piece` characters. Without `stop` the reason is what the calls make it.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    opaque: str = ""
    stop: StopReason | None = None
    error: ModelError | None = None
    gate: asyncio.Event | None = None
    piece: int = 40

    @property
    def message(self) -> Message:
        return Message(
            "assistant", self.text, tool_calls=self.calls, reasoning=self.reasoning, opaque=self.opaque
        )


Answer = Step | str | Callable[[ModelRequest], Step | str]
"""A step, its text alone, or what makes one from the request."""


def call(name: str, arguments: str = "{}", call_id: str = "") -> ToolCall:
    """A tool call for a step; without an id it gets one from its name."""
    return ToolCall(call_id or f"call_{name}", name, arguments)


class ScriptedModel:
    """A model that takes its answers from a script, one for each call, in order.

    `bodies` are the canonical bodies, without marks; `sent` those with marks, as they would go out;
    `keep=False` keeps neither. `clock` gives the seconds by which cache entries age. `check=False` lets
    a request move what was sent. Sessions are told apart by `session_id`.
    """

    def __init__(
        self,
        script: Iterable[Answer],
        *,
        profile: ModelProfile = PROFILE,
        codec: Codec = OpenAiChat(),  # noqa: B008 - it is a value
        clock: Callable[[], float] = lambda: 0.0,
        policy: MarkPolicy = MarkPolicy(),  # noqa: B008
        check: bool = True,
        keep: bool = True,
    ) -> None:
        self.profile = profile
        self.codec = codec
        self.requests: list[ModelRequest] = []
        self.bodies: list[bytes] = []
        self.sent: list[bytes] = []
        self.closed = False
        self._script = iter(script)
        self._cache = PromptCache(profile.cache, clock)
        self._policy = policy
        self._check = check
        self._keep = keep
        self._last: dict[str, bytes] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer with the next step. BrokenPrefix when the request moves bytes that were sent."""
        body, sent, marks = self._serialise(request)
        self._compare(request, body)
        self._last[request.session_id] = body.removesuffix(self.codec.tail(request, self.profile))
        if self._keep:
            self.requests.append(request)
            self.bodies.append(body)
            self.sent.append(sent)
        step = self._next(request)
        if step.gate is not None:
            await step.gate.wait()
        if step.error is not None and not step.text:
            raise step.error
        try:
            usage = self._cache.answer(sent)
        except BadMarks as error:
            raise ModelError(f"scripted: {error}", kind="request", status=400) from None
        if step.reasoning:
            yield ReasoningDelta(step.reasoning)
        for at in range(0, len(step.text), step.piece):
            yield TextDelta(step.text[at : at + step.piece])
        if step.error is not None:
            raise step.error
        spoken = len((step.text + step.reasoning + "".join(c.arguments for c in step.calls)).encode())
        usage = replace(usage, output=spoken // BYTES_PER_TOKEN)
        stop = step.stop or ("tool_calls" if step.calls else "end")
        yield Completed(step.message, usage, stop, model=request.model, trace=Trace(marks))

    async def close(self) -> None:
        self.closed = True

    def _serialise(self, request: ModelRequest) -> tuple[bytes, bytes, tuple[tuple[int, str], ...]]:
        fragments = Fragments.of(
            request.fragments or self.codec.fragments(tuple(request.messages), self.profile)
        )
        frame = Frame.of(self.codec, request, self.profile)
        marks = place_marks(frame, fragments, self.profile, self._policy)
        places = mark_places(frame, fragments, marks)
        body = [*frame.head, *fragments.joined(), self.codec.tail(request, self.profile)]
        return b"".join(body), b"".join(with_puts(body, places)), places

    def _compare(self, request: ModelRequest, body: bytes) -> None:
        before = self._last.get(request.session_id, b"")
        if not self._check or request.epoch or body.startswith(before):
            return
        at = common_length(before, body)
        raise BrokenPrefix(
            f"byte {at:,} of the request differs from the one before, of {len(before):,} bytes, and no epoch "
            f"had ended: {before[max(at - 60, 0) : at + 60]!r} became {body[max(at - 60, 0) : at + 60]!r}",
            kind="request",
        )

    def _next(self, request: ModelRequest) -> Step:
        answer = next(self._script, None)
        if answer is None:
            raise ModelError("scripted: the script has no more answers; give it one more", kind="request")
        if callable(answer):
            answer = answer(request)
        return Step(answer) if isinstance(answer, str) else answer
