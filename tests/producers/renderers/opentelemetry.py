"""OpenTelemetry: the messages of a chat span, as OTLP in JSON."""

import json
from typing import Any

from producers.renderers.conversation import Conversation, Exchange, Shape, Step
from producers.renderers.pictures import in_base64


def _user(exchange: Exchange) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "content": exchange.user}]
    if exchange.picture is not None:
        blob = {"mime_type": "image/png", "modality": "image", "content": in_base64(exchange.picture)}
        parts.append({"type": "blob", **blob})
    return {"role": "user", "parts": parts}


def _answer(step: Step) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if step.reasoning is not None:
        parts.append({"type": "reasoning", "content": step.reasoning})
    parts += [{"type": "text", "content": text} for text in (step.text, step.refusal) if text is not None]
    parts += [
        {"type": "tool_call", "id": one.call_id, "name": one.name, "arguments": one.arguments} for one in step.calls
    ]
    return {"role": "assistant", "parts": parts}


def part_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """The messages without the instructions."""
    messages: list[dict[str, Any]] = []
    for exchange in conversation.exchanges:
        messages.append(_user(exchange))
        for step in exchange.steps:
            messages.append(_answer(step))
            messages += [
                {
                    "role": "tool",
                    "parts": [{"type": "tool_call_response", "id": one.call.call_id, "response": one.text}],
                }
                for one in step.results
            ]
    return messages


def span(number: int, attributes: dict[str, Any], parent: int | None = None) -> dict[str, Any]:
    """A span of trace `…01` with text attributes."""
    found = {
        "traceId": f"{1:032x}",
        "spanId": f"{number:016x}",
        "name": "chat m",
        "startTimeUnixNano": str(1_764_000_000_000_000_000 + 1000 * number),
        "endTimeUnixNano": str(1_764_000_000_000_000_500 + 1000 * number),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }
    return found if parent is None else {**found, "parentSpanId": f"{parent:016x}"}


def export(spans: list[dict[str, Any]]) -> dict[str, Any]:
    """An OTLP document."""
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


def _attributes(conversation: Conversation, inputs: list[Any], outputs: list[Any]) -> dict[str, str]:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(inputs)}
    if conversation.system is not None:
        system = [{"type": "text", "content": conversation.system}]
        attributes["gen_ai.system_instructions"] = json.dumps(system)
    if outputs:
        attributes["gen_ai.output.messages"] = json.dumps([{**one, "finish_reason": "stop"} for one in outputs])
    return attributes


def _one_span(conversation: Conversation) -> dict[str, Any]:
    """All in one span: the last answer is its output."""
    messages = part_messages(conversation)
    answered = messages[-1]["role"] == "assistant"
    inputs, outputs = (messages[:-1], messages[-1:]) if answered else (messages, [])
    return export([span(1, _attributes(conversation, inputs, outputs))])


def _span_an_answer(conversation: Conversation) -> dict[str, Any]:
    """One span for each answer of the model, each with all messages before it, below an agent's span."""
    messages = part_messages(conversation)
    spans = [span(1, {"gen_ai.operation.name": "invoke_agent"})]
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            spans.append(span(index + 2, _attributes(conversation, messages[:index], [message]), parent=1))
    if messages[-1]["role"] != "assistant":
        spans.append(span(len(messages) + 2, _attributes(conversation, messages, []), parent=1))
    return export(spans)


SHAPES = (
    Shape("otel span", _one_span),
    Shape("otel span an answer", _span_an_answer),
)
