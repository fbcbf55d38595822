"""OpenTelemetry traces of generative AI: one case per trace, from its model calls, agents and tools.

OTLP as JSON, and the JSON that OpenTelemetry's SDK writes of a span. What attributes mean is in `jury_cases.traces`.
"""

from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.openinference import openinference_facts
from jury_cases.formats.otlp import LOGS, RESOURCES, Trace, Traces, is_sdk_span
from jury_cases.traces.plain_span import plain_span
from jury_cases.traces.span import failures, root_of
from jury_cases.traces.tables.all_tables import spans_of_tables
from jury_cases.traces.tables.openinference import OPENINFERENCE_SPANS
from jury_cases.traces.timeline import read_spans
from jury_cases.transcripts.builder import TranscriptBuilder

_FACTS = {
    "gen_ai.request.model": "model",
    "gen_ai.provider.name": "provider",
    "gen_ai.system": "provider",
    "gen_ai.agent.name": "agent",
    "gen_ai.conversation.id": "conversation",
    "session.id": "session_id",
    "service.name": "service",
}


def _read(row: Any) -> CaseDraft:
    facts: dict[str, Any] = {"trace_id": row["trace_id"]} if row["trace_id"] else {}
    plain = list(map(plain_span, row["spans"]))
    spans = spans_of_tables(plain)
    if (root := root_of(spans)) is not None:
        facts["span_id"] = root.span_id
    for one in plain:
        for key, name in _FACTS.items():
            if key in one.attributes:
                facts.setdefault(name, one.attributes[key])
    facts |= openinference_facts(one for one in row["spans"] if OPENINFERENCE_SPANS.has(plain_span(one)))
    builder = TranscriptBuilder()
    read_spans(spans, builder)
    error = failures(spans)
    says = any(item.kind not in {"tool_call", "tool_result", "not_shown"} for item in builder.transcript().items)
    if error is None and not says and (not len(builder) or any(span.kind == "model" for span in spans)):
        raise CaseFileError(
            "it has no messages; have the tracing tool record them, as with "
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, or leave such traces out with --skip-unreadable"
        )
    return CaseDraft(
        case_id=row["trace_id"] or None,
        built=builder if len(builder) else None,
        error=error,
        metadata=facts,
    )


_MARKS = frozenset({*RESOURCES, *LOGS})

OTEL = Format(
    "otel",
    lambda row: (
        isinstance(row, Trace) or (isinstance(row, dict) and (not row.keys().isdisjoint(_MARKS) or is_sdk_span(row)))
    ),
    _read,
    gather=Traces,
    marks=_MARKS | {"context"},
    recognised_by="`resourceSpans` or `resourceLogs` (OTLP as JSON); a span of the SDK (`context`)",
    shows=(
        "one case per trace, which may span several lines of a file: messages, tool runs and failures of its spans, "
        "events and log records, in the attributes of `gen_ai`, OpenInference, Vercel's AI SDK and others"
    ),
)
"""OTLP as JSON, and spans of the SDK."""
