"""A scripted answer as a response of each protocol: as one object, and as the events of a stream.

Each function takes the answer, the request's body with its `path`, and the number of the request; it returns both. An
event is a pair of its name (None: it has none) and its data. A text is streamed in two parts. Times and usage are
fixed, so that files written anew are alike. Standard library only.
"""

import json
from collections.abc import Iterator
from typing import Any

from story import Answer, ToolUse

Events = list[tuple[str | None, Any]]
TIME = 1_764_000_000
TOKENS_IN, TOKENS_OUT = 11, 7


def _halves(text: str) -> tuple[str, str]:
    middle = len(text) // 2
    return text[:middle], text[middle:]


def _given(answer: Answer, name: str | None = None) -> tuple[Any, Events] | None:
    """The answer's own body: an object, or a list of events, each named by its `type`."""
    if answer.body is None:
        return None
    if isinstance(answer.body, list):
        return None, [(one.get("type") if name else None, one) for one in answer.body]
    return answer.body, [(None, answer.body)]


def _model(body: Any) -> str:
    return str(body.get("model")) if isinstance(body, dict) else "model"


def openai_chat(answer: Answer, request: Any, number: int) -> tuple[Any, Events]:
    """A chat completion; reasoning is `reasoning_content`, as several servers write it."""
    if (given := _given(answer)) is not None:
        return given[0], [*given[1], (None, "[DONE]")]
    ends = {"stop": "tool_calls" if answer.calls else "stop", "length": "length", "filter": "content_filter"}
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    if answer.reasoning is not None:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [_chat_call(one) for one in answer.calls]
    base = {"id": f"chatcmpl-{number}", "created": TIME, "model": _model(request)}
    usage = {
        "prompt_tokens": TOKENS_IN,
        "completion_tokens": TOKENS_OUT,
        "total_tokens": TOKENS_IN + TOKENS_OUT,
    }
    end = ends[answer.end]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": end}
    whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
    chunk = {**base, "object": "chat.completion.chunk"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None if answer.text is None else ""}]
    for field, text in (
        ("reasoning_content", answer.reasoning),
        ("content", answer.text),
        ("refusal", answer.refusal),
    ):
        deltas += [{field: part} for part in _halves(text)] if text is not None else []
    for index, one in enumerate(answer.calls):
        call = _chat_call(one)
        first, second = _halves(call["function"]["arguments"])
        named = {**call, "index": index, "function": {"name": one.name, "arguments": first}}
        deltas += [{"tool_calls": [named]}, {"tool_calls": [{"index": index, "function": {"arguments": second}}]}]
    events: Events = [
        (None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in deltas
    ]
    events.append((None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]}))
    events.append((None, {**chunk, "choices": [], "usage": usage}))
    return whole, [*events, (None, "[DONE]")]


def _chat_call(call: ToolUse) -> dict[str, Any]:
    arguments = json.dumps(dict(call.arguments))
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def openai_responses(answer: Answer, request: Any, number: int) -> tuple[Any, Events]:
    """A response of OpenAI's Responses interface; reasoning is a summary."""
    given = _given(answer, "type")
    if given is not None:
        return given
    output = list(_response_items(answer, number))
    reasons = {"length": "max_output_tokens", "filter": "content_filter"}
    whole = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": TIME,
        "status": "completed" if answer.end == "stop" else "incomplete",
        "error": None,
        "incomplete_details": None if answer.end == "stop" else {"reason": reasons[answer.end]},
        "instructions": request.get("instructions"),
        "metadata": {},
        "model": _model(request),
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": request.get("tools", []),
        "top_p": 1.0,
        "usage": {
            "input_tokens": TOKENS_IN,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": TOKENS_OUT,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": TOKENS_IN + TOKENS_OUT,
        },
    }
    end = "response.completed" if answer.end == "stop" else "response.incomplete"
    begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    data: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(output):
        data += _response_item_events(item, index)
    data.append({"type": end, "response": whole})
    return whole, [(one["type"], {**one, "sequence_number": place}) for place, one in enumerate(data)]


def _response_items(answer: Answer, number: int) -> Iterator[dict[str, Any]]:
    if answer.reasoning is not None:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        yield {"id": f"rs_{number}", "type": "reasoning", "summary": summary}
    content: list[dict[str, Any]] = []
    if answer.text is not None:
        content.append({"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []})
    if answer.refusal is not None:
        content.append({"type": "refusal", "refusal": answer.refusal})
    if content:
        status = "completed" if answer.end == "stop" else "incomplete"
        yield {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": status, "content": content}
    for place, one in enumerate(answer.calls):
        arguments = json.dumps(dict(one.arguments))
        call = {"call_id": one.call_id, "name": one.name, "arguments": arguments, "status": "completed"}
        yield {"id": f"fc_{number}_{place}", "type": "function_call", **call}


def _response_item_events(item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    here = {"output_index": index, "item_id": item["id"]}
    empty = {**item, **{key: type(item[key])() for key in ("content", "summary", "arguments") if key in item}}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    for place, part in enumerate(item.get("summary", ())):
        kind, at = "response.reasoning_summary", {**here, "summary_index": place}
        yield {"type": f"{kind}_part.added", **at, "part": {**part, "text": ""}}
        for delta in _halves(part["text"]):
            yield {"type": f"{kind}_text.delta", **at, "delta": delta}
        yield {"type": f"{kind}_text.done", **at, "text": part["text"]}
        yield {"type": f"{kind}_part.done", **at, "part": part}
    for place, part in enumerate(item.get("content", ())):
        at = {**here, "content_index": place}
        key = "refusal" if part["type"] == "refusal" else "text"
        kind = "response.refusal" if key == "refusal" else "response.output_text"
        more = {} if key == "refusal" else {"logprobs": []}
        yield {"type": "response.content_part.added", **at, "part": {**part, key: ""}}
        for delta in _halves(part[key]):
            yield {"type": f"{kind}.delta", **at, "delta": delta, **more}
        yield {"type": f"{kind}.done", **at, key: part[key], **more}
        yield {"type": "response.content_part.done", **at, "part": part}
    if item["type"] == "function_call":
        for delta in _halves(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **here, "delta": delta}
        done = {"name": item["name"], "arguments": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", **here, **done}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def anthropic_messages(answer: Answer, request: Any, number: int) -> tuple[Any, Events]:
    """A message of Anthropic's; a refusal is a text with the stop reason `refusal`."""
    if (given := _given(answer, "type")) is not None:
        return given
    content: list[dict[str, Any]] = []
    if answer.reasoning is not None:
        content.append({"type": "thinking", "thinking": answer.reasoning, "signature": "c2ln"})
    content += [{"type": "text", "text": text} for text in (answer.text, answer.refusal) if text is not None]
    content += [
        {"type": "tool_use", "id": one.call_id, "name": one.name, "input": dict(one.arguments)} for one in answer.calls
    ]
    ends = {"stop": "tool_use" if answer.calls else "end_turn", "length": "max_tokens", "filter": "refusal"}
    reason = "refusal" if answer.refusal is not None else ends[answer.end]
    whole = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": _model(request),
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": TOKENS_IN, "output_tokens": TOKENS_OUT},
    }
    data: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        *(event for index, block in enumerate(content) for event in _anthropic_block(block, index)),
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": TOKENS_OUT},
        },
        {"type": "message_stop"},
    ]
    return whole, [(one["type"], one) for one in data]


def _anthropic_block(block: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    deltas: list[dict[str, Any]]
    match block["type"]:
        case "thinking":
            begun = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": part} for part in _halves(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "text":
            begun = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": part} for part in _halves(block["text"])]
        case _:
            begun = {**block, "input": {}}
            parts = _halves(json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    yield {"type": "content_block_start", "index": index, "content_block": begun}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def gemini_generate(answer: Answer, request: Any, number: int) -> tuple[Any, Events]:
    """A response of Gemini; a refusal is a text."""
    if (given := _given(answer)) is not None:
        return given
    parts: list[dict[str, Any]] = []
    if answer.reasoning is not None:
        parts.append({"text": answer.reasoning, "thought": True})
    parts += [{"text": text} for text in (answer.text, answer.refusal) if text is not None]
    parts += [
        {"functionCall": {"id": one.call_id, "name": one.name, "args": dict(one.arguments)}} for one in answer.calls
    ]
    end = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}[answer.end]
    usage = {
        "promptTokenCount": TOKENS_IN,
        "candidatesTokenCount": TOKENS_OUT,
        "totalTokenCount": TOKENS_IN + TOKENS_OUT,
    }
    base = {"modelVersion": request["path"].rpartition("/")[2].partition(":")[0], "responseId": f"response-{number}"}

    def response(some: list[dict[str, Any]], reason: str | None) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": some}, "index": 0}
        if reason is not None:
            candidate["finishReason"] = reason
        return {"candidates": [candidate], "usageMetadata": usage, **base}

    events: Events = []
    for part in parts:
        texts = _halves(part["text"]) if "text" in part else ()
        events += [(None, response([{**part, "text": text}], None)) for text in texts]
        events += [] if texts else [(None, response([part], None))]
    *first, (_, last) = events or [(None, response([], None))]
    last["candidates"][0]["finishReason"] = end
    return response(parts, end), [*first, (None, last)]
