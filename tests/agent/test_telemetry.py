"""Spans and metrics of real sessions: in memory, and over HTTP to a receiver on this machine."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from hermes.agent.extensions import Extensions
from hermes.agent.telemetry import Telemetry
from hermes.agent.telemetry_export import telemetry_of
from hermes.config import Config
from hermes.config.records import TelemetryConfig
from hermes.messages import ToolCall
from hermes.sessions.sqlite import SqliteStore
from hermes.turns import ToolStarted, TurnRequest
from tests.agent.talk import failing, make_tool
from tests.providers.loopback import Reply
from tests.wire.rig import Rig
from tests.world import make_home, sources, write


class Seen:
    """What was recorded, once it was looked at."""

    def __init__(self, content: bool = False) -> None:
        self.spans, self.numbers = InMemorySpanExporter(), InMemoryMetricReader()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        meters = MeterProvider([self.numbers], shutdown_on_exit=False)
        self.telemetry = Telemetry(tracers, meters, content)

    def named(self, begin: str) -> list[ReadableSpan]:
        return [s for s in self.spans.get_finished_spans() if s.name.startswith(begin)]

    def points(self, name: str) -> list[Any]:
        data = self.numbers.get_metrics_data()
        assert data is not None
        metrics = data.resource_metrics[0].scope_metrics[0].metrics
        return [point for m in metrics if m.name == name for point in m.data.data_points]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_turn_is_a_span_with_its_calls_and_tools(tmp_path: Path) -> None:
    seen = Seen()

    async def scene(rig: Rig) -> None:
        rig.agent.extensions = Extensions(telemetry=seen.telemetry)
        await rig.say("Look it up.")
        await rig.say()

    replies = (
        Reply(calls=(ToolCall("c1", "look", "{}"), ToolCall("c2", "fail", "{}"))),
        "Done.",
        "Done again.",
    )
    tools = (make_tool("look", lambda: "seen"), make_tool("fail", failing()))
    entries = Rig(tmp_path, replies=replies, tools=tools).play(scene)
    turns, calls, ran = seen.named("invoke_agent"), seen.named("chat "), seen.named("execute_tool")
    assert [s.name for s in ran] == ["execute_tool look", "execute_tool fail"]
    assert [s.status.status_code for s in ran] == [StatusCode.UNSET, StatusCode.ERROR]
    assert len(turns) == 2
    assert {c.parent.span_id for c in (*calls[:2], *ran) if c.parent} == {turns[0].context.span_id}
    assert calls[2].parent and calls[2].parent.span_id == turns[1].context.span_id
    told = [attributes(c) for c in calls]
    assert (
        [t["hermes.cache.verdict"] for t in told]
        == [e.verdict.cause for e in entries]
        == ["first", "hit", "hit"]
    )
    for entry, t in zip(entries, told, strict=True):
        usage = entry.wire.usage
        assert t["gen_ai.usage.input_tokens"] == usage.input
        assert t["gen_ai.usage.cache_read.input_tokens"] == usage.cache_read
        assert t["gen_ai.usage.cache_creation.input_tokens"] == usage.cache_write
        assert t["gen_ai.operation.name"] == "chat"
    digests = attributes(turns[0])["hermes.prompt.sections"]
    assert any(d.startswith("stable/identity ") for d in digests)
    whole = json.dumps([attributes(s) for s in (*turns, *calls, *ran)], default=list)
    assert "Rule 7" not in whole and "Look it up" not in whole  # no texts unless they are asked for


def test_a_miss_is_named_with_its_source(tmp_path: Path) -> None:
    seen = Seen()

    async def scene(rig: Rig) -> None:
        rig.agent.extensions = Extensions(telemetry=seen.telemetry)
        await rig.say()
        soul = Path(rig.home.soul)
        write(soul, soul.read_text(encoding="utf-8").replace("Rule 7:", "Rule seven:"))
        await rig.agent.refresh()
        await rig.say()

    Rig(tmp_path).play(scene)
    miss = attributes(seen.named("chat ")[1])
    assert (miss["hermes.cache.verdict"], miss["hermes.epoch.reason"]) == ("changed", "refresh")
    assert miss["hermes.cache.source"].endswith("SOUL.md:9")
    (missed,) = seen.points("hermes.cache.missed")
    assert missed.value == miss["hermes.cache.missed_tokens"] > 0
    assert missed.attributes["hermes.cache.verdict"] == "changed"
    assert miss["hermes.cache.missed_cost_usd"] > 0
    kinds = {p.attributes["gen_ai.token.type"]: p.count for p in seen.points("gen_ai.client.token.usage")}
    assert kinds == {"input": 2, "output": 2}
    (took,) = seen.points("gen_ai.client.operation.duration")
    assert took.count == 2


def test_texts_come_only_when_asked_for_and_without_secrets(tmp_path: Path) -> None:
    seen = Seen(content=True)
    key = "sk-proj-Zk3v9Qm2Lx8Rt5Wp7Yc1Nd4Hb6Jf0Gs"

    async def scene(rig: Rig) -> None:
        rig.agent.extensions = Extensions(telemetry=seen.telemetry)
        await rig.say(f"My key is {key}.")

    Rig(tmp_path).play(scene)
    told = attributes(seen.named("chat ")[0])
    asked = json.loads(told["gen_ai.input.messages"])
    assert asked[0]["role"] == "user" and "My key is [hidden secret" in asked[0]["parts"][0]["content"]
    assert "Rule 7" in told["gen_ai.system_instructions"]
    assert json.loads(told["gen_ai.output.messages"])[0]["parts"] == [{"type": "text", "content": "Aye."}]
    assert key not in json.dumps(told, default=list)


def test_a_turn_that_is_cancelled_ends_its_spans(tmp_path: Path) -> None:
    seen = Seen()

    async def scene(rig: Rig) -> None:
        rig.agent.extensions = Extensions(telemetry=seen.telemetry)
        events = rig.agent.run(TurnRequest("go"))
        async for event in events:
            if isinstance(event, ToolStarted):
                break
        await events.aclose()

    Rig(
        tmp_path, replies=(Reply(calls=(ToolCall("c1", "wait", "{}"),)),), tools=(make_tool("wait", forever),)
    ).play(scene)
    (tool,) = seen.named("execute_tool")
    assert attributes(tool)["error.type"] == "cancelled"
    assert len(seen.named("invoke_agent")) == 1


async def forever() -> str:
    await asyncio.Event().wait()
    return ""


@contextmanager
def receiver() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """An OTLP/HTTP receiver."""
    got: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append((self.path, gzip.decompress(body) if self.headers.get("content-encoding") else body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", got
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def one_turn(folder: Path, telemetry: Telemetry) -> None:
    async def scene(rig: Rig) -> None:
        rig.agent.extensions = Extensions(telemetry=telemetry)
        await rig.say()
        await rig.agent.extensions.close()

    Rig(folder).play(scene)


def test_spans_and_metrics_reach_a_receiver(tmp_path: Path) -> None:
    with receiver() as (url, got):
        config = replace(Config(), telemetry=TelemetryConfig(True, url))
        one_turn(tmp_path, telemetry_of(config))
    traces = [ExportTraceServiceRequest.FromString(body) for path, body in got if path == "/v1/traces"]
    numbers = [ExportMetricsServiceRequest.FromString(body) for path, body in got if path == "/v1/metrics"]
    names = [s.name for t in traces for r in t.resource_spans for scope in r.scope_spans for s in scope.spans]
    assert sorted(names) == ["chat claude-sonnet-4-5", "invoke_agent hermes"]
    sent = [
        m.name
        for n in numbers
        for r in n.resource_metrics
        for scope in r.scope_metrics
        for m in scope.metrics
    ]
    assert {"gen_ai.client.token.usage", "gen_ai.client.operation.duration"} <= set(sent)


def test_a_receiver_that_is_away_is_told(tmp_path: Path) -> None:
    with receiver() as (url, _):
        pass
    telemetry = telemetry_of(replace(Config(), telemetry=TelemetryConfig(True, url)))
    one_turn(tmp_path, telemetry)
    told = [n.text for n in telemetry.told()]
    assert f"telemetry: spans could not be sent to {url}/v1/traces" in told
    assert telemetry.told() == ()


def test_it_is_off_unless_it_is_switched_on(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    store = SqliteStore(str(tmp_path / "sessions.db"))
    assert Extensions.of(sources(home), store).telemetry is None
    asyncio.run(store.close())
