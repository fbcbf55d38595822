"""Scores as events `gen_ai.evaluation.result` by OTLP over HTTP: one a seat, one of the jury. Needs the extra `otel`.

Source: the semantic conventions of OpenTelemetry for generative AI. The parent of an event is the evaluated span. For
juries there is no convention: names of our own begin with `jury.`.
"""

import logging
import re
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

from jury_events.local_events import ExportedScore, ScoreTargetName
from jury_judge.otlp_answers import NotTaken, OtlpSession, Signal
from jury_judge.scores.debate_scores import SCORE, VERDICT, DebateScore, JudgedTrace, ScoresRefused, place_of

_EVENT = "gen_ai.evaluation.result"
_DEFAULT = "http://localhost:4318"
_LOGS = Signal("LOGS", ExportLogsServiceResponse, ("rejected_log_records", "rejectedLogRecords"))
_HEXADECIMAL = {"trace_id": re.compile(r"(0x)?[0-9a-fA-F]{32}"), "span_id": re.compile(r"(0x)?[0-9a-fA-F]{16}")}

logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # what fails is reported by the caller


class OtelScores:
    """Sends events to where the standard variables of OpenTelemetry say."""

    name: ScoreTargetName = "otel"
    repeats = True

    def __init__(self, environ: Mapping[str, str]) -> None:
        logs = environ.get("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")
        base = environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _DEFAULT
        endpoint = logs or f"{base.rstrip('/')}/v1/logs"
        self.place = place_of(endpoint)
        self._answers = OtlpSession(_LOGS, environ)
        self._exporter = OTLPLogExporter(endpoint=endpoint, session=self._answers.session)
        self._resource = Resource.create({"service.name": "jury-judge"})
        self._scope = InstrumentationScope("jury_judge", version("jury-judge"))

    def refusal(self, trace: JudgedTrace) -> str | None:
        """Ids of OpenTelemetry are 16 and 8 bytes in hexadecimal."""
        for name, pattern in _HEXADECIMAL.items():
            value = getattr(trace, name)
            if value is not None and not pattern.fullmatch(value):
                return f"its {name} is none of OpenTelemetry"
        return None

    def write(
        self, trace: JudgedTrace, scores: Sequence[DebateScore], before: Mapping[str, ExportedScore]
    ) -> Mapping[str, str | None]:
        """See `ScoreTarget`; verdict and score of the jury are one event, sent again if one of them changed."""
        span = SpanContext(int(trace.trace_id, 16), int(trace.span_id or "0", 16), is_remote=True)
        context = set_span_in_context(NonRecordingSpan(span))
        now = time.time_ns()
        changed = {one.name for one in scores}
        events = []
        for one in trace.scores:
            of_jury = one.name == VERDICT and {VERDICT, SCORE} & changed
            if of_jury or (one.name in changed and one.seat is not None):
                attributes = _attributes(trace, one, corrected=bool(before))
                events.append(
                    ReadableLogRecord(
                        LogRecord(
                            timestamp=now,
                            observed_timestamp=now,
                            context=context,
                            event_name=_EVENT,
                            attributes=attributes,
                        ),
                        self._resource,
                        self._scope,
                    )
                )
        try:
            taken = self._exporter.export(events) is LogRecordExportResult.SUCCESS
        except NotTaken:
            taken = False
        if not taken:
            why = self._answers.refusal or "see that it runs"
            raise ScoresRefused(
                f"debate {trace.debate_id}: the collector at {self.place} did not take its events: {why}; "
                "then call the same command again"
            )
        return {}

    def close(self) -> None:
        """Close the exporter's connections."""
        self._answers.session.close()


def _attributes(trace: JudgedTrace, score: DebateScore, *, corrected: bool) -> dict[str, Any]:
    value = next(float(one.value) for one in trace.scores if one.name == SCORE)
    found = {
        "gen_ai.evaluation.name": "jury" if score.seat is None else f"jury.{score.seat}",
        "gen_ai.evaluation.score.label": score.value,
        "gen_ai.evaluation.score.value": value if score.seat is None else trace.seat_values.get(score.seat),
        "gen_ai.evaluation.explanation": score.explanation or None,
        "jury.debate.id": trace.debate_id,
        "jury.run.id": trace.run_id,
        "jury.juror.id": score.seat,
        "jury.simulated": trace.simulated,
        "jury.reviewed": trace.reviewed,
        "jury.correction": corrected or None,
    }
    return {name: value for name, value in found.items() if value is not None}
