"""Where telemetry goes: to the providers of the application around us, or over OTLP/HTTP."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

from hermes.agent.telemetry import Telemetry
from hermes.config import Config
from hermes.version import __version__

TIMEOUT = 2.0
"""Seconds for one export; a receiver that is away costs no more at the end."""


def telemetry_of(config: Config) -> Telemetry:
    """Telemetry as `telemetry:` of config.yaml has it.

    Without an endpoint, that of an application which has set up OpenTelemetry itself; else the usual one, or
    that of the variables `OTEL_EXPORTER_OTLP_…`, which the SDK reads.
    """
    settings = config.telemetry
    around = trace.get_tracer_provider()
    if isinstance(around, TracerProvider) and not settings.endpoint:
        return Telemetry(around, metrics.get_meter_provider(), settings.content)
    _log_where_we_do()
    failures: list[str] = []
    base = settings.endpoint.rstrip("/")
    resource = Resource.create({"service.name": "hermes", "service.version": __version__})
    spans = _Spans(endpoint=f"{base}/v1/traces" if base else None, timeout=TIMEOUT)
    numbers = _Numbers(endpoint=f"{base}/v1/metrics" if base else None, timeout=TIMEOUT)
    spans.failures = numbers.failures = failures
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracers.add_span_processor(BatchSpanProcessor(spans))
    meters = MeterProvider([PeriodicExportingMetricReader(numbers)], resource, shutdown_on_exit=False)

    def shut() -> None:
        tracers.shutdown()
        meters.shutdown()

    return Telemetry(tracers, meters, settings.content, shut, failures)


def _log_where_we_do() -> None:
    """Send what the libraries log to our log, where there is one: the screen gets a notice, not each try."""
    theirs = logging.getLogger("opentelemetry")
    for handler in logging.getLogger("hermes").handlers:
        theirs.propagate = False
        theirs.addHandler(handler)


class _Spans(OTLPSpanExporter):
    """The exporter of spans; what could not be sent is told."""

    failures: list[str]

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        if result is not SpanExportResult.SUCCESS:
            self.failures.append(f"spans could not be sent to {self._endpoint}")
        return result


class _Numbers(OTLPMetricExporter):
    """The exporter of metrics; what could not be sent is told."""

    failures: list[str]

    def export(
        self, metrics_data: MetricsData, timeout_millis: float | None = None, **kwargs: Any
    ) -> MetricExportResult:
        result = super().export(metrics_data, timeout_millis, **kwargs)
        if result is not MetricExportResult.SUCCESS:
            self.failures.append(f"metrics could not be sent to {self._endpoint}")
        return result
