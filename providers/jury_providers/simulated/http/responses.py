"""OpenAI's Responses API."""

from collections.abc import Iterator
from typing import Any, ClassVar

from jury_providers.provider import OfferedTool
from jury_providers.simulated.http.fields import (
    ConversationBuilder,
    InvalidRequest,
    JsonObject,
    flag,
    name,
    of_data_url,
    optional_table,
    rows,
    table,
    text,
    texts,
)
from jury_providers.simulated.http.protocol import (
    REFUSAL,
    OpenAIErrors,
    ParsedRequest,
    ProtocolHandler,
    ProviderErrors,
    SimulatedResponse,
    event,
    model_request,
    openai_cache_counts,
)

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


class Responses(ProtocolHandler):
    """`POST /v1/responses`."""

    kind = "responses"
    errors: ClassVar[ProviderErrors] = OpenAIErrors()

    def read(self, body: JsonObject) -> ParsedRequest:
        """Parse a request, as documented by OpenAI; it must contain the whole conversation, as nothing is stored."""
        model = name(body.get("model"), "model")
        if body.get("previous_response_id") is not None:
            raise InvalidRequest("previous_response_id", "Previous response not found: nothing is stored here")
        conversation = ConversationBuilder()
        if body.get("instructions") is not None:
            conversation.add_text("system", text(body["instructions"], "instructions"), "instructions")
        entries = body.get("input")
        if isinstance(entries, str):
            conversation.add_text("user", entries, "input")
        else:
            for index, item in enumerate(rows(entries, "input")):
                _add_message(conversation, table(item, f"input[{index}]"), f"input[{index}]")
        messages = conversation.messages("input")
        tools = [
            _tool(table(item, f"tools[{index}]"), f"tools[{index}]")
            for index, item in enumerate(rows(body.get("tools"), "tools"))
        ]
        form = optional_table(optional_table(body.get("text"), "text").get("format"), "text.format")
        schema = optional_table(form.get("schema"), "text.format.schema")
        return ParsedRequest(
            model_request(model, messages, tools, schema, None),
            body.get("service_tier") or "default",
            stream=flag(body.get("stream"), "stream"),
        )

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        cut = response.reply.cut and not response.blocked
        return _response(response, "incomplete" if cut else "completed", _items(response)) | {
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "usage": _usage(response),
        }

    def stream_events(self, response: SimulatedResponse) -> Iterator[bytes]:
        """From `response.created` to `response.completed` (or `incomplete`)."""
        numbers = iter(range(1_000_000_000))

        def numbered(kind: str, **fields: Any) -> bytes:
            return event({"type": kind, "sequence_number": next(numbers), **fields}, kind)

        started = _response(response, "in_progress", [])
        yield numbered("response.created", response=started)
        yield numbered("response.in_progress", response=started)
        for index, item in enumerate(_items(response)):
            ids = {"item_id": item["id"], "output_index": index}
            if item["type"] == "function_call":
                opening = item | {"arguments": "", "status": "in_progress"}
                yield numbered("response.output_item.added", output_index=index, item=opening)
                arguments = item["arguments"]
                yield numbered("response.function_call_arguments.delta", **ids, delta=arguments)
                yield numbered("response.function_call_arguments.done", **ids, name=item["name"], arguments=arguments)
            else:
                opening = item | {"content": [], "status": "in_progress"}
                yield numbered("response.output_item.added", output_index=index, item=opening)
                for kind, fields in _content(response, item["content"][0]):
                    yield numbered(f"response.{kind}", **ids, content_index=0, **fields)
            yield numbered("response.output_item.done", output_index=index, item=item)
        ended = self.response_body(response)
        yield numbered(f"response.{ended['status']}", response=ended)


def _content(response: SimulatedResponse, part: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    if part["type"] == "refusal":
        yield "content_part.added", {"part": part | {"refusal": ""}}
        yield "refusal.delta", {"delta": part["refusal"]}
        yield "refusal.done", {"refusal": part["refusal"]}
    else:
        yield "content_part.added", {"part": part | {"text": ""}}
        for piece in response.reply.pieces():
            yield "output_text.delta", {"delta": piece, "logprobs": []}
        yield "output_text.done", {"text": part["text"], "logprobs": []}
    yield "content_part.done", {"part": part}


def _add_message(conversation: ConversationBuilder, item: JsonObject, field: str) -> None:
    kind = text(item.get("type", "message"), f"{field}.type")
    if kind == "function_call":
        text(item.get("arguments"), f"{field}.arguments")
        conversation.add_call(name(item.get("call_id"), f"{field}.call_id"), name(item.get("name"), f"{field}.name"))
    elif kind == "function_call_output":
        result = texts(item.get("output"), f"{field}.output", "input_text", "output_text")
        conversation.add_result(text(item.get("call_id"), f"{field}.call_id"), result, f"{field}.call_id")
    elif kind == "message":
        role = text(item.get("role"), f"{field}.role")
        if role not in _ROLES:
            raise InvalidRequest(f"{field}.role", f"expected one of {', '.join(_ROLES)}")
        blocks = list(enumerate(_blocks(item.get("content"), f"{field}.content")))
        pictures = [
            of_data_url(block.get("image_url"), f"{field}.content[{index}].image_url")
            for index, block in blocks
            if _is_picture(block, role)
        ]
        content = [
            # A refusal's text is in the field `refusal`.
            block | {"text": block["refusal"]} if isinstance(block, dict) and "refusal" in block else block
            for _, block in blocks
            if not _is_picture(block, role)
        ]
        message = texts(content, f"{field}.content", "input_text", "output_text", "refusal")
        conversation.add_text(_ROLES[role], message, field, pictures)
    elif kind != "reasoning":
        raise InvalidRequest(f"{field}.type", "expected one of message, reasoning, function_call, function_call_output")


def _is_picture(block: Any, role: str) -> bool:
    return isinstance(block, dict) and block.get("type") == "input_image" and role != "assistant"


def _blocks(content: object, field: str) -> list[Any]:
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else rows(content, field)


def _tool(tool: JsonObject, field: str) -> OfferedTool:
    return OfferedTool(
        name(tool.get("name"), f"{field}.name"),
        texts(tool.get("description"), f"{field}.description"),
        optional_table(tool.get("parameters"), f"{field}.parameters"),
    )


def _items(response: SimulatedResponse) -> list[JsonObject]:
    if response.reply.tools and not response.blocked:
        return [
            {
                "id": f"fc_{response.identity}{index}",
                "type": "function_call",
                "status": "completed",
                "call_id": f"call_{response.identity}{index}",
                "name": tool.name,
                "arguments": tool.arguments,
            }
            for index, tool in enumerate(response.reply.tools)
        ]
    part: JsonObject = {"type": "output_text", "annotations": [], "logprobs": [], "text": response.reply.text}
    if response.blocked:
        part = {"type": "refusal", "refusal": REFUSAL}
    status = "incomplete" if response.reply.cut and not response.blocked else "completed"
    return [
        {"id": f"msg_{response.identity}", "type": "message", "status": status, "role": "assistant", "content": [part]}
    ]


def _response(response: SimulatedResponse, status: str, output: list[JsonObject]) -> JsonObject:
    return {
        "id": f"resp_{response.identity}",
        "object": "response",
        "created_at": response.created,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": response.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "service_tier": response.tier,
        "store": False,
        "tool_choice": "auto",
        "tools": [],
        "truncation": "disabled",
        "usage": None,
        "metadata": {},
    }


def _usage(response: SimulatedResponse) -> JsonObject:
    sent, generated = response.reply.usage.input_tokens or 0, response.reply.usage.output_tokens or 0
    return {
        "input_tokens": sent,
        "input_tokens_details": openai_cache_counts(response.cache),
        "output_tokens": generated,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sent + generated,
    }
