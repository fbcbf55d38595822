"""OpenTelemetry traces of generative AI: one case per trace, from its model calls, agents and tools.

OTLP as JSON, and the JSON that OpenTelemetry's SDK writes of a span. What attributes mean is in `jury_cases.traces`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jury_cases.containers.row import FileRow
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import (
    Format,
    GatheredCase,
    GatheredRows,
    Gathering,
    Record,
    RowsByKey,
    TraceGathering,
    records_of,
    rows_at,
)
from jury_cases.traces.all_tables import OPENINFERENCE_SPANS, TABLES, spans_of_tables
from jury_cases.traces.span import SCOPE, failures, id_text, optional_text, plain_span, root_of, value_at
from jury_cases.traces.timeline import draft_of_spans, read_spans
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_object, as_objects, as_text, decoded_json, is_blank, json_kind

RESOURCES = ("resourceSpans", "resource_spans", "batches")
"""Grafana Tempo calls them `batches`."""
LOGS = ("resourceLogs", "resource_logs")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")


class Traces(Gathering):
    """Gathers the spans and log records of an export's batches by trace.

    Traces without spans of generative AI are left out, and those that only say how an agent is made.
    """

    def __init__(self) -> None:
        self._spans = RowsByKey(_trace_id, "trace", _trace)

    def takes(self, data: Any) -> bool:
        """Whether a row is a further span, of any kind."""
        return _has_ids(data)

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
            raise CaseFileError("resourceSpans: no span has attributes of a known convention; nothing can be judged")


def _trace(trace_id: str, parts: list[dict[str, Any]]) -> GatheredRows:
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
    return GatheredRows(spans=spans, trace_id=trace_id)


def _only_makes_agent(span: dict[str, Any]) -> bool:
    return span["attributes"].get("gen_ai.operation.name") == "create_agent" and not span["events"]


def span_id(span: dict[str, Any]) -> str:
    """The id of a span, or of a log record's span; "" if it has none."""
    return id_text(first_of(span, ("spanId", "span_id")) or as_object(span.get("context")).get("span_id"))


def _trace_id(span: dict[str, Any]) -> str:
    return id_text(first_of(span, ("traceId", "trace_id")) or as_object(span.get("context")).get("trace_id"))


def is_sdk_span(row: Mapping[str, Any]) -> bool:
    """Whether a row is a span as OpenTelemetry's SDK writes it (`to_json`, the console's exporter)."""
    context = row.get("context")
    return isinstance(context, dict) and "trace_id" in context and {"attributes", "resource", "kind"} <= row.keys()


def _parts(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict) and is_sdk_span(document):
        common = _attributes(as_object(document.get("resource")).get("attributes"))
        attributes = common | _attributes(document.get("attributes"))
        yield {**document, "attributes": attributes, "events": document.get("events") or []}
        return
    if not isinstance(document, dict):
        raise CaseFileError(f"resourceSpans: must be an object with resourceSpans, not {json_kind(document)}")
    if _has_ids(document):
        yield _plain(document, {})
        return
    yield from _spans(document)
    yield from _records(document)
    yield from _of_jaeger(document)


def _spans(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in as_objects(first_of(document, RESOURCES), "resourceSpans", "resources"):
        common = _attributes(as_object(resource.get("resource")).get("attributes"))
        for scope in as_objects(first_of(resource, _SCOPES), "scopeSpans", "scopes"):
            library = as_object(first_of(scope, ("scope", "instrumentationLibrary", "instrumentation_library")))
            for span in as_objects(scope.get("spans"), "spans", "spans"):
                yield _plain(span, common) | {SCOPE: library.get("name")}


def _plain(span: dict[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """A span of OTLP with plain values, and those of its resource."""
    events = as_objects(decoded_json(span.get("events")), "events", "events")
    plain = [{**event, "attributes": _attributes(event.get("attributes"))} for event in events]
    return {**span, "attributes": {**common, **_attributes(decoded_json(span.get("attributes")))}, "events": plain}


_IDS = ({"traceId", "spanId", "attributes"}, {"trace_id", "span_id", "attributes"})


def _has_ids(row: Any) -> bool:
    return isinstance(row, dict) and any(one <= row.keys() for one in _IDS)


def is_bare_span(row: Mapping[str, Any]) -> bool:
    """Whether a row is a span of OTLP without the batch around it, as tables of spans have it."""
    listed = decoded_json(row["attributes"]) if _has_ids(row) else None
    if isinstance(listed, list):
        return bool(listed) and all(isinstance(one, dict) and {"key", "value"} <= one.keys() for one in listed)
    return isinstance(listed, dict) and any(name.startswith(("gen_ai.", "openinference.", "llm.")) for name in listed)


def is_jaeger(row: Any) -> bool:
    """Whether a row is a trace as Jaeger's API and its interface give it."""
    return isinstance(row, dict) and {"traceID", "spans"} <= row.keys()


def _of_jaeger(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The spans of a trace of Jaeger: tags are attributes, logs are events, times are in microseconds."""
    if not is_jaeger(document):
        return
    processes = as_object(document.get("processes"))
    for span in as_objects(document["spans"], "spans", "spans"):
        process = as_object(processes.get(as_text(span.get("processID"))))
        tags = {"service.name": process.get("serviceName")} | _tags(process.get("tags")) | _tags(span.get("tags"))
        logs = as_objects(span.get("logs"), "logs", "logs")
        start, lasts = span.get("startTime"), span.get("duration")
        times = (start * 1000, (start + lasts) * 1000) if isinstance(start, int) and isinstance(lasts, int) else None
        yield {
            "traceId": span.get("traceID"),
            "spanId": span.get("spanID"),
            "parentSpanId": next((one.get("spanID") for one in _parents(span)), span.get("parentSpanID")),
            "name": span.get("operationName"),
            "startTimeUnixNano": times and times[0],
            "endTimeUnixNano": times and times[1],
            "status": {
                "code": 2 if tags.get("error") is True or tags.get("otel.status_code") == "ERROR" else 0,
                "message": tags.get("otel.status_description") or "",
            },
            "attributes": tags,
            "events": [
                {"name": as_text(fields.pop("event", None)), "attributes": fields}
                for log in logs
                for fields in [_tags(log.get("fields"))]
            ],
        }


def _parents(span: dict[str, Any]) -> Iterator[dict[str, Any]]:
    references = as_objects(span.get("references"), "references", "references")
    yield from (one for one in references if one.get("refType") == "CHILD_OF")


def _tags(listed: Any) -> dict[str, Any]:
    return {as_text(one.get("key")): one.get("value") for one in as_objects(listed, "tags", "tags")}


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
    """Whether a span follows a convention that is known."""
    plain = plain_span(span)
    return any(table.has(plain) for table in TABLES)


_DIGITS = 40


def first_of(table: dict[str, Any], names: Iterable[str]) -> Any:
    return next((table[name] for name in names if table.get(name) is not None), None)


def _attributes(listed: Any) -> dict[str, Any]:
    if isinstance(listed, dict):
        return {as_text(key): value for key, value in listed.items()}
    return {
        as_text(one.get("key")): _any_value(one.get("value")) for one in as_objects(listed, "attributes", "attributes")
    }


def _any_value(value: Any) -> Any:
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    match camel_case(kind):
        case "arrayValue":
            values = as_object(inner).get("values")
            return [_any_value(one) for one in values] if isinstance(values, list) else inner or []
        case "kvlistValue":
            return _attributes(inner["values"]) if isinstance(inner, dict) and "values" in inner else inner or {}
        case "intValue":
            return _whole(inner)
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return inner
        case _:
            return value


def camel_case(name: Any) -> str:
    """A field of OTLP by its name in JSON; some exporters write the one of the protocol (`string_value`)."""
    first, *others = as_text(name).split("_")
    return first + "".join(one.title() for one in others)


def _whole(value: Any) -> Any:
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    return int(value) if digits.isdecimal() and len(digits) < _DIGITS else value


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


def _read_openinference(row: Any) -> CaseDraft:
    trace_id, rows = records_of(row, _expanded)
    tables = list(map(_as_table, rows))
    spans = spans_of_tables(map(plain_span, tables))
    trace_id = trace_id or next((found for one in rows if (found := _trace_of(one))), None)
    facts = openinference_facts(tables)
    return draft_of_spans(spans, facts | {"trace_id": trace_id}, case_id=trace_id, cluster=facts.get("session_id"))


def _as_table(row: Record) -> dict[str, Any]:
    """A row of Phoenix with plain attributes: dotted columns, or objects; its kind is a column."""
    inner = row.get("attributes")
    attributes: dict[str, Any] = dict(inner) if isinstance(inner, dict) else {}
    for column, value in row.items():
        if column.startswith(_ATTRIBUTES):
            attributes[column.removeprefix(_ATTRIBUTES)] = value
    attributes.setdefault(_KIND, row.get("span_kind"))
    return {**row, "attributes": attributes}


def _trace_of(row: Record) -> str:
    context = row.get("context")
    inner = context.get("trace_id") if isinstance(context, dict) else None
    return id_text(row.get("context.trace_id") or inner)


def _expanded(row: Any) -> Iterator[Record]:
    if _is_span(row):
        yield row


def _is_span(row: Any) -> bool:
    if not isinstance(row, dict) or not _trace_of(row):
        return False
    attributes = row.get("attributes")
    named = isinstance(attributes, dict) and value_at(attributes, _KIND) is not None
    return "span_kind" in row or named or any(one.startswith(_ATTRIBUTES) for one in row)


OPENINFERENCE = Format(
    _NAME,
    _is_span,
    _read_openinference,
    rows_at("data", _is_span),
    gather=lambda: TraceGathering(_expanded, _trace_of),
    recognised_by="a span of Phoenix (`context.trace_id`); in OTLP, `openinference.span.kind` of a span",
    shows=(
        "one case per trace: messages, requests and responses of models, tool runs, handovers; the session as "
        "cluster, annotations as metadata"
    ),
)
"""Rows of Phoenix."""


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
    plain = list(map(plain_span, row["spans"]))
    spans = spans_of_tables(plain)
    if (root := root_of(spans)) is not None:
        facts["span_id"] = root.span_id
    for one in plain:
        for key, name in _FACTS.items():
            if key in one.attributes:
                facts.setdefault(name, one.attributes[key])
    facts |= openinference_facts(one for one in row["spans"] if OPENINFERENCE_SPANS.has(plain_span(one)))
    builder = TranscriptBuilder()
    read_spans(spans, builder)
    error = failures(spans)
    says = any(item.kind not in {"tool_call", "tool_result", "not_shown"} for item in builder.transcript().items)
    if error is None and not says and (not len(builder) or any(span.kind == "model" for span in spans)):
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


_MARKS = frozenset({*RESOURCES, *LOGS})

OTEL = Format(
    "otel",
    lambda row: (
        isinstance(row, dict)
        and (not row.keys().isdisjoint(_MARKS) or is_sdk_span(row) or is_jaeger(row) or is_bare_span(row))
    ),
    _read,
    rows_at("data", is_jaeger),
    gather=Traces,
    recognised_by=(
        "`resourceSpans`, `batches` (Tempo) or `resourceLogs` (OTLP as JSON); a span of the SDK (`context`), or "
        "of OTLP alone (`spanId`); a trace of Jaeger (`traceID`)"
    ),
    shows=(
        "one case per trace, which may span several lines of a file: messages, tool runs and failures of its spans, "
        "events and log records, in the attributes of `gen_ai`, OpenInference, Vercel's AI SDK and others"
    ),
)
"""OTLP as JSON, and spans of the SDK."""
