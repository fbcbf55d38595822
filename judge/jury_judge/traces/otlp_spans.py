"""Spans as OpenTelemetry's SDK makes them, and their export by OTLP over HTTP. Needs the extra `otel`.

The standard variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`, …) set it up.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from jury_events.errors import InputError, SettingError
from jury_events.scrubbing import known_scrubber
from jury_judge.otlp_answers import NotTaken, OtlpSession, Signal
from jury_judge.traces.span_tree import SpanTree

_KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}
_UNNAMED = "unknown_service"
_HTTP = "http/protobuf"
_TRACES = Signal("TRACES", ExportTraceServiceResponse, ("rejected_spans", "rejectedSpans"))

logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # what fails is reported by the caller


class SpansRefused(InputError):
    """A collector answered, and did not take all spans; the message says why."""


class SpanSender:
    """Sends the spans of debates.

    Args:
        exporter: where they go.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._ids = _FixedIds()
        self._ended = _EndedSpans()
        resource = Resource.create()
        if str(resource.attributes.get(SERVICE_NAME, _UNNAMED)).startswith(_UNNAMED):
            resource = resource.merge(Resource({SERVICE_NAME: "jury-judge"}))
        provider = TracerProvider(id_generator=self._ids, resource=resource, shutdown_on_exit=False)
        provider.add_span_processor(self._ended)
        self._tracer = provider.get_tracer("jury_judge", version("jury-judge"))

    def send(self, trees: Iterable[SpanTree]) -> bool:
        """Send the spans of debates in one request; returns whether they arrived. Not for two threads at once."""
        for tree in trees:
            self._make(tree)
        spans = self._ended.take()
        return not spans or self._exporter.export(spans) is SpanExportResult.SUCCESS

    def close(self) -> None:
        """Close the exporter's connections."""
        self._exporter.shutdown()

    def _make(self, tree: SpanTree) -> None:
        made: dict[str, Span] = {}
        self._ids.trace = int.from_bytes(tree.trace_id)
        for fact in tree.spans:
            self._ids.span = int.from_bytes(tree.span_id(fact.key))
            parent = None if fact.parent is None else set_span_in_context(made[fact.parent])
            span = self._tracer.start_span(
                fact.name,
                context=parent,
                kind=_KINDS[fact.kind],
                attributes={name: _sent(value) for name, value in fact.attributes.items() if value is not None},
                start_time=fact.start,
                record_exception=False,
                set_status_on_exception=False,
            )
            if fact.error is not None:
                span.set_status(Status(StatusCode.ERROR, _sent(fact.error)))
            made[fact.key] = span
            span.end(fact.end)


def _sent(value: Any) -> Any:
    """An attribute without a secret of this process; only texts may have one."""
    return known_scrubber().text(value) if isinstance(value, str) else value


class _FixedIds(IdGenerator):
    """The ids of the next span."""

    trace = span = 0

    def generate_trace_id(self) -> int:
        """That of the debate."""
        return self.trace

    def generate_span_id(self) -> int:
        """That of the span."""
        return self.span


class _EndedSpans(SpanProcessor):
    """Keeps what is to be sent."""

    def __init__(self) -> None:
        self._spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a sampled span."""
        if span.context is not None and span.context.trace_flags.sampled:
            self._spans.append(span)

    def take(self) -> list[ReadableSpan]:
        """Those that ended since the last call."""
        taken, self._spans = self._spans, []
        return taken


def exporter_of(environ: Mapping[str, str]) -> Callable[[], SpanExporter] | None:
    """Makes the exporter that the standard variables name; None: they turn traces off."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    wanted = environ.get("OTEL_TRACES_EXPORTER", "").strip() or "otlp"
    if wanted == "none":
        return None
    if wanted != "otlp":
        raise SettingError("OTEL_TRACES_EXPORTER: traces are sent by otlp; set otlp, or none")
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if (environ.get(name, "").strip() or _HTTP) != _HTTP:
            raise SettingError(f"{name}: traces are sent over {_HTTP}; set that, or leave it out")
    return lambda: _CheckedExporter(OtlpSession(_TRACES, environ))


class _CheckedExporter(OTLPSpanExporter):
    """Says why a collector that answered did not take everything."""

    def __init__(self, answers: OtlpSession) -> None:
        super().__init__(session=answers.session)
        self._answers = answers

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """See `SpanExporter`."""
        try:
            result = super().export(spans)
        except NotTaken:
            result = SpanExportResult.FAILURE
        if result is not SpanExportResult.SUCCESS and self._answers.refusal is not None:
            raise SpansRefused(f"the collector did not take them: {self._answers.refusal}")
        return result
