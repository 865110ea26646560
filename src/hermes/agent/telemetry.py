"""OpenTelemetry: a span for each turn, call of the model and tool, with what the prompt cache made of it.

Names are those of the GenAI conventions; ours begin with `hermes.`. Off by default. Texts are left out unless
they are asked for. Imported, with the SDK, only where it is switched on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from hermes.messages import Message, ModelRequest
from hermes.provenance import Notice, Origin, digest_of
from hermes.security.secrets import hide_secrets
from hermes.turns import Event, NoticeShown, ToolFinished, ToolStarted, TurnEnded
from hermes.version import __version__

if TYPE_CHECKING:
    from hermes.agent.session import Session
    from hermes.contracts import ModelProfile
    from hermes.prompt import SystemPrompt
    from hermes.sessions.records import CallRecord
    from hermes.wire.verdict import Verdict

SCOPE = "hermes"
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
Attributes = Mapping[str, Any]


@dataclass(slots=True)
class Telemetry:
    """Where spans and metrics go. `content` adds the texts; `failures` are those of the exporters so far."""

    tracers: trace.TracerProvider
    meters: metrics.MeterProvider
    content: bool = False
    shut: Callable[[], object] = tuple
    failures: list[str] = field(default_factory=list)
    _tracer: trace.Tracer = field(init=False)
    _tokens: metrics.Histogram = field(init=False)
    _seconds: metrics.Histogram = field(init=False)
    _missed: metrics.Counter = field(init=False)

    def __post_init__(self) -> None:
        self._tracer = self.tracers.get_tracer(SCOPE, __version__)
        meter = self.meters.get_meter(SCOPE, __version__)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens of a call, by kind",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="How long a call took",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._missed = meter.create_counter(
            "hermes.cache.missed",
            unit="{token}",
            description="Tokens that were cached before and were paid for again, by cause",
        )

    async def watch(
        self, events: AsyncGenerator[Event, None], session: Session, profile: ModelProfile
    ) -> AsyncGenerator[Event, None]:
        """The events of a turn as they come, and spans of them."""
        turn = _Turn(self, session, profile)
        session.witness = turn.called
        try:
            async with aclosing(events):
                async for event in events:
                    turn.event(event)
                    yield event
        finally:  # the witness stays: a call between turns belongs to the last
            turn.end()

    def told(self) -> tuple[Notice, ...]:
        """What a person must know of what could not be sent; each failure once."""
        failures, self.failures[:] = tuple(dict.fromkeys(self.failures)), ()
        return tuple(Notice("warning", f"telemetry: {text}", Origin("telemetry")) for text in failures)

    async def close(self) -> None:
        """Send what is left, for some seconds at most."""
        await asyncio.to_thread(self.shut)

    def count(self, common: Attributes, call: CallRecord, seconds: float, verdict: Verdict | None) -> None:
        usage = call.usage
        for kind, tokens in (("input", usage.input), ("output", usage.output)):
            self._tokens.record(tokens, {**common, "gen_ai.token.type": kind})
        self._seconds.record(seconds, common)
        if verdict is not None and verdict.missed:
            self._missed.add(verdict.missed, {**common, "hermes.cache.verdict": verdict.cause})

    def span(self, name: str, kind: SpanKind, context: Context | None, start: int | None = None) -> Span:
        return self._tracer.start_span(name, context, kind, start_time=start)


class _Turn:
    """The spans of one turn."""

    def __init__(self, telemetry: Telemetry, session: Session, profile: ModelProfile) -> None:
        self._telemetry, self._session = telemetry, session
        self._span = telemetry.span("invoke_agent hermes", SpanKind.INTERNAL, None)
        self._context = trace.set_span_in_context(self._span)
        self._tools: dict[str, Span] = {}
        self._span.set_attributes(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "hermes",
                "gen_ai.provider.name": profile.provider or "unknown",
                "gen_ai.request.model": profile.name,
                "gen_ai.conversation.id": session.record.id,
                **prompt_attributes(session.prompt),
            }
        )

    def event(self, event: Event) -> None:
        match event:
            case ToolStarted(call):
                span = self._telemetry.span(f"execute_tool {call.name}", SpanKind.INTERNAL, self._context)
                span.set_attributes(
                    {
                        "gen_ai.operation.name": "execute_tool",
                        "gen_ai.tool.name": call.name,
                        "gen_ai.tool.call.id": call.id,
                        "gen_ai.tool.type": "function",
                    }
                )
                if self._telemetry.content:
                    span.set_attribute("gen_ai.tool.call.arguments", hide_secrets(call.arguments)[0])
                self._tools[call.id] = span
            case ToolFinished(call, result, error) if call.id in self._tools:
                span = self._tools.pop(call.id)
                if self._telemetry.content:
                    span.set_attribute("gen_ai.tool.call.result", hide_secrets(result)[0])
                if error:
                    span.set_attribute("error.type", "tool_error")
                    span.set_status(Status(StatusCode.ERROR))
                span.end()
            case NoticeShown(notice) if notice.level != "info":
                self._span.add_event("hermes.notice", {"level": notice.level})
            case TurnEnded(reason=reason, usage=usage):
                self._span.set_attributes({"hermes.turn.ended": reason, **usage_attributes(usage)})
                if reason == "failed":
                    self._span.set_status(Status(StatusCode.ERROR))

    def called(
        self, call: CallRecord, request: ModelRequest, profile: ModelProfile, verdict: Verdict | None
    ) -> None:
        """A call was answered just now."""
        start = datetime.fromisoformat(call.started)
        name, begun = f"chat {profile.name}", _nanoseconds(start)
        span = self._telemetry.span(name, SpanKind.CLIENT, self._context, begun)
        common = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": profile.provider or "unknown",
            "gen_ai.request.model": profile.name,
        }
        if call.model:
            common["gen_ai.response.model"] = call.model
        span.set_attributes(
            {
                **common,
                "gen_ai.conversation.id": self._session.record.id,
                "gen_ai.request.max_tokens": request.max_tokens,
                "gen_ai.response.finish_reasons": [call.stop],
                "hermes.call": call.n,
                "hermes.epoch": call.epoch,
                **usage_attributes(call.usage),
                **_cache_attributes(call, request, verdict),
            }
        )
        if call.request_id:
            span.set_attribute("gen_ai.response.id", call.request_id)
        if self._telemetry.content:
            span.set_attributes(content_attributes(request, self._session.visible[-1:]))
        span.end()
        seconds = (self._session.clock() - start).total_seconds()
        self._telemetry.count(common, call, seconds, verdict)

    def end(self) -> None:
        for span in self._tools.values():
            span.set_attribute("error.type", "cancelled")
            span.end()
        self._span.end()


def usage_attributes(usage: Any) -> Attributes:
    """Tokens; those of the input count cached ones."""
    return {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
    }


def prompt_attributes(prompt: SystemPrompt) -> Attributes:
    """The digests of the frozen prompt, its tiers and its sections; no text."""
    sections = [f"{s.tier}/{s.slot} {digest_of(s.text)[:16]}" for s in prompt.sections if s.text]
    tiers = {f"hermes.prompt.{layer.tier}.digest": layer.digest for layer in prompt.layers}
    return {"hermes.prompt.digest": prompt.digest, **tiers, "hermes.prompt.sections": sections}


def _cache_attributes(call: CallRecord, request: ModelRequest, verdict: Verdict | None) -> Attributes:
    found: dict[str, Any] = {
        "hermes.cache.forecast": call.forecast,
        "hermes.cache.predicted_tokens": call.predicted,
        "hermes.cache.marks": [at for at, _ in call.inserts],
    }
    if request.epoch:
        found["hermes.epoch.reason"] = request.epoch
    if verdict is not None:
        found |= {"hermes.cache.verdict": verdict.cause, "hermes.cache.missed_tokens": verdict.missed}
        if verdict.cost is not None:
            found["hermes.cache.missed_cost_usd"] = verdict.cost
        if verdict.difference is not None and verdict.difference.source:
            found["hermes.cache.source"] = verdict.difference.source
    return found


def content_attributes(request: ModelRequest, answer: Sequence[Message]) -> Attributes:
    """The texts of a call as JSON, as the conventions have them; secrets hidden."""
    tools = [{"type": "function", "name": t.name, "description": t.description} for t in request.tools]
    system = [{"type": "text", "content": text} for text in request.system if text]
    told = {
        "gen_ai.system_instructions": system,
        "gen_ai.input.messages": [_told(m) for m in request.messages],
        "gen_ai.output.messages": [_told(m) for m in answer],
        "gen_ai.tool.definitions": tools,
    }
    return {name: hide_secrets(json.dumps(value, ensure_ascii=False))[0] for name, value in told.items()}


def _told(message: Message) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if message.role == "tool":
        parts.append({"type": "tool_call_response", "id": message.call_id, "response": message.sent})
    elif message.sent:
        parts.append({"type": "text", "content": message.sent})
    parts += [
        {"type": "tool_call", "id": c.id, "name": c.name, "arguments": c.arguments}
        for c in message.tool_calls
    ]
    return {"role": message.role, "parts": parts}


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000) * 1_000_000
