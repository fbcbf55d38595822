"""Traces of the OpenAI agents SDK: its exporter's payloads, and the lines of processors of one's own.

Source: `agents.tracing` of the package `openai-agents`: `Trace.export`, `Span.export`, `SpanData.export`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format, Record, TraceGathering, records_of
from jury_cases.traces.span import SpanKind, instant, optional_text
from jury_cases.traces.span_tables import SpanRecord, in_order, spans_of
from jury_cases.traces.timeline import draft_of_spans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, is_blank, json_kind
from jury_events.transcript import Event, Item, Origin

_KINDS: dict[str, SpanKind] = {
    "generation": "model",
    "response": "model",
    "function": "tool",
    "agent": "agent",
}


def _read(row: Any) -> CaseDraft:
    found, records = records_of(row, _expanded)
    spans = spans_of(in_order(_record(one) for one in records if one["object"] == "trace.span"))
    traces = [one for one in records if one["object"] == "trace"]
    trace_id = found or next((own for one in records if (own := _trace_id(one))), None)
    group = next((name for one in traces if (name := optional_text(one.get("group_id")))), None)
    metadata: dict[str, Any] = {}
    for trace in traces:
        metadata |= trace["metadata"] if isinstance(trace.get("metadata"), dict) else {}
        metadata["workflow"] = optional_text(trace.get("workflow_name"))
    metadata |= {"trace_id": trace_id, "session_id": group}
    return draft_of_spans(spans, metadata, case_id=trace_id, cluster=group)


def _record(span: Record) -> SpanRecord:
    span_id = as_text(span.get("id"))
    place = f"span {span_id}"
    data = span.get("span_data")
    if not isinstance(data, dict):
        raise CaseFileError(f"{place}.span_data: must be an object, not {json_kind(data)}")
    kind = as_text(data.get("type"))
    given, answer = data.get("input"), data.get("output")
    if kind == "response":
        answer = data.get("response")
    return SpanRecord(
        span_id=span_id,
        parent_id=optional_text(span.get("parent_id")),
        place=place,
        kind=_KINDS.get(kind, "other"),
        name=as_text(data.get("name")),
        start=instant(span.get("started_at")) or 0,
        end=instant(span.get("ended_at")),
        given=None if kind in {"speech", "transcription"} else given,
        answer=None if kind in {"speech", "transcription"} else answer,
        failure=_failure(span.get("error")),
        agent=optional_text(data.get("name")) if kind == "agent" else None,
        events=_events(kind, data, place),
    )


def _events(kind: str, data: Mapping[str, Any], place: str) -> tuple[Item, ...]:
    found = TranscriptBuilder()
    match kind:
        case "response" if is_blank(data.get("input")) and is_blank(data.get("response")):
            found.not_shown("input of a response by its id", "user", place)
            found.not_shown("response by its id", "model", place)
        case "handoff":
            found.handover(optional_text(data.get("from_agent")), optional_text(data.get("to_agent")), place)
        case "guardrail" if data.get("triggered") is True:
            _add_event(found, "guardrail", f"{as_text(data.get('name')) or 'unnamed'} stopped the run", place)
        case "transcription":
            _spoken(data.get("input"), "user", found, f"{place}.input")
            if not is_blank(data.get("output")):
                found.message("user", as_text(data["output"]), f"{place}.output")
        case "speech":
            _spoken(data.get("output"), "model", found, f"{place}.output")
        case "mcp_tools" | "custom" if not is_blank(_more(kind, data)):
            _add_event(found, as_text(data.get("name")) or kind, as_text(_more(kind, data)), place)
    return found.transcript().items


def _add_event(builder: TranscriptBuilder, name: str, text: str, place: str) -> None:
    builder.add(Event, place, origin="environment", name=name, text=text)


def _more(kind: str, data: Mapping[str, Any]) -> Any:
    """The content of a span of one's own, or the tools that a server listed; None: the SDK's own bookkeeping."""
    if kind == "mcp_tools":
        return {name: data.get(name) for name in ("server", "result")}
    inner = data.get("data")
    return None if isinstance(inner, dict) and "sdk_span_type" in inner else inner


def _spoken(audio: Any, origin: Origin, builder: TranscriptBuilder, place: str) -> None:
    if not is_blank(audio):
        builder.not_shown("audio", origin, place, audio.get("data") if isinstance(audio, dict) else audio)


def _failure(error: Any) -> str | None:
    if is_blank(error):
        return None
    table = error if isinstance(error, dict) else {"message": error}
    more = table.get("data")
    reason = more.get("error") if isinstance(more, dict) and not is_blank(more.get("error")) else more
    return ": ".join(as_text(one) for one in (table.get("message"), reason) if not is_blank(one))


def _trace_id(record: Record) -> str:
    return as_text(record.get("id" if record["object"] == "trace" else "trace_id"))


def _expanded(row: Any) -> Iterator[Record]:
    """The traces and spans of a line: one, or a payload `{data: [...]}`."""
    listed = row["data"] if isinstance(row, dict) and isinstance(row.get("data"), list) else [row]
    for index, one in enumerate(listed):
        if not (isinstance(one, dict) and one.get("object") in ("trace", "trace.span")):
            raise CaseFileError(f"data.{index}: must be an object trace or trace.span")
        yield one


def _recognises(row: Any) -> bool:
    listed = row.get("data") if isinstance(row, dict) and isinstance(row.get("data"), list) else [row]
    one = listed[0] if listed else None
    return isinstance(one, dict) and one.get("object") in ("trace", "trace.span")


OPENAI_AGENTS = Format(
    "openai-agents",
    _recognises,
    _read,
    gather=lambda: TraceGathering(_expanded, _trace_id),
    recognised_by='`"object": "trace"` or `"trace.span"`, or a payload of them in `data`',
    shows="one case per trace: generations, responses, tool runs with their agents, handovers, guardrails that tripped",
)
"""Traces of the OpenAI agents SDK."""
