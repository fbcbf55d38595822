"""OpenTelemetry traces of generative AI (OTLP as JSON): one case per trace, from its chat, agent and tool spans.

Source: OpenTelemetry's semantic conventions for generative AI: `gen_ai.*` attributes of spans, and the span events of
earlier versions. `jury_cases.traces` makes one transcript of the spans.
"""

from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.openinference import is_openinference, openinference_facts, openinference_spans
from jury_cases.formats.otel_span_messages import messages_of_span
from jury_cases.formats.otel_tools import agent_of, handover_of, kind_of, reason_of, tool_of
from jury_cases.formats.otlp import LOGS, RESOURCES, Trace, Traces, first_of, is_genai, nanoseconds, span_id
from jury_cases.traces.span import Span, failures, root_of
from jury_cases.traces.timeline import read_spans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, text_or_none
from jury_events.text.visible_text import visible_line

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
    spans = [_span(one) for one in row["spans"] if not is_openinference(one["attributes"])]
    others = [_plain(one) for one in row["spans"] if is_openinference(one["attributes"])]
    spans += openinference_spans(others)
    if (root := root_of(spans)) is not None:
        facts["span_id"] = root.span_id
    for table in row["spans"]:
        for key, name in _FACTS.items():
            if key in table["attributes"]:
                facts.setdefault(name, table["attributes"][key])
    facts |= openinference_facts(others)
    builder = TranscriptBuilder()
    read_spans(spans, builder)
    error = failures(spans)
    if not len(builder) and error is None:
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


def _span(table: dict[str, Any]) -> Span:
    place = f"span {visible_line(span_id(table), _NAMED)}"
    attributes = table["attributes"]
    messages = messages_of_span(table, place)
    kind = kind_of(attributes)
    start = nanoseconds(table, ("startTimeUnixNano", "start_time_unix_nano")) or 0
    return Span(
        span_id=span_id(table),
        parent_id=text_or_none(first_of(table, ("parentSpanId", "parent_span_id"))),
        place=place,
        kind=kind,
        start=start,
        end=nanoseconds(table, ("endTimeUnixNano", "end_time_unix_nano")),
        inputs=messages.inputs,
        outputs=messages.outputs,
        images=messages.images,
        tool=tool_of(attributes) if kind == "tool" else None,
        failure=_failure(table) if is_genai(table) else None,
        agent=agent_of(attributes),
        handover=handover_of(attributes),
    )


def _plain(table: dict[str, Any]) -> dict[str, Any]:
    """A span of OTLP with the names that Phoenix gives to its fields."""
    status = table.get("status")
    code, message = (status.get("code"), status.get("message")) if isinstance(status, dict) else (status, None)
    return {
        **{name: table.get(name) for name in ("name", "attributes", "events")},
        "span_id": span_id(table),
        "parent_id": first_of(table, ("parentSpanId", "parent_span_id")),
        "start_time": nanoseconds(table, ("startTimeUnixNano", "start_time_unix_nano")),
        "end_time": nanoseconds(table, ("endTimeUnixNano", "end_time_unix_nano")),
        "status_code": code,
        "status_message": message,
    }


def _failure(span: dict[str, Any]) -> str | None:
    """The reason of the span's failure; None if it did not fail."""
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else status
    if code is True or code not in (2, "STATUS_CODE_ERROR", "ERROR"):
        return None
    attributes = span["attributes"]
    thrown = (
        event["attributes"].get("exception.message") for event in span["events"] if event.get("name") == "exception"
    )
    reasons = (
        status.get("message") if isinstance(status, dict) else None,
        *thrown,
        reason_of(attributes),
        attributes.get("error.type"),
        span.get("name"),
    )
    return next((text for one in reasons if (text := as_text(one))), "failed")


_NAMED = 60
"""Characters of an id in errors."""

_MARKS = frozenset({*RESOURCES, *LOGS})

OTEL = Format(
    "otel",
    lambda row: isinstance(row, Trace) or (isinstance(row, dict) and not row.keys().isdisjoint(_MARKS)),
    _read,
    gather=Traces,
    marks=_MARKS,
    recognised_by="`resourceSpans` or `resourceLogs` (OTLP as JSON)",
    shows=(
        "one case per trace, which may span several lines of a file (256 MiB): `gen_ai.*` messages of its "
        "spans, events and log records, tool runs"
    ),
)
"""OTLP as JSON."""
