"""Spans of OpenTelemetry as OTLP writes them, in short."""

import json
from typing import Any

ERROR = {"code": 2, "message": "boom"}


def said(role: str, *parts: str | dict[str, Any], **fields: Any) -> dict[str, Any]:
    listed = [{"type": "text", "content": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "parts": listed, **fields}


def call(call_id: str | None, name: str = "pay", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "name": name, "arguments": arguments} | ({"id": call_id} if call_id else {})


def returned(call_id: str | None, response: Any) -> dict[str, Any]:
    return {"type": "tool_call_response", "response": response} | ({"id": call_id} if call_id else {})


def span(number: int, *times: int, of: int | None = None, **fields: Any) -> dict[str, Any]:
    """A span. Attributes of `gen_ai` are named as in `operation__name`; `events`, `status`, `attributes` are not."""
    own = {name: fields.pop(name) for name in ("events", "status", "attributes") if name in fields}
    attributes = {f"gen_ai.{key.replace('__', '.')}": value for key, value in fields.items()}
    listed = [
        {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
        for key, value in (attributes | own.pop("attributes", {})).items()
    ]
    start, *end = times or (number,)
    ends = {"endTimeUnixNano": str(end[0])} if end else {}
    parent = {} if of is None else {"parentSpanId": f"s{of}"}
    return {
        "traceId": "t",
        "spanId": f"s{number}",
        "startTimeUnixNano": str(start),
        "attributes": listed,
        **ends,
        **parent,
        **own,
    }


def chat(number: int, asked: list[Any], answered: list[Any], *times: int, **fields: Any) -> dict[str, Any]:
    return span(number, *times, input__messages=asked, output__messages=answered, **fields)


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def as_any_value(value: Any) -> dict[str, Any]:
    """As OTLP writes it."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": as_any_value(one)} for key, one in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [as_any_value(one) for one in value]}}
    return {"stringValue": value}
