"""Traces of Opik, LangWatch, MLflow and LangSmith.

Spans of Opik and LangWatch are read as Langfuse's observations are: they say the same by other names.

Sources: `TracePublic` and `SpanPublic` of Opik's API (`Opik.search_traces`, `search_spans`, `opik export`); LangWatch's
API and its collector (`langwatch.domain`: `input` and `output` as `{type, value}`, times in milliseconds); the package
`mlflow` (`mlflow.entities.Trace`, `Span.to_dict`, `Assessment`), of versions 2 and 3; the package `langsmith`
(`langsmith.schemas.Run`, its batches) and LangSmith's documentation of bulk exports.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format, Record, RowsByKey, TraceGathering, is_gathered, records_of
from jury_cases.formats.langfuse import LANGFUSE, LANGFUSE_OBSERVATIONS, ObservedTrace
from jury_cases.traces.span import SpanKind, failure_text, failures, instant, optional_text, plain_span
from jury_cases.traces.span_tables import SpanRecord, in_order, spans_of
from jury_cases.traces.tables.all_tables import spans_of_tables
from jury_cases.traces.timeline import read_spans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_objects, as_text, decoded_json, is_blank, text_or_none

_TYPES = {"llm": "GENERATION", "tool": "TOOL", "agent": "AGENT", "rag": "RETRIEVER"}
_OF_OPIK = frozenset({"span_feedback_scores", "feedback_scores", "span_count", "thread_id"})


def _observation(span: Mapping[str, Any], **named: Any) -> dict[str, Any]:
    """A span under Langfuse's names."""
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
    if isinstance(row, ObservedTrace):
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
        lambda trace, rows: ObservedTrace(trace_id=trace, observations=rows),
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


_OWN = "mlflow."
_SESSION = "mlflow.trace.session"
_USER = "mlflow.trace.user"


def _read_mlflow(row: Any) -> CaseDraft:
    table = _table(row)
    data, info = _table(table.get("data")), _table(table.get("info"))
    listed = decoded_json(table.get("spans")) if is_blank(data) else data.get("spans")
    tables = as_objects(decoded_json(listed), "spans", "spans")
    spans = spans_of_tables(plain_span(_plain(one)) for one in tables)
    builder = TranscriptBuilder()
    read_spans(spans, builder)
    found = {**table, **info}
    given = [_table(found.get(name)) for name in ("trace_metadata", "request_metadata", "tags")]
    own = {name: value for one in given for name, value in one.items()}
    trace_id = next((id_ for name in ("trace_id", "request_id") if (id_ := optional_text(found.get(name)))), None)
    session = optional_text(own.get(_SESSION))
    facts = {
        **{name: value for name, value in own.items() if not name.startswith(_OWN)},
        **dict(_assessments(decoded_json(found.get("assessments")))),
        "name": optional_text(own.get("mlflow.traceName")),
        "user": optional_text(own.get(_USER)),
        "trace_id": trace_id or next((id_ for one in tables if (id_ := _request_id(one))), None),
        "session_id": session,
    }
    return CaseDraft(
        case_id=facts["trace_id"],
        built=builder,
        error=failures(spans),
        metadata={name: value for name, value in facts.items() if value is not None},
        cluster=session,
    )


def _plain(span: dict[str, Any]) -> dict[str, Any]:
    written = _table(span.get("attributes"))
    attributes = {name: decoded_json(value, texts=True) for name, value in written.items() if value != "null"}
    return {**span, "attributes": attributes}


def _request_id(span: Mapping[str, Any]) -> str | None:
    return optional_text(decoded_json(_table(span.get("attributes")).get("mlflow.traceRequestId"), texts=True))


def _assessments(listed: Any) -> Iterator[tuple[str, Any]]:
    for one in listed if isinstance(listed, list) else ():
        table = _table(one)
        name = optional_text(table.get("assessment_name") or table.get("name"))
        if name is None or table.get("valid") is False:
            continue
        expected = "feedback" not in table and not is_blank(table.get("expectation"))
        label = f"{'expected' if expected else 'score'}.{name}"
        value = _table(table.get("expectation" if expected else "feedback"))
        found = next((value[key] for key in ("value", "serialized_value", "error") if value.get(key) is not None), None)
        source = _table(table.get("source")).get("source_id")
        for key, kept in ((label, found), (f"{label}.rationale", table.get("rationale")), (f"{label}.source", source)):
            if kept is not None:
                yield key, kept if isinstance(kept, str | int | float | bool) else as_text(kept)


def _table(value: Any) -> dict[str, Any]:
    found = decoded_json(value)
    return found if isinstance(found, dict) else {}


def _is_span(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    attributes = value.get("attributes")
    return isinstance(attributes, dict) and any(name.startswith(_OWN) for name in attributes)


def _recognises_mlflow(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    data = decoded_json(row.get("data")) if "info" in row else row
    spans = decoded_json(data.get("spans")) if isinstance(data, dict) else None
    return isinstance(spans, list) and any(map(_is_span, spans[:_LOOKED_AT]))


_LOOKED_AT = 10

MLFLOW = Format(
    "mlflow",
    _recognises_mlflow,
    _read_mlflow,
    recognised_by="`info` and `data`, or `spans`, of a trace (MLflow 2 and 3)",
    shows="messages, requests and responses of models, tool runs; the session as cluster, assessments as metadata",
)
"""Traces of MLflow."""


_NAME = "langsmith"
_KINDS: dict[str, SpanKind] = {"llm": "model", "tool": "tool", "retriever": "tool"}
_BATCHES = ("post", "patch")
_SESSIONS = ("session_id", "thread_id", "conversation_id")
"""Names in a run's metadata under which LangSmith groups traces to threads."""


def _read_langsmith(row: Any) -> CaseDraft:
    trace_id, listed = records_of(row, _expanded)
    runs = _merged(listed)
    runs.sort(key=lambda one: (as_text(one.get("dotted_order")), instant(one.get("start_time")) or 0))
    spans = spans_of(in_order(map(_record, runs)))
    builder = TranscriptBuilder()
    read_spans(spans, builder)
    root = next((one for one in runs if is_blank(one.get("parent_run_id"))), runs[0] if runs else {})
    more = _metadata(root)
    session = next((found for name in _SESSIONS if (found := optional_text(more.get(name)))), None)
    facts = {
        **{name: value for name, value in more.items() if name not in _SESSIONS},
        **_scores(decoded_json(root.get("feedback_stats"))),
        "name": optional_text(root.get("name")),
        "trace_id": trace_id or optional_text(root.get("trace_id")),
        "run_id": optional_text(root.get("id")),
        "session_id": session,
    }
    return CaseDraft(
        case_id=facts["trace_id"] or facts["run_id"],
        built=builder,
        error=failures(spans),
        metadata={name: value for name, value in facts.items() if value is not None},
        tags=decoded_json(root.get("tags")) or None,
        cluster=session,
        agent_cost=root.get("total_cost"),
    )


def _record(run: Record) -> SpanRecord:
    run_id = as_text(run.get("id"))
    kind = as_text(run.get("run_type"))
    return SpanRecord(
        span_id=run_id,
        parent_id=optional_text(run.get("parent_run_id")),
        place=f"run {run_id}",
        kind=_KINDS.get(kind, "other"),
        name=as_text(run.get("name")),
        start=instant(run.get("start_time")) or 0,
        end=instant(run.get("end_time")),
        given=run.get("inputs"),
        answer=run.get("outputs"),
        failure=failure_text(run.get("error")),
        call_id=optional_text(_metadata(run).get("tool_call_id")),
    )


def _metadata(run: Record) -> dict[str, Any]:
    extra = decoded_json(run.get("extra"))
    found = extra.get("metadata") if isinstance(extra, dict) else None
    plain = found if isinstance(found, dict) else {}
    return {name: one for name, one in plain.items() if not name.startswith(("ls_", "LANGSMITH_", "langgraph_"))}


def _scores(stats: Any) -> dict[str, Any]:
    """`{NAME: {n, avg, values}}`: the mean, or the counts of labels."""
    found = {}
    for name, one in stats.items() if isinstance(stats, dict) else ():
        value = one.get("avg", one.get("values")) if isinstance(one, dict) else one
        if not is_blank(value):
            found[f"score.{name}"] = value if isinstance(value, int | float) else as_text(value)
    return found


def _merged(runs: list[Record]) -> list[Record]:
    """Runs that were sent in several parts (at their start, at their end) as one."""
    found: dict[str, Record] = {}
    for run in runs:
        known = found.setdefault(as_text(run.get("id")) or f"\0{len(found)}", {})
        known.update({name: value for name, value in run.items() if value is not None})
    return list(found.values())


def _expanded(row: Any) -> Iterator[Record]:
    """The runs of a line: a run with those below it, or a batch `{post, patch}`."""
    if _is_batch(row):
        waiting = [one for name in _BATCHES for one in as_objects(row.get(name), name, "runs")]
    else:
        waiting = as_objects([row], "run", "runs")
    waiting = waiting[::-1]
    while waiting:
        run = waiting.pop()
        yield {name: value for name, value in run.items() if name != "child_runs"}
        below = as_objects(decoded_json(run.get("child_runs")), "child_runs", "runs")
        waiting += [_below(one, run) for one in reversed(below)]


def _below(child: Record, run: Record) -> Record:
    """A nested run with the ids that only its place gives."""
    found = dict(child)
    if is_blank(found.get("parent_run_id")):
        found["parent_run_id"] = run.get("id")
    if is_blank(found.get("trace_id")):
        found["trace_id"] = _trace_id(run)
    return found


def _trace_id(run: Record) -> str:
    return as_text(run.get("trace_id")) or as_text(run.get("id"))


def _is_batch(row: Any) -> bool:
    return isinstance(row, dict) and "run_type" not in row and any(isinstance(row.get(one), list) for one in _BATCHES)


def _is_run(row: Any) -> bool:
    return isinstance(row, dict) and "run_type" in row and not row.keys().isdisjoint(_OF_RUNS)


_OF_RUNS = frozenset({"inputs", "outputs", "trace_id", "parent_run_id", "child_runs", "dotted_order"})


def _recognises_langsmith(row: Any) -> bool:
    if is_gathered(row, _NAME) or _is_run(row):
        return True
    return _is_batch(row) and any(_is_run(one) for name in _BATCHES for one in row.get(name) or ())


LANGSMITH = Format(
    _NAME,
    _recognises_langsmith,
    _read_langsmith,
    gather=lambda: TraceGathering(_NAME, _expanded, _trace_id),
    recognised_by="a run (`run_type`), with `child_runs` or in lines, or a batch of `post` and `patch`",
    shows="one case per trace: inputs and outputs of its runs, tool runs; the thread as cluster, feedback as metadata",
)
"""Runs of LangSmith."""
