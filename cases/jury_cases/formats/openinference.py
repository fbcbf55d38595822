"""Spans of OpenInference (Phoenix): their attributes in OTLP, in rows of Phoenix's span tables and in its REST answers.

Source: the package `openinference-semantic-conventions`, and `arize-phoenix` for the rows.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.formats.openinference_messages import listed_messages, nested
from jury_cases.formats.span_records import SpanRecord, failure_text, in_order, instant, optional_text, spans_of
from jury_cases.formats.trace_rows import Record, TraceGathering, is_gathered, records_of
from jury_cases.traces.span import Span, SpanKind, failures
from jury_cases.traces.timeline import read_spans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, decoded_json, is_blank

_NAME = "openinference"
_KIND = "openinference.span.kind"
_ATTRIBUTES = "attributes."
_KINDS: dict[str, SpanKind] = {"LLM": "model", "TOOL": "tool", "RETRIEVER": "tool", "AGENT": "agent"}
_FAILED = ("ERROR", "STATUS_CODE_ERROR", 2)
_OWN = ("input.value", "output.value", "llm.", "tool.", "retrieval.")


def is_openinference(attributes: Mapping[str, Any]) -> bool:
    """Whether a span's plain attributes are of OpenInference."""
    return _KIND in attributes


def openinference_spans(tables: Iterable[dict[str, Any]]) -> list[Span]:
    """The spans of one trace, given with plain attributes and events as `otlp.Traces` gathers them.

    Raises:
        CaseFileError: a value is invalid; the message begins with the span's place.
    """
    return spans_of(in_order(map(_record, tables)))


def openinference_facts(tables: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What the spans say of the case: the session, the user, the metadata of the root, annotations as scores."""
    facts: dict[str, Any] = {}
    for table in tables:
        attributes = table["attributes"]
        session, user = attributes.get("session.id"), attributes.get("user.id")
        for name, value in (("session_id", session), ("user", user), ("model", attributes.get("llm.model_name"))):
            if optional_text(value) is not None:
                facts.setdefault(name, optional_text(value))
        if _parent_id(table) is None:
            facts.setdefault("span_id", _span_id(table))
            metadata = decoded_json(attributes.get("metadata"))
            for name, value in metadata.items() if isinstance(metadata, dict) else ():
                facts.setdefault(name, value)
        facts |= dict(_scores(table.get("annotations")))
    return facts


def _scores(annotations: Any) -> Iterator[tuple[str, Any]]:
    listed = decoded_json(annotations)
    for one in listed if isinstance(listed, list) else ():
        result = one.get("result") if isinstance(one, dict) else None
        name = optional_text(one.get("name")) if isinstance(one, dict) else None
        if name is None or not isinstance(result, dict):
            continue
        value = next((result[key] for key in ("score", "label") if result.get(key) is not None), None)
        if value is not None:
            yield f"score.{name}", value
        if not is_blank(result.get("explanation")):
            yield f"score.{name}.rationale", result["explanation"]


def _read(row: Any) -> CaseDraft:
    trace_id, rows = records_of(row, _expanded)
    tables = list(map(_table, rows))
    spans = openinference_spans(tables)
    builder = TranscriptBuilder()
    read_spans(spans, builder)
    trace_id = trace_id or next((found for one in rows if (found := _trace_id(one))), None)
    facts = openinference_facts(tables)
    return CaseDraft(
        case_id=trace_id,
        built=builder,
        error=failures(spans),
        metadata=facts | ({} if trace_id is None else {"trace_id": trace_id}),
        cluster=facts.get("session_id"),
    )


def _record(table: dict[str, Any]) -> SpanRecord:
    attributes = nested(table["attributes"])
    span_id = _span_id(table)
    kind = as_text(_at(attributes, "openinference", "span", "kind") or table.get("span_kind")).upper()
    name = optional_text(_at(attributes, "tool", "name")) if kind == "TOOL" else None
    documents = _at(attributes, "retrieval", "documents") if kind == "RETRIEVER" else None
    answer = _at(attributes, "output", "value")
    if kind == "TOOL" and name is None and table.get("name") == f"handoff to {answer}":
        return _handover(table, _at(attributes, "input", "value"), answer)
    said = listed_messages(_at(attributes, "llm", "output_messages"), _at(attributes, "llm", "finish_reason"))
    return SpanRecord(
        span_id=span_id,
        parent_id=_parent_id(table),
        place=f"span {span_id}",
        kind=_KINDS.get(kind, "other"),
        name=name or as_text(table.get("name")),
        start=instant(table.get("start_time")) or 0,
        end=instant(table.get("end_time")),
        given=_at(attributes, "input", "value"),
        answer=documents if is_blank(answer) else answer,
        more_given=listed_messages(_at(attributes, "llm", "input_messages")) or None,
        more_answer=said or None,
        failure=_failure(table),
        agent=optional_text(_at(attributes, "agent", "name")),
        call_id=optional_text(_at(attributes, "tool_call", "id") or _at(attributes, "tool", "id")),
    )


def _handover(table: dict[str, Any], giver: Any, taker: Any) -> SpanRecord:
    """The span that instrumentations of agents write where one agent hands over to another."""
    found = TranscriptBuilder()
    place = f"span {_span_id(table)}"
    found.handover(optional_text(giver), optional_text(taker), place)
    return SpanRecord(
        span_id=_span_id(table),
        parent_id=_parent_id(table),
        place=place,
        kind="other",
        start=instant(table.get("start_time")) or 0,
        end=instant(table.get("end_time")),
        events=found.transcript().items,
    )


def _at(table: Any, *path: str) -> Any:
    """A value below; None if there is none. An empty name is the value of an attribute that has others below it."""
    for name in path:
        table = table.get(name) if isinstance(table, dict) else None
    return table.get("", table) if isinstance(table, dict) else table


def _failure(table: Mapping[str, Any]) -> str | None:
    """What the exception said, else the status."""
    if table.get("status_code") not in _FAILED or table.get("status_code") is True:
        return None
    events = decoded_json(table.get("events"))
    for event in events if isinstance(events, list) else ():
        inner = event.get("attributes") if isinstance(event, dict) else None
        said = inner.get("exception.message") if isinstance(inner, dict) else None
        if not is_blank(said):
            return as_text(said)
    return failure_text(table.get("status_message")) or as_text(table.get("name")) or "failed"


def _span_id(table: Mapping[str, Any]) -> str:
    return as_text(table.get("span_id"))


def _parent_id(table: Mapping[str, Any]) -> str | None:
    return optional_text(table.get("parent_id"))


def _table(row: Record) -> dict[str, Any]:
    """A row of Phoenix with plain attributes: dotted columns, or objects."""
    context = row["context"] if isinstance(row.get("context"), dict) else {}
    inner = row.get("attributes")
    attributes: dict[str, Any] = dict(inner) if isinstance(inner, dict) else {}
    for column, value in row.items():
        if column.startswith(_ATTRIBUTES):
            attributes[column.removeprefix(_ATTRIBUTES)] = value
    return {
        **{name: row.get(name) for name in ("name", "span_kind", "start_time", "end_time", "events", "annotations")},
        **{name: row.get(name) for name in ("status_code", "status_message")},
        "span_id": row.get("context.span_id") or context.get("span_id"),
        "parent_id": row.get("parent_id"),
        "attributes": attributes,
    }


def _trace_id(row: Record) -> str:
    context = row.get("context")
    inner = context.get("trace_id") if isinstance(context, dict) else None
    return as_text(row.get("context.trace_id") or inner)


def _expanded(row: Any) -> Iterator[Record]:
    if _is_span(row):
        yield row


def _is_span(row: Any) -> bool:
    if not isinstance(row, dict) or not _trace_id(row):
        return False
    attributes = row.get("attributes")
    return "span_kind" in row or isinstance(attributes, dict) or any(one.startswith(_ATTRIBUTES) for one in row)


def _rows_path(document: Mapping[str, Any]) -> str | None:
    listed = document.get("data")
    return "data" if isinstance(listed, list) and any(map(_is_span, listed[:1])) else None


OPENINFERENCE = Format(
    _NAME,
    lambda row: is_gathered(row, _NAME) or _is_span(row),
    _read,
    _rows_path,
    gather=lambda: TraceGathering(_NAME, _expanded, _trace_id),
    marks=frozenset({"context", "context.trace_id"}),
    lists=frozenset({"data"}),
    recognised_by="a span of Phoenix (`context.trace_id`); in OTLP, `openinference.span.kind` of a span",
    shows=(
        "one case per trace: messages, requests and responses of models, tool runs, handovers; the session as "
        "cluster, annotations as metadata"
    ),
)
"""Rows of Phoenix."""
