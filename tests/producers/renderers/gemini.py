"""Gemini's contents: parts of turns."""

from typing import Any

from producers.renderers.conversation import Conversation, Exchange, Shape, Step
from producers.renderers.pictures import in_base64


def _user(exchange: Exchange) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": exchange.user}]
    if exchange.picture is not None:
        parts.append({"inlineData": {"mimeType": "image/png", "data": in_base64(exchange.picture)}})
    return {"role": "user", "parts": parts}


def step_parts(step: Step) -> list[dict[str, Any]]:
    """The parts of an answer."""
    parts: list[dict[str, Any]] = []
    if step.reasoning is not None:
        parts.append({"text": step.reasoning, "thought": True})
    parts += [{"text": text} for text in (step.text, step.refusal) if text is not None]
    parts += [{"functionCall": {"id": one.call_id, "name": one.name, "args": one.arguments}} for one in step.calls]
    return parts


def result_parts(step: Step) -> list[dict[str, Any]]:
    """The results of a step."""
    return [
        {"functionResponse": {"id": one.call.call_id, "name": one.call.name, "response": {"output": one.text}}}
        for one in step.results
    ]


def _request(conversation: Conversation) -> dict[str, Any]:
    contents: list[dict[str, Any]] = []
    for exchange in conversation.exchanges:
        contents.append(_user(exchange))
        for step in exchange.steps:
            contents.append({"role": "model", "parts": step_parts(step)})
            if step.results:
                contents.append({"role": "user", "parts": result_parts(step)})
    system = {} if conversation.system is None else {"systemInstruction": {"parts": [{"text": conversation.system}]}}
    return {**system, "contents": contents}


SHAPES = (Shape("gemini request", _request, alternating=True),)
