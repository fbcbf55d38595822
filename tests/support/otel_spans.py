"""Spans of OpenTelemetry as OTLP writes them, made of a short form.

{"span": "s1", "start": "1", "end": "2", "parent": "s0", "attributes": {"gen_ai.input.messages": [...]}}
"""

import json
from typing import Any

_NAMES = {"span": "spanId", "start": "startTimeUnixNano", "end": "endTimeUnixNano", "parent": "parentSpanId"}


def span(short: dict[str, Any]) -> dict[str, Any]:
    """The span; values of attributes that are no texts are JSON in a text."""
    fields = {_NAMES.get(name, name): value for name, value in short.items() if name != "attributes"}
    attributes = [
        {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
        for key, value in short.get("attributes", {}).items()
    ]
    return {"traceId": "t", **fields, "attributes": attributes}


def chat(number: int, asked: list[Any], answered: list[Any], **fields: Any) -> dict[str, Any]:
    """A span of one call of a model."""
    said = {"gen_ai.input.messages": asked, "gen_ai.output.messages": answered}
    return {"span": f"s{number}", "start": f"{number}", "attributes": said, **fields}


def said(role: str, *parts: str | dict[str, Any], **fields: Any) -> dict[str, Any]:
    listed = [{"type": "text", "content": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "parts": listed, **fields}


def export(spans: list[dict[str, Any]]) -> dict[str, Any]:
    """A line with these spans."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span(one) for one in spans]}]}]}


def as_any_value(value: Any) -> dict[str, Any]:
    """As OTLP writes it."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": as_any_value(one)} for key, one in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [as_any_value(one) for one in value]}}
    return {"stringValue": value}
