"""Traces of MLflow: `Trace.to_json()`, the file of a trace's spans, and rows of `mlflow.search_traces`.

Source: the package `mlflow` (`mlflow.entities.Trace`, `Span.to_dict`, `Assessment`), of versions 2 and 3.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.traces.all_tables import spans_of_tables
from jury_cases.traces.span import optional_text, plain_span
from jury_cases.traces.timeline import draft_of_spans
from jury_cases.transcripts.json_values import as_objects, as_text, decoded_json, is_blank

_OWN = "mlflow."
_SESSION = "mlflow.trace.session"
_USER = "mlflow.trace.user"


def _read(row: Any) -> CaseDraft:
    table = _table(row)
    data, info = _table(table.get("data")), _table(table.get("info"))
    listed = decoded_json(table.get("spans")) if is_blank(data) else data.get("spans")
    tables = as_objects(decoded_json(listed), "spans", "spans")
    spans = spans_of_tables(plain_span(_plain(one)) for one in tables)
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
    return draft_of_spans(spans, facts, case_id=facts["trace_id"], cluster=session)


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


def _recognises(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    data = decoded_json(row.get("data")) if "info" in row else row
    spans = decoded_json(data.get("spans")) if isinstance(data, dict) else None
    return isinstance(spans, list) and any(map(_is_span, spans[:_LOOKED_AT]))


_LOOKED_AT = 10

MLFLOW = Format(
    "mlflow",
    _recognises,
    _read,
    recognised_by="`info` and `data`, or `spans`, of a trace (MLflow 2 and 3)",
    shows="messages, requests and responses of models, tool runs; the session as cluster, assessments as metadata",
)
"""Traces of MLflow."""
