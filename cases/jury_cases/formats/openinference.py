"""Spans of OpenInference (Phoenix): their attributes in OTLP, in rows of Phoenix's span tables and in its REST answers.

Source: the package `openinference-semantic-conventions`, and `arize-phoenix` for the rows.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.formats.trace_rows import Record, TraceGathering, is_gathered, records_of
from jury_cases.traces.plain_span import id_text, optional_text, plain_span, value_at
from jury_cases.traces.span import failures
from jury_cases.traces.tables.all_tables import spans_of_tables
from jury_cases.traces.timeline import read_spans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import decoded_json, is_blank

_NAME = "openinference"
_KIND = "openinference.span.kind"
_ATTRIBUTES = "attributes."


def openinference_facts(tables: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What the spans say of the case: the session, the user, the metadata of the root, annotations as scores."""
    facts: dict[str, Any] = {}
    for table in tables:
        attributes = table["attributes"]
        for name, key in (("session_id", "session.id"), ("user", "user.id"), ("model", "llm.model_name")):
            if (value := optional_text(value_at(attributes, key))) is not None:
                facts.setdefault(name, value)
        if (span := plain_span(table)).parent_id is None:
            facts.setdefault("span_id", span.span_id)
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
    spans = spans_of_tables(map(plain_span, tables))
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


def _table(row: Record) -> dict[str, Any]:
    """A row of Phoenix with plain attributes: dotted columns, or objects; its kind is a column."""
    inner = row.get("attributes")
    attributes: dict[str, Any] = dict(inner) if isinstance(inner, dict) else {}
    for column, value in row.items():
        if column.startswith(_ATTRIBUTES):
            attributes[column.removeprefix(_ATTRIBUTES)] = value
    attributes.setdefault(_KIND, row.get("span_kind"))
    return {**row, "attributes": attributes}


def _trace_id(row: Record) -> str:
    context = row.get("context")
    inner = context.get("trace_id") if isinstance(context, dict) else None
    return id_text(row.get("context.trace_id") or inner)


def _expanded(row: Any) -> Iterator[Record]:
    if _is_span(row):
        yield row


def _is_span(row: Any) -> bool:
    if not isinstance(row, dict) or not _trace_id(row):
        return False
    attributes = row.get("attributes")
    named = isinstance(attributes, dict) and value_at(attributes, _KIND) is not None
    return "span_kind" in row or named or any(one.startswith(_ATTRIBUTES) for one in row)


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
