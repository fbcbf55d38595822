"""The spans of a recorded debate (the debate, its phases, their calls of models), and their export by OTLP over HTTP.

Times and ids of a debate's spans follow from the log alone, without any text, so that every export has the same spans.
Attributes are those of the GenAI semantic conventions of OpenTelemetry (1.41: `invoke_workflow`, `chat`), and `jury.…`
for what is ours.

Needs the extra `otel`. The standard variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`,
`OTEL_TRACES_SAMPLER`, …) set it up.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from jury_events.codec import DebateEvent, decode
from jury_events.debate_events import DebateCompleted, DebateOpened
from jury_events.envelope import StoredEvent
from jury_events.errors import InputError, SettingError
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.outcome import CallOutcome
from jury_events.scrubbing import known_scrubber
from jury_judge.otlp_answers import NotTaken, OtlpSession, Signal
from jury_views.debate_fold import Ending, Phase, PhaseEvents, folded

Attribute = str | int | float | bool | Sequence[str]


_PROVIDERS = {"google": "gcp.gemini", "openai-responses": "openai", "mistral": "mistral_ai", "xai": "x_ai"}
"""Our names of providers whose names in the conventions differ."""


class SpanFact(NamedTuple):
    """One span.

    Attributes:
        key: unique in the debate: "" for the debate, a phase, or the id of an exchange.
        parent: the key of its parent; None for the debate.
        name: of few values over all debates.
        kind: client for a call of a model.
        start, end: nanoseconds since 1970 UTC.
        attributes: those that are None are left out.
        error: the type of the error with which it ended; None: it succeeded.
    """

    key: str
    parent: str | None
    name: str
    kind: Literal["internal", "client"]
    start: int
    end: int
    attributes: dict[str, Attribute | None]
    error: str | None = None


class SpanTree(NamedTuple):
    """The spans of a debate, parents before their children, and the 16 bytes that name the trace."""

    trace_id: bytes
    spans: tuple[SpanFact, ...]

    def span_id(self, key: str) -> bytes:
        """The 8 bytes that name a span."""
        return hashlib.sha256(b"jury-judge span 1\0" + self.trace_id + key.encode()).digest()[:8]


def span_tree(debate: Sequence[StoredEvent], calls: Iterable[StoredEvent]) -> SpanTree | None:
    """The spans of a debate that is over, from its beginning; None for one that is not, or that never began."""
    events = [_as_debate_event(stored) for stored in debate]
    if not events or not isinstance(events[0], DebateOpened):
        return None
    fold = folded(events)
    at = {stored.event_id: stored.recorded_at * 1000 for stored in debate}
    over, opened = fold.ending, fold.opened
    if not fold.phases or over is None:
        return None
    ids: dict[str, Attribute | None] = {"jury.run.id": opened.run_id, "jury.debate.id": opened.debate_id}
    root = SpanFact(
        "",
        None,
        f"invoke_workflow {opened.panel.name}",
        "internal",
        at[fold.phases[0].begun],
        at[over.event_id],
        {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": opened.panel.name,
            "gen_ai.conversation.id": opened.debate_id,
            **ids,
            **_ending(over),
        },
        None if isinstance(over, DebateCompleted) else over.type,
    )
    reused = set() if fold.forked is None else set(fold.forked.steps)
    asked = [_call(stored, ids) for stored in calls]
    spans = [
        root,
        *_phases(fold.phases, at, at[over.event_id], ids),
        *(one for one in asked if one.attributes["jury.step.id"] not in reused),
    ]
    named = f"{opened.debate_id}\0{at[opened.event_id]}"
    return SpanTree(hashlib.sha256(b"jury-judge trace 1\0" + named.encode()).digest()[:16], tuple(spans))


def _as_debate_event(stored: StoredEvent) -> DebateEvent:
    event = decode(stored)
    assert not isinstance(event, ExchangeRecorded)
    return event


def _ending(event: Ending) -> dict[str, Attribute | None]:
    if not isinstance(event, DebateCompleted):
        return {"jury.status": event.type.removeprefix("debate_")}
    return {
        "jury.status": "completed",
        "jury.verdict": event.outcome.verdict,
        "jury.score": event.outcome.score,
        "jury.rounds": event.total_rounds,
        "jury.end_reason": event.end_reason,
    }


def _phases(
    phases: Iterable[PhaseEvents], at: Mapping[str, int], end: int, ids: dict[str, Attribute | None]
) -> Iterable[SpanFact]:
    """Each from the event that begins it to the one that ends it, or to the end of the debate."""
    for one in phases:
        until = end if one.ended is None else at[one.ended]
        yield SpanFact(one.phase, "", one.phase, "internal", at[one.begun], until, {**ids, "jury.phase": one.phase})


def _call(stored: StoredEvent, ids: dict[str, Attribute | None]) -> SpanFact:
    exchange = decode(stored)
    assert isinstance(exchange, ExchangeRecorded)
    provider, _, model = exchange.model.partition("/")
    end = stored.recorded_at * 1000
    step = Step.parse(exchange.step)
    phase: Phase = "judgment" if step.round is None else "discussion" if step.round else "evaluation"
    usage, settings = exchange.usage, exchange.settings
    failed = None if exchange.outcome is CallOutcome.ANSWERED else exchange.outcome.value
    return SpanFact(
        exchange.event_id,
        phase,
        f"chat {model}",
        "client",
        end - round(exchange.latency_ms * 1_000_000),
        end,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
            "gen_ai.request.model": model,
            "gen_ai.request.temperature": settings.temperature,
            "gen_ai.request.seed": settings.seed,
            "gen_ai.request.max_tokens": settings.max_output_tokens,
            "gen_ai.request.top_p": settings.top_p,
            "gen_ai.request.reasoning.level": settings.effort,
            "jury.tier": usage.service_tier or settings.tier,
            "gen_ai.response.model": exchange.model_version,
            "gen_ai.response.id": exchange.request_id,
            "gen_ai.response.finish_reasons": None if exchange.finish_reason is None else (exchange.finish_reason,),
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.written_tokens or None,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
            "gen_ai.conversation.id": ids["jury.debate.id"],
            "error.type": failed,
            **ids,
            "jury.step.id": exchange.step,
            "jury.juror.id": exchange.juror_id,
            "jury.window": exchange.window,
            "jury.turn": exchange.turn,
            "jury.attempt": exchange.attempt,
            "jury.waited_ms": exchange.waited_ms,
            "jury.cost_dollars": exchange.cost,
            "jury.simulated": exchange.simulated,
        },
        failed,
    )


_KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}
_UNNAMED = "unknown_service"
_HTTP = "http/protobuf"
_TRACES = Signal("TRACES", ExportTraceServiceResponse, ("rejected_spans", "rejectedSpans"))

logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # what fails is reported by the caller


class SpansRefused(InputError):
    """A collector answered, and did not take all spans; the message says why."""


class SpanSender:
    """Sends the spans of debates."""

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
