"""OTLP as JSON: the spans and log records of an export, grouped by trace, with plain attributes.

A log record of a span is an event of that span: some tools export messages so. One whose span is not in the file is an
event of a span that has nothing else.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jury_cases.containers.row import FileRow
from jury_cases.errors import CaseFileError
from jury_cases.formats.gathering import GatheredCase, Gathering, RowsByKey
from jury_cases.traces.plain_span import id_text, plain_span
from jury_cases.traces.tables.all_tables import TABLES
from jury_cases.transcripts.json_values import as_objects, as_text, decoded_json, json_kind

RESOURCES = ("resourceSpans", "resource_spans")
LOGS = ("resourceLogs", "resource_logs")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")


class Trace(dict[str, Any]):
    """One trace of an export: its spans, each with plain attributes, as a row."""


class Traces(Gathering):
    """Gathers the spans and log records of an export's batches by trace.

    Traces without spans of generative AI are left out, and those that only say how an agent is made.
    """

    def __init__(self) -> None:
        self._spans = RowsByKey(_trace_id, "trace", _trace)

    def add(self, row: FileRow) -> None:
        """Add a batch."""
        try:
            for part in _parts(row.data):
                self._spans.add_part(_trace_id(part), part, row)
        except RecursionError as error:
            raise CaseFileError("resourceSpans: nested too deeply") from error

    def cases(self) -> Iterator[GatheredCase]:
        """The traces with spans of generative AI, in the order of their first span."""
        found = False
        for one in self._spans.cases():
            spans = [] if isinstance(one.data, CaseFileError) else one.data["spans"]
            if not spans or any(is_genai(span) and not _only_makes_agent(span) for span in spans):
                found = True
                yield one
        if not found:
            raise CaseFileError("resourceSpans: no span has attributes of a known dialect; nothing can be judged")


def _trace(trace_id: str, parts: list[dict[str, Any]]) -> Trace:
    events: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    times: dict[str, Any] = {}
    for record in (part for part in parts if _RECORD in part):
        events[span_id(record)].append({"name": record["name"], "attributes": record["attributes"]})
        times.setdefault(span_id(record), first_of(record, ("timeUnixNano", "time_unix_nano", "observedTimeUnixNano")))
    spans = [
        {**span, "events": [*span["events"], *events.pop(span_id(span), ())]} for span in parts if _RECORD not in span
    ]
    for of, listed in events.items():
        time = {"startTimeUnixNano": times[of], "endTimeUnixNano": times[of]}
        spans.append({"spanId": of, **time, "attributes": {}, "events": listed})
    return Trace(spans=spans, trace_id=trace_id)


def _only_makes_agent(span: dict[str, Any]) -> bool:
    return span["attributes"].get("gen_ai.operation.name") == "create_agent" and not span["events"]


def span_id(span: dict[str, Any]) -> str:
    """The id of a span, or of a log record's span; "" if it has none."""
    return id_text(first_of(span, ("spanId", "span_id")) or _table(span.get("context")).get("span_id"))


def _trace_id(span: dict[str, Any]) -> str:
    return id_text(first_of(span, ("traceId", "trace_id")) or _table(span.get("context")).get("trace_id"))


def is_sdk_span(row: Mapping[str, Any]) -> bool:
    """Whether a row is a span as OpenTelemetry's SDK writes it (`to_json`, the console's exporter)."""
    context = row.get("context")
    return isinstance(context, dict) and "trace_id" in context and {"attributes", "resource", "kind"} <= row.keys()


def _parts(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict) and is_sdk_span(document):
        common = _attributes(_table(document.get("resource")).get("attributes"))
        attributes = common | _attributes(document.get("attributes"))
        yield {**document, "attributes": attributes, "events": document.get("events") or []}
        return
    if not isinstance(document, dict):
        raise CaseFileError(f"resourceSpans: must be an object with resourceSpans, not {json_kind(document)}")
    yield from _spans(document)
    yield from _records(document)


def _spans(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in as_objects(first_of(document, RESOURCES), "resourceSpans", "resources"):
        common = _attributes(_table(resource.get("resource")).get("attributes"))
        for scope in as_objects(first_of(resource, _SCOPES), "scopeSpans", "scopes"):
            for span in as_objects(scope.get("spans"), "spans", "spans"):
                events = as_objects(span.get("events"), "events", "events")
                plain = [{**event, "attributes": _attributes(event.get("attributes"))} for event in events]
                yield {**span, "attributes": common | _attributes(span.get("attributes")), "events": plain}


def _records(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The log records of generative AI in a batch, with plain values; fields of the body are attributes."""
    for resource in as_objects(first_of(document, LOGS), "resourceLogs", "resources"):
        for scope in as_objects(first_of(resource, _LOG_SCOPES), "scopeLogs", "scopes"):
            for record in as_objects(first_of(scope, ("logRecords", "log_records")), "logRecords", "log records"):
                attributes = _attributes(record.get("attributes"))
                name = as_text(first_of(record, ("eventName", "event_name")) or attributes.get("event.name"))
                if name.startswith("gen_ai."):
                    body = decoded_json(_any_value(record.get("body")))  # Semantic Kernel logs a text
                    if isinstance(body, dict):  # attributes beside a message are of the logger
                        attributes = {key: one for key, one in attributes.items() if key.startswith(_OF_EVENTS)} | body
                    yield {**record, "name": name, "attributes": attributes, _RECORD: True}


_OF_EVENTS = ("gen_ai.", "event.")
_LOG_SCOPES = ("scopeLogs", "scope_logs")
_RECORD = "\0record"
"""Marks a log record among the parts of a trace."""


def is_genai(span: dict[str, Any]) -> bool:
    """Whether a span is of a dialect that is known."""
    plain = plain_span(span)
    return any(table.has(plain) for table in TABLES)


_DIGITS = 40


def first_of(table: dict[str, Any], names: Iterable[str]) -> Any:
    return next((table[name] for name in names if table.get(name) is not None), None)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _attributes(listed: Any) -> dict[str, Any]:
    if isinstance(listed, dict):
        return {as_text(key): value for key, value in listed.items()}
    return {
        as_text(one.get("key")): _any_value(one.get("value")) for one in as_objects(listed, "attributes", "attributes")
    }


def _any_value(value: Any) -> Any:
    """OTLP's AnyValue as plain JSON; other values unchanged."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    match kind:
        case "arrayValue":
            values = _table(inner).get("values")
            return [_any_value(one) for one in values] if isinstance(values, list) else inner or []
        case "kvlistValue":
            return _attributes(inner["values"]) if isinstance(inner, dict) and "values" in inner else inner or {}
        case "intValue":
            return _whole(inner)
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return inner
        case _:
            return value


def _whole(value: Any) -> Any:
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    return int(value) if digits.isdecimal() and len(digits) < _DIGITS else value
