"""Traces of Opik and LangWatch, whose spans are read as Langfuse's observations are: they say the same by other names.

Source: `TracePublic` and `SpanPublic` of Opik's API (`Opik.search_traces`, `search_spans`, `opik export`), the trace of
LangWatch's API and its collector (`langwatch.domain`: `input` and `output` as `{type, value}`, times in milliseconds).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format, GatheredRows, RowsByKey
from jury_cases.formats.langfuse import LANGFUSE, LANGFUSE_OBSERVATIONS
from jury_cases.transcripts.json_values import as_object, as_text, text_or_none

_TYPES = {"llm": "GENERATION", "tool": "TOOL", "agent": "AGENT", "rag": "RETRIEVER"}
_OF_OPIK = frozenset({"span_feedback_scores", "feedback_scores", "span_count", "thread_id"})


def _observation(span: Mapping[str, Any], **named: Any) -> dict[str, Any]:
    error = as_object(span.get("error_info") or span.get("error"))
    failed = bool(error) and error.get("has_error") is not False
    return {
        **{name: span.get(name) for name in ("name", "model", "metadata", "tags")},
        "type": _TYPES.get(as_text(span.get("type")), "SPAN"),
        "traceId": span.get("trace_id"),
        "level": "ERROR" if failed else None,
        "statusMessage": (error.get("message") or error.get("exception_type")) if failed else None,
        **named,
    }


def _of_opik(span: Mapping[str, Any]) -> dict[str, Any]:
    return _observation(
        span,
        id=span.get("id"),
        parentObservationId=span.get("parent_span_id"),
        startTime=span.get("start_time"),
        endTime=span.get("end_time"),
        input=span.get("input"),
        output=span.get("output"),
        totalCost=span.get("total_estimated_cost"),
    )


def _of_langwatch(span: Mapping[str, Any]) -> dict[str, Any]:
    times = as_object(span.get("timestamps"))
    return _observation(
        span,
        id=span.get("span_id") or span.get("id"),
        parentObservationId=span.get("parent_id"),
        startTime=_moment(times.get("started_at")),
        endTime=_moment(times.get("finished_at")),
        input=_value(span.get("input")),
        output=_value(span.get("output")),
        totalCost=as_object(span.get("metrics")).get("cost"),
    )


def _objects(listed: Any) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _value(given: Any) -> Any:
    return given.get("value") if isinstance(given, dict) and "value" in given else given


def _moment(milliseconds: Any) -> str | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _read_trace(trace: Mapping[str, Any], spans: list[dict[str, Any]], **named: Any) -> CaseDraft:
    failed = as_object(trace.get("error_info") or trace.get("error"))
    draft = LANGFUSE.read(
        {
            **{name: trace[name] for name in ("name", "metadata", "tags") if trace.get(name) is not None},
            "level": "ERROR" if failed.get("message") else None,
            "statusMessage": failed.get("message"),
            "observations": spans,
            **named,
        }
    )
    draft.cluster = text_or_none(named.get("sessionId"))
    return draft


def _read_opik(row: Any) -> CaseDraft:
    if isinstance(row, GatheredRows):
        return LANGFUSE_OBSERVATIONS.read({**row, "observations": list(map(_of_opik, _objects(row["observations"])))})
    row = as_object(row)
    trace = as_object(row.get("trace")) if "spans" in row else row
    scores = _objects(trace.get("feedback_scores"))
    return _read_trace(
        trace,
        list(map(_of_opik, _objects(row.get("spans")))),
        id=trace.get("id"),
        input=trace.get("input"),
        output=trace.get("output"),
        sessionId=trace.get("thread_id"),
        totalCost=trace.get("total_estimated_cost"),
        scores=[{"name": one.get("name"), "value": one.get("value"), "comment": one.get("reason")} for one in scores],
    )


def _read_langwatch(row: Any) -> CaseDraft:
    row = as_object(row)
    metadata = as_object(row.get("metadata"))
    return _read_trace(
        {**row, "tags": metadata.get("labels")},
        list(map(_of_langwatch, _objects(row.get("spans")))),
        id=row.get("trace_id"),
        input=_value(row.get("input")),
        output=_value(row.get("output")),
        sessionId=metadata.get("thread_id"),
        totalCost=as_object(row.get("metrics")).get("total_cost"),
    )


def _is_opik_span(row: Any) -> bool:
    return isinstance(row, dict) and {"parent_span_id", "trace_id", "start_time", "input"} <= row.keys()


def _is_opik_trace(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    if isinstance(row.get("trace"), dict) and isinstance(row.get("spans"), list):
        return "start_time" in row["trace"]
    return {"input", "output", "start_time", "project_id"} <= row.keys() and not _OF_OPIK.isdisjoint(row)


def _is_langwatch(row: Any) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("spans"), list) or "trace_id" not in row:
        return False
    return any(isinstance(one, dict) and {"timestamps", "type"} <= one.keys() for one in row["spans"])


OPIK_SPANS = Format(
    "opik-spans",
    _is_opik_span,
    _read_opik,
    gather=lambda: RowsByKey(
        lambda span: as_text(as_object(span).get("trace_id")),
        "trace",
        lambda trace, rows: GatheredRows(trace_id=trace, observations=rows),
    ),
    recognised_by="a span with `trace_id`, `parent_span_id` and `start_time` (Opik)",
    shows="one case per trace: model calls, tools and steps of its spans, the sum of costs",
)
OPIK = Format(
    "opik",
    _is_opik_trace,
    _read_opik,
    recognised_by="a trace with `input`, `output`, `start_time` and `project_id`, or `trace` with its `spans` (Opik)",
    shows="`input` and `output`, spans of the trace, tools, scores, tags, thread as cluster, cost",
)
LANGWATCH = Format(
    "langwatch",
    _is_langwatch,
    _read_langwatch,
    recognised_by="`trace_id` and `spans` with `timestamps` (LangWatch)",
    shows="`input` and `output`, spans of the trace, tools, labels as tags, thread as cluster, cost",
)
