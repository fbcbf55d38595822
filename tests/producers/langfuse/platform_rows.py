"""What Langfuse's public API returns of spans that its SDK exported: the platform itself does not run here.

Observations are rows of the SDK's published model `ObservationV2`, which checks them: input and output are texts.
Traces are `TraceWithFullDetails` of the SDK of version 4 with `ObservationsView`s: there the API decodes input and
output. Ids, levels, types and metadata are made of spans as the platform's ingestion of OpenTelemetry makes them.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from langfuse.api.commons.types.observation_v2 import ObservationV2
from langfuse.api.core.pydantic_utilities import parse_obj_as
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from model_server import Request

PROJECT = "cmproject"
_OBSERVATION = "langfuse.observation."
_TRACE = "langfuse.trace."


def exported_spans(requests: Iterable[Request]) -> list[dict[str, Any]]:
    """The spans of all exports, by their start, with plain attributes."""
    found = []
    for request in requests:
        batch = ExportTraceServiceRequest()
        batch.ParseFromString(request.content)
        for resource in batch.resource_spans:
            for scope in resource.scope_spans:
                found += [_span(span, scope.scope.name) for span in scope.spans]
    return sorted(found, key=lambda one: one["start"])


def _span(span: Any, scope: str) -> dict[str, Any]:
    return {
        "id": span.span_id.hex(),
        "parent": span.parent_span_id.hex() or None,
        "trace": span.trace_id.hex(),
        "name": span.name,
        "scope": scope,
        "start": span.start_time_unix_nano,
        "end": span.end_time_unix_nano,
        "failed": span.status.code == 2,
        "message": span.status.message,
        "attributes": {one.key: _plain(one.value) for one in span.attributes},
    }


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(one) for one in value.array_value.values]
    return None if kind is None else getattr(value, kind)


def _time(nanoseconds: int) -> str:
    moment = datetime.fromtimestamp(nanoseconds // 1_000_000 / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _of(attributes: dict[str, Any], name: str) -> Any:
    return attributes.get(_OBSERVATION + name)


def _decoded(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def _metadata(attributes: dict[str, Any], scope: str) -> dict[str, Any]:
    found: dict[str, Any] = {"resourceAttributes": {"service.name": "shop"}, "scope": {"name": scope}}
    for prefix in (_TRACE, _OBSERVATION):
        start = f"{prefix}metadata."
        found |= {name[len(start) :]: _decoded(one) for name, one in attributes.items() if name.startswith(start)}
    return found


def observation_rows(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of `GET /api/public/v2/observations` with all groups of fields, the latest first."""
    rows = [_observation(one, spans) for one in spans]
    for row in rows:
        parse_obj_as(ObservationV2, row)
    return rows[::-1]


def _observation(span: dict[str, Any], spans: list[dict[str, Any]]) -> dict[str, Any]:
    attributes = span["attributes"]
    costs = _decoded(_of(attributes, "cost_details")) or {}
    of_trace = _trace_attributes([one for one in spans if one["trace"] == span["trace"]])
    return {
        "id": span["id"],
        "traceId": span["trace"],
        "startTime": _time(span["start"]),
        "endTime": _time(span["end"]),
        "projectId": PROJECT,
        "parentObservationId": span["parent"],
        "isRootObservation": span["parent"] is None,
        "type": str(_of(attributes, "type") or "span").upper(),
        "name": span["name"],
        "level": _of(attributes, "level") or ("ERROR" if span["failed"] else "DEFAULT"),
        "statusMessage": _of(attributes, "status_message") or span["message"] or None,
        "version": None,
        "environment": "default",
        "bookmarked": False,
        "public": False,
        "userId": of_trace.get("user.id"),
        "sessionId": of_trace.get("session.id"),
        "completionStartTime": None,
        "createdAt": _time(span["end"]),
        "updatedAt": _time(span["end"]),
        "input": _of(attributes, "input"),
        "output": _of(attributes, "output"),
        "metadata": _metadata(attributes, span["scope"]),
        "model": _of(attributes, "model.name"),
        "internalModelId": None,
        "modelParameters": _of(attributes, "model.parameters"),
        "usageDetails": {},
        "costDetails": costs,
        "totalCost": costs.get("total", 0),
        "usagePricingTierName": None,
        "promptId": None,
        "promptName": None,
        "promptVersion": None,
        "latency": 0.1,
        "timeToFirstToken": None,
        "tags": of_trace.get(f"{_TRACE}tags", []),
        "release": None,
        "traceName": of_trace.get(f"{_TRACE}name"),
    }


def _trace_attributes(spans: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for span in spans:
        found |= {name: one for name, one in span["attributes"].items() if not name.startswith(_OBSERVATION)}
    return found


def trace_row(spans: list[dict[str, Any]], scores: list[dict[str, Any]], *, with_input: bool = True) -> dict[str, Any]:
    """`GET /api/public/traces/ID` of one trace's spans; without input and output, as where the platform sets none."""
    views = [_view(_observation(one, spans)) for one in spans]
    root = next(one for one in views if one["parentObservationId"] is None)
    attributes = _trace_attributes(spans)
    return {
        "id": root["traceId"],
        "projectId": PROJECT,
        "timestamp": root["startTime"],
        "name": attributes.get(f"{_TRACE}name") or root["name"],
        "input": root["input"] if with_input else None,
        "output": root["output"] if with_input else None,
        "sessionId": root["sessionId"],
        "userId": root["userId"],
        "release": None,
        "version": None,
        "metadata": root["metadata"],
        "tags": attributes.get(f"{_TRACE}tags", []),
        "public": False,
        "environment": "default",
        "htmlPath": f"/project/{PROJECT}/traces",
        "latency": 0.5,
        "totalCost": sum(one["totalCost"] for one in views),
        "bookmarked": False,
        "observations": views,
        "scores": [{**one, "traceId": root["traceId"]} for one in scores],
    }


def _view(row: dict[str, Any]) -> dict[str, Any]:
    """The observation as traces contain it, with the deprecated fields of usage."""
    return {
        **row,
        "input": _decoded(row["input"]),
        "output": _decoded(row["output"]),
        "usage": {"input": 0, "output": 0, "total": 0, "unit": "TOKENS"},
        "calculatedTotalCost": row["totalCost"],
    }
