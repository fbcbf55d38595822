"""The messages of a span: in attributes (as JSON or numbered) or in events."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from jury_cases.formats.otlp import as_list
from jury_cases.transcripts.json_values import as_objects, as_text, decoded_json
from jury_cases.transcripts.otel import (
    ContentCounter,
    TraceMessage,
)

_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"


def messages_of_span(span: dict[str, Any], place: str) -> tuple[list[TraceMessage], list[TraceMessage]]:
    """A span's input and output messages; if recorded in several ways, each message once."""
    attributes = span["attributes"]
    taken = [_listed(attributes, _INPUT), list(_indexed(attributes, "gen_ai.prompt", "user"))]
    put = [_listed(attributes, _OUTPUT), list(_indexed(attributes, "gen_ai.completion", "assistant"))]
    asked: list[dict[str, Any]] = []
    chosen: list[dict[str, Any]] = []
    for event in span["events"]:
        name, body = as_text(event.get("name")), event["attributes"]
        if name in _EVENT_ROLES:
            asked.append(_of_event(_EVENT_ROLES[name], body))
        elif name == "gen_ai.choice":
            chosen.append(_choice(body))
        elif name == "gen_ai.client.inference.operation.details":
            taken.append(_listed(body, _INPUT))
            put.append(_listed(body, _OUTPUT))
    inputs = _merged([*taken, asked], f"{place}.messages")
    outputs = _merged([*put, chosen], f"{place}.output")
    system = [
        {"type": "text", "content": part} if isinstance(part, str) else part
        for part in as_list(attributes.get("gen_ai.system_instructions"))
    ]
    if system:
        inputs.insert(0, TraceMessage({"role": "system", "parts": system}, f"{place}.gen_ai.system_instructions"))
    return inputs, _one_choice(outputs, attributes)


def _listed(attributes: dict[str, Any], key: str) -> list[dict[str, Any]]:
    role = {"role": "assistant"} if key == _OUTPUT else {}
    return [{**role, **message} for message in as_objects(as_list(attributes.get(key)), key, "messages")]


def _merged(sources: list[list[dict[str, Any]]], place: str) -> list[TraceMessage]:
    """The messages of the first source, and additional content of the others."""
    merged: list[TraceMessage] = []
    for messages in sources:
        new = [TraceMessage(message, f"{place}.{len(merged) + index}") for index, message in enumerate(messages)]
        if merged:
            counter = ContentCounter()
            counter.count(merged)
            new = counter.unreported(new)
        merged += new
    return merged


def _one_choice(outputs: list[TraceMessage], attributes: dict[str, Any]) -> list[TraceMessage]:
    """Mark all choices but the first as alternatives."""
    asked = attributes.get("gen_ai.request.choice.count")
    several = isinstance(asked, int) and asked > 1
    choices = [message.data.get(_CHOICE, several) for message in outputs]
    plain = [
        replace(message, data={key: value for key, value in message.data.items() if key != _CHOICE})
        for message in outputs
    ]
    return [replace(message, other=bool(index and choices[index])) for index, message in enumerate(plain)]


_CHOICE = "\0choice"
"""Marks messages that are alternative choices of one answer."""


def _of_event(role: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """A message of a span event, as defined by the conventions before 1.37."""
    body = _body(attributes)
    message = {"content": None, **body, "role": as_text(body.get("role")) or role}
    return message | ({"tool_call_id": body["id"]} if role == "tool" and "id" in body else {})


def _choice(attributes: dict[str, Any]) -> dict[str, Any]:
    """The message of a choice, with its finish reason."""
    body = {key: value for key, value in _body(attributes).items() if key != "index"}
    message = body.pop("message", None)
    inner = message if isinstance(message, dict) else {} if message is None else {"content": message}
    return {"content": None, **body, **inner, "role": "assistant", _CHOICE: True}


def _body(attributes: dict[str, Any]) -> dict[str, Any]:
    named = {key.removeprefix("gen_ai.event."): decoded_json(value) for key, value in attributes.items()}
    return {key: value for key, value in named.items() if not key.startswith("gen_ai.") and key != "event.name"}


def _indexed(attributes: dict[str, Any], prefix: str, role: str) -> Iterator[dict[str, Any]]:
    """`gen_ai.prompt.0.role`, `gen_ai.prompt.0.content` … as OpenLLMetry writes them."""
    messages: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    calls: defaultdict[tuple[int, int], dict[str, Any]] = defaultdict(dict)
    for key, value in attributes.items():
        path = key.removeprefix(f"{prefix}.").split(".")
        if not key.startswith(f"{prefix}.") or not path[0].isdecimal():
            continue
        number = int(path[0][:6])
        if path[1:2] == ["tool_calls"] and len(path) == 4 and path[2].isdecimal():  # noqa: PLR2004  (parts of the path)
            calls[number, int(path[2][:6])][path[3]] = value
        elif len(path) == 2:  # noqa: PLR2004  (parts of the path)
            messages[number][path[1]] = decoded_json(value) if path[1] == "content" else value
    for (number, _), call in sorted(calls.items()):
        listed = messages[number].setdefault("tool_calls", [])
        if isinstance(listed, list):
            listed.append(call)
    mark = {_CHOICE: True} if role == "assistant" else {}
    for _, message in sorted(messages.items(), key=lambda one: one[0]):
        yield {"role": role, **message, **mark}
