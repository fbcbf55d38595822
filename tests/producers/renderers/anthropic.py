"""Anthropic messages: results are blocks of the user's messages."""

from typing import Any

from producers.renderers.conversation import Conversation, Exchange, Shape, Step
from producers.renderers.pictures import in_base64


def user_blocks(exchange: Exchange) -> list[dict[str, Any]]:
    """The blocks of a request."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": exchange.user}]
    if exchange.picture is not None:
        source = {"type": "base64", "media_type": "image/png", "data": in_base64(exchange.picture)}
        blocks.append({"type": "image", "source": source})
    return blocks


def answer_blocks(step: Step) -> list[dict[str, Any]]:
    """The blocks of an answer."""
    blocks: list[dict[str, Any]] = []
    if step.reasoning is not None:
        blocks.append({"type": "thinking", "thinking": step.reasoning, "signature": "c2ln"})
    blocks += [{"type": "text", "text": text} for text in (step.text, step.refusal) if text is not None]
    blocks += [{"type": "tool_use", "id": one.call_id, "name": one.name, "input": one.arguments} for one in step.calls]
    return blocks


def result_blocks(step: Step) -> list[dict[str, Any]]:
    """The blocks of the results of a step."""
    return [
        {"type": "tool_result", "tool_use_id": one.call.call_id, "content": one.text, "is_error": one.error}
        for one in step.results
    ]


def messages(conversation: Conversation) -> list[dict[str, Any]]:
    """The messages, results and the next request in one message as the API asks for it."""
    found: list[dict[str, Any]] = []
    pending: list[dict[str, Any]] = []
    for exchange in conversation.exchanges:
        found.append({"role": "user", "content": [*pending, *user_blocks(exchange)]})
        pending = []
        for step in exchange.steps:
            if pending:
                found.append({"role": "user", "content": pending})
            found.append({"role": "assistant", "content": answer_blocks(step)})
            pending = result_blocks(step)
    if pending:
        found.append({"role": "user", "content": pending})
    return found


def _request(conversation: Conversation) -> dict[str, Any]:
    system = {} if conversation.system is None else {"system": [{"type": "text", "text": conversation.system}]}
    return {"model": "m", "max_tokens": 9, **system, "messages": messages(conversation)}


SHAPES = (Shape("anthropic request", _request, failures=True),)
