"""OpenAI: chat messages, logged chat completions, items of the Responses interface."""

import json
from typing import Any

from producers.renderers.conversation import Call, Conversation, Exchange, Shape, Step
from producers.renderers.pictures import data_url


def _user(exchange: Exchange) -> dict[str, Any]:
    if exchange.picture is None:
        return {"role": "user", "content": exchange.user}
    url = {"type": "image_url", "image_url": {"url": data_url(exchange.picture)}}
    return {"role": "user", "content": [{"type": "text", "text": exchange.user}, url]}


def chat_call(call: Call) -> dict[str, Any]:
    """An element of `tool_calls`."""
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": call.call_id, "type": "function", "function": function}


def _answer(step: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text}
    if step.refusal is not None:
        message["refusal"] = step.refusal
    if step.reasoning is not None:
        message["reasoning_content"] = step.reasoning
    if step.calls:
        message["tool_calls"] = [chat_call(one) for one in step.calls]
    return message


def chat_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """The conversation as chat messages."""
    messages: list[dict[str, Any]] = []
    if conversation.system is not None:
        messages.append({"role": "system", "content": conversation.system})
    for exchange in conversation.exchanges:
        messages.append(_user(exchange))
        for step in exchange.steps:
            messages.append(_answer(step))
            messages += [
                {"role": "tool", "tool_call_id": one.call.call_id, "content": one.text} for one in step.results
            ]
    return messages


def _logged(conversation: Conversation) -> dict[str, Any]:
    """A request and its response, where the conversation ends in an answer."""
    messages = chat_messages(conversation)
    if messages[-1]["role"] != "assistant":
        return {"messages": messages}
    reason = "tool_calls" if "tool_calls" in messages[-1] else "stop"
    choice = {"index": 0, "message": messages[-1], "finish_reason": reason}
    return {
        "request": {"model": "m", "messages": messages[:-1]},
        "response": {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice]},
    }


def response_items(conversation: Conversation) -> list[dict[str, Any]]:
    """The conversation as items of the Responses interface."""
    items: list[dict[str, Any]] = []
    if conversation.system is not None:
        items.append({"role": "system", "content": conversation.system})
    for exchange in conversation.exchanges:
        content: list[dict[str, Any]] = [{"type": "input_text", "text": exchange.user}]
        if exchange.picture is not None:
            content.append({"type": "input_image", "detail": "auto", "image_url": data_url(exchange.picture)})
        items.append({"role": "user", "content": content})
        for step in exchange.steps:
            items += _step_items(step, len(items))
    return items


def _step_items(step: Step, number: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if step.reasoning is not None:
        summary = [{"type": "summary_text", "text": step.reasoning}]
        items.append({"id": f"rs_{number}", "type": "reasoning", "summary": summary})
    content: list[dict[str, Any]] = []
    if step.text is not None:
        content.append({"type": "output_text", "text": step.text, "annotations": []})
    if step.refusal is not None:
        content.append({"type": "refusal", "refusal": step.refusal})
    if content:
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "completed"}
        items.append({**message, "content": content})
    for one in step.calls:
        arguments = json.dumps(one.arguments)
        items.append(
            {"type": "function_call", "id": f"fc_{one.call_id}", "call_id": one.call_id, "name": one.name}
            | {"arguments": arguments, "status": "completed"}
        )
    return [
        *items,
        *({"type": "function_call_output", "call_id": one.call.call_id, "output": one.text} for one in step.results),
    ]


def _response(conversation: Conversation) -> dict[str, Any]:
    """A logged request with `input`, and a response with what came after the last input."""
    items = response_items(conversation)
    last_input = max(
        (
            index
            for index, item in enumerate(items)
            if item.get("role") in {"user", "system"} or item.get("type") == "function_call_output"
        ),
        default=-1,
    )
    answer = {"id": "resp_1", "object": "response", "status": "completed", "output": items[last_input + 1 :]}
    return {"request": {"model": "m", "input": items[: last_input + 1]}, "response": answer}


SHAPES = (
    Shape("openai chat messages", chat_messages, refusals="refusal"),
    Shape("openai chat logged", _logged, refusals="refusal"),
    Shape("openai responses items", response_items, refusals="refusal"),
    Shape("openai responses logged", _response, refusals="refusal"),
)
