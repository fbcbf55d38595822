"""Traces of other platforms, whose spans are read as Langfuse's observations are: they say the same by other names.

Source: `TracePublic` and `SpanPublic` of Opik's API (`Opik.search_traces`, `search_spans`, `opik export`), the trace of
LangWatch's API and its collector (`langwatch.domain`: `input` and `output` as `{type, value}`, times in milliseconds),
`ProjectLogsEvent` and `ExperimentEvent` of Braintrust's API, `CallSchema` of Weave's API (`calls/stream_query`).
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format, GatheredRows, Gathering, RowsByKey, rows_at
from jury_cases.formats.langfuse import LANGFUSE, LANGFUSE_OBSERVATIONS
from jury_cases.transcripts.json_values import as_object, as_text, decoded_json, text_or_none

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


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(listed: Any) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _value(given: Any) -> Any:
    return given.get("value") if isinstance(given, dict) and "value" in given else given


def _moment(milliseconds: Any) -> str | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _of_braintrust(span: Mapping[str, Any]) -> dict[str, Any]:
    named = as_object(span.get("span_attributes"))
    times = as_object(span.get("metrics"))
    start, end = times.get("start"), times.get("end")
    output = span.get("output")
    choices = isinstance(output, list) and bool(output) and all("message" in as_object(one) for one in output)
    return _observation(
        {**span, **{name: named.get(name) for name in ("name", "type")}, "error": _error(span.get("error"))},
        id=span.get("span_id"),
        traceId=span.get("root_span_id"),
        parentObservationId=next(iter(_listed(span.get("span_parents"))), None),
        startTime=_moment(start * 1000) if isinstance(start, int | float) else span.get("created"),
        endTime=_moment(end * 1000) if isinstance(end, int | float) else None,
        input=span.get("input"),
        output={"choices": output} if choices else output,
        totalCost=times.get("estimated_cost"),
    )


_MODEL_CALLS = ("completions.create", "chat.completions", "messages.create", "responses.create", "generate_content")
"""In the names of Weave's operations: calls of the SDKs that it traces."""


def _of_weave(call: Mapping[str, Any]) -> dict[str, Any]:
    name = as_text(call.get("op_name")).rpartition("/")[2].partition(":")[0]
    kind = as_text(as_object(as_object(call.get("attributes")).get("weave")).get("kind"))
    return _observation(
        {"trace_id": call.get("trace_id"), "error": _error(call.get("exception"))},
        type=_TYPES.get("llm" if any(one in name for one in _MODEL_CALLS) else kind, "SPAN"),
        name=name,
        id=call.get("id"),
        parentObservationId=call.get("parent_id"),
        startTime=call.get("started_at"),
        endTime=call.get("ended_at"),
        input=call.get("inputs"),
        output=call.get("output"),
    )


def _error(said: Any) -> dict[str, Any]:
    return {} if said is None else {"message": as_text(said)}


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


def _read_braintrust(row: Any) -> CaseDraft:
    decoded = [{name: decoded_json(one[name]) for name in one} for one in _spans_of(row)]  # of a table
    spans = [one for one in decoded if as_object(one.get("span_attributes")).get("type") != "score"]
    draft = _of_spans(row, map(_of_braintrust, spans))
    root = next((one for one in spans if not one.get("span_parents")), {})
    draft.metadata = {**draft.metadata, **{f"score.{key}": one for key, one in as_object(root.get("scores")).items()}}
    draft.expected_behavior = draft.expected_behavior or as_text(root.get("expected")) or None
    return draft


def _read_weave(row: Any) -> CaseDraft:
    return _of_spans(row, map(_of_weave, _spans_of(row)))


def _spans_of(row: Any) -> list[dict[str, Any]]:
    return _objects(row["observations"]) if isinstance(row, GatheredRows) else _objects([row])


def _of_spans(row: Any, spans: Iterable[dict[str, Any]]) -> CaseDraft:
    observations = list(spans)
    trace = row if isinstance(row, GatheredRows) else {"trace_id": observations[0]["traceId"]}
    return LANGFUSE_OBSERVATIONS.read(GatheredRows({**trace, "observations": observations}))


def _is_braintrust(row: Any) -> bool:
    return isinstance(row, dict) and {"span_id", "root_span_id", "span_parents", "input"} <= row.keys()


def _is_weave(row: Any) -> bool:
    return isinstance(row, dict) and {"op_name", "trace_id", "inputs", "started_at"} <= row.keys()


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


def _by_trace(column: str) -> Callable[[], Gathering]:
    """Gathers spans by the trace that a column names."""
    return lambda: RowsByKey(
        lambda span: as_text(as_object(span).get(column)),
        "trace",
        lambda trace, rows: GatheredRows(trace_id=trace, observations=rows),
    )


BRAINTRUST = Format(
    "braintrust",
    _is_braintrust,
    _read_braintrust,
    rows_at("events", _is_braintrust),
    gather=_by_trace("root_span_id"),
    recognised_by="an event with `span_id`, `root_span_id` and `span_parents` (Braintrust's logs and experiments)",
    shows="one case per trace: model calls, tools and steps of its spans, scores as metadata, what was expected",
)
WEAVE = Format(
    "weave",
    _is_weave,
    _read_weave,
    rows_at("calls", _is_weave),
    gather=_by_trace("trace_id"),
    recognised_by="a call with `op_name`, `trace_id` and `inputs` (Weave)",
    shows="one case per trace: model calls, tools and steps of its calls, errors",
)
OPIK_SPANS = Format(
    "opik-spans",
    _is_opik_span,
    _read_opik,
    gather=_by_trace("trace_id"),
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
