"""Messages of pydantic-ai."""

from typing import Any

from producers.renderers.conversation import Conversation, Exchange, Shape, Step
from producers.renderers.pictures import in_base64

TIME = "2026-11-23T10:00:00Z"


def _pydantic_user(exchange: Exchange) -> dict[str, Any]:
    content: Any = exchange.user
    if exchange.picture is not None:
        binary = {"data": in_base64(exchange.picture), "media_type": "image/png", "kind": "binary"}
        content = [exchange.user, {**binary, "identifier": None, "vendor_metadata": None}]
    return {"content": content, "timestamp": TIME, "part_kind": "user-prompt"}


def _pydantic_answer(step: Step) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if step.reasoning is not None:
        parts.append({"content": step.reasoning, "id": None, "signature": None, "part_kind": "thinking"})
    parts += [
        {"content": text, "id": None, "part_kind": "text"} for text in (step.text, step.refusal) if text is not None
    ]
    parts += [
        {"tool_name": one.name, "args": one.arguments, "tool_call_id": one.call_id, "part_kind": "tool-call"}
        for one in step.calls
    ]
    return {"parts": parts, "model_name": "m", "timestamp": TIME, "kind": "response", "usage": {"input_tokens": 1}}


def _pydantic_ai(conversation: Conversation) -> list[dict[str, Any]]:
    """As `all_messages_json`: results and the next request are parts of one request."""
    messages: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    if conversation.system is not None:
        parts.append({"content": conversation.system, "timestamp": TIME, "part_kind": "system-prompt"})
    for exchange in conversation.exchanges:
        parts.append(_pydantic_user(exchange))
        for step in exchange.steps:
            messages += [{"parts": parts, "instructions": None, "kind": "request"}, _pydantic_answer(step)]
            parts = [_pydantic_result(one) for one in step.results]
    return [*messages, *([{"parts": parts, "instructions": None, "kind": "request"}] if parts else [])]


def _pydantic_result(one: Any) -> dict[str, Any]:
    named = {"tool_name": one.call.name, "tool_call_id": one.call.call_id, "content": one.text, "timestamp": TIME}
    return {**named, "part_kind": "retry-prompt" if one.error else "tool-return"}


SHAPES = (Shape("pydantic-ai messages", _pydantic_ai, failures=True),)
