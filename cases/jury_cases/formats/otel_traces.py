"""OpenTelemetry traces of generative AI (OTLP as JSON): one case per trace, from its chat, agent and tool spans.

Source: OpenTelemetry's semantic conventions for generative AI: `gen_ai.*` attributes of spans, and the span events of
earlier versions. `jury_cases.traces` makes one transcript of the spans.
"""

from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.formats.openinference import is_openinference, openinference_facts, openinference_spans
from jury_cases.formats.otel_span_messages import messages_of_span
from jury_cases.formats.otlp import RESOURCES, Trace, Traces, first_of, is_genai, nanoseconds
from jury_cases.traces.span import Span, SpanKind, SpanTool, failures
from jury_cases.traces.timeline import read_spans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, text_or_none

_FACTS = {
    "gen_ai.request.model": "model",
    "gen_ai.provider.name": "provider",
    "gen_ai.system": "provider",
    "gen_ai.agent.name": "agent",
    "gen_ai.conversation.id": "conversation",
    "service.name": "service",
}


def _read(row: Any) -> CaseDraft:
    facts: dict[str, Any] = {}
    spans = [_span(one) for one in row["spans"] if not is_openinference(one["attributes"])]
    others = [_plain(one) for one in row["spans"] if is_openinference(one["attributes"])]
    spans += openinference_spans(others)
    for table in row["spans"]:
        for key, name in _FACTS.items():
            if key in table["attributes"]:
                facts.setdefault(name, table["attributes"][key])
    facts |= openinference_facts(others)
    builder = TranscriptBuilder()
    read_spans(spans, builder)
    return CaseDraft(case_id=row["trace_id"] or None, built=builder, error=failures(spans), metadata=facts)


def _span(table: dict[str, Any]) -> Span:
    place = f"span {_id(table)}"
    attributes = table["attributes"]
    messages = messages_of_span(table, place)
    kind = _kind(attributes)
    start = nanoseconds(table, ("startTimeUnixNano", "start_time_unix_nano")) or 0
    return Span(
        span_id=_id(table),
        parent_id=text_or_none(first_of(table, ("parentSpanId", "parent_span_id"))),
        place=place,
        kind=kind,
        start=start,
        end=nanoseconds(table, ("endTimeUnixNano", "end_time_unix_nano")),
        inputs=messages.inputs,
        outputs=messages.outputs,
        images=messages.images,
        tool=_tool(attributes) if kind == "tool" else None,
        failure=_failure(table) if is_genai(table) else None,
        agent=text_or_none(attributes.get("gen_ai.agent.name")),
    )


def _plain(table: dict[str, Any]) -> dict[str, Any]:
    """A span of OTLP with the names that Phoenix gives to its fields."""
    status = table.get("status")
    code, message = (status.get("code"), status.get("message")) if isinstance(status, dict) else (status, None)
    return {
        **{name: table.get(name) for name in ("name", "attributes", "events")},
        "span_id": _id(table),
        "parent_id": first_of(table, ("parentSpanId", "parent_span_id")),
        "start_time": nanoseconds(table, ("startTimeUnixNano", "start_time_unix_nano")),
        "end_time": nanoseconds(table, ("endTimeUnixNano", "end_time_unix_nano")),
        "status_code": code,
        "status_message": message,
    }


def _kind(attributes: dict[str, Any]) -> SpanKind:
    match as_text(attributes.get("gen_ai.operation.name")):
        case "execute_tool":
            return "tool"
        case "invoke_agent" | "create_agent":
            return "agent"
        case "invoke_workflow":
            return "other"
        case "":
            return "tool" if "gen_ai.tool.name" in attributes else "other"
        case _:
            return "model"


def _tool(attributes: dict[str, Any]) -> SpanTool:
    given, returned = (attributes.get(f"gen_ai.tool.call.{part}") for part in ("arguments", "result"))
    return SpanTool(
        name=as_text(attributes.get("gen_ai.tool.name")) or "unnamed",
        call_id=text_or_none(attributes.get("gen_ai.tool.call.id")),
        arguments=None if given is None else as_text(given),
        result=None if returned is None else as_text(returned),
    )


def _id(span: dict[str, Any]) -> str:
    return as_text(first_of(span, ("spanId", "span_id")))


def _failure(span: dict[str, Any]) -> str | None:
    """The reason of the span's failure; None if it did not fail."""
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else status
    if code is True or code not in (2, "STATUS_CODE_ERROR", "ERROR"):
        return None
    reason = status.get("message") if isinstance(status, dict) else None
    return as_text(reason) or as_text(span["attributes"].get("error.type")) or as_text(span.get("name")) or "failed"


OTEL = Format(
    "otel",
    lambda row: isinstance(row, Trace) or (isinstance(row, dict) and bool(row.keys() & set(RESOURCES))),
    _read,
    gather=Traces,
    marks=frozenset(RESOURCES),
    recognised_by="`resourceSpans` (OTLP as JSON)",
    shows=(
        "one case per trace, which may span several lines of a file (256 MiB): `gen_ai.*` messages of its "
        "spans and events, tool runs"
    ),
)
"""OTLP as JSON."""
