"""Anthropic's Messages."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from jury_providers.provider import ModelPicture, OfferedTool
from jury_providers.simulated.http.fields import (
    ConversationBuilder,
    InvalidRequest,
    JsonObject,
    flag,
    name,
    of_source,
    optional_table,
    rows,
    table,
    text,
    texts,
    whole,
)
from jury_providers.simulated.http.protocol import (
    REFUSAL,
    AnthropicErrors,
    ParsedRequest,
    ProtocolHandler,
    ProviderErrors,
    SimulatedResponse,
    event,
    model_request,
)

_THOUGHTS = {"thinking", "redacted_thinking"}


class Messages(ProtocolHandler):
    """`POST /v1/messages`."""

    kind = "messages"
    errors: ClassVar[ProviderErrors] = AnthropicErrors()
    batch_tier = "batch"

    def read(self, body: JsonObject) -> ParsedRequest:
        model = name(body.get("model"), "model")
        if (whole(body.get("max_tokens"), "max_tokens") or 0) < 1:
            raise InvalidRequest("max_tokens", "a whole number above 0 is required")
        conversation = ConversationBuilder()
        if body.get("system") is not None:
            conversation.add_text("system", texts(body["system"], "system", "text"), "system")
        for index, item in enumerate(rows(body.get("messages"), "messages")):
            _add_message(conversation, table(item, f"messages.{index}"), f"messages.{index}")
        messages = conversation.messages("messages")
        tools = [
            _tool(table(item, f"tools.{index}"), f"tools.{index}")
            for index, item in enumerate(rows(body.get("tools"), "tools"))
        ]
        form = optional_table(
            optional_table(body.get("output_config"), "output_config").get("format"), "output_config.format"
        )
        schema = optional_table(form.get("schema"), "output_config.format.schema")
        return ParsedRequest(
            model_request(model, messages, tools, schema, None),
            "priority" if body.get("service_tier") == "auto" else "standard",
            stream=flag(body.get("stream"), "stream"),
        )

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        return _message(response, _content(response)) | _ending(response) | {"usage": _usage(response)}

    def stream_events(self, response: SimulatedResponse) -> Iterator[bytes]:
        """From `message_start` to `message_stop`."""

        def typed(kind: str, **fields: Any) -> bytes:
            return event({"type": kind, **fields}, kind)

        yield typed(
            "message_start", message=_message(response, []) | {"usage": _usage(response) | {"output_tokens": 1}}
        )
        for index, block in enumerate(_content(response)):
            if block["type"] == "text":
                yield typed("content_block_start", index=index, content_block={"type": "text", "text": ""})
                deltas = [{"type": "text_delta", "text": piece} for piece in response.reply.pieces()]
            else:
                yield typed("content_block_start", index=index, content_block=block | {"input": {}})
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
            yield typed("ping")
            for delta in deltas:
                yield typed("content_block_delta", index=index, delta=delta)
            yield typed("content_block_stop", index=index)
        yield typed("message_delta", delta=_ending(response), usage=_usage(response))
        yield typed("message_stop")


def _add_message(conversation: ConversationBuilder, message: JsonObject, field: str) -> None:
    role = text(message.get("role"), f"{field}.role")
    if role not in {"user", "assistant"}:
        raise InvalidRequest(f"{field}.role", "expected one of user, assistant")
    content = message.get("content")
    if isinstance(content, str):
        conversation.add_text(role, content, field)
        return
    text_parts: list[str] = []
    pictures: list[ModelPicture] = []
    for index, item in enumerate(rows(content, f"{field}.content")):
        path = f"{field}.content.{index}"
        block = table(item, path)
        kind = text(block.get("type"), f"{path}.type")
        if kind == "text":
            text_parts.append(text(block.get("text"), f"{path}.text"))
        elif kind == "image" and role == "user":
            pictures.append(of_source(block, path))
        elif kind == "tool_use" and role == "assistant":
            table(block.get("input"), f"{path}.input")
            conversation.add_call(name(block.get("id"), f"{path}.id"), name(block.get("name"), f"{path}.name"))
        elif kind == "tool_result" and role == "user":
            result = texts(block.get("content"), f"{path}.content", "text")
            conversation.add_result(
                text(block.get("tool_use_id"), f"{path}.tool_use_id"), result, f"{path}.tool_use_id"
            )
        elif kind not in _THOUGHTS or role == "user":
            raise InvalidRequest(
                f"{path}.type", "expected one of text, image, thinking, tool_use, tool_result, each where it belongs"
            )
    if text_parts or pictures:
        conversation.add_text(role, "".join(text_parts), field, pictures)


def _tool(tool: JsonObject, field: str) -> OfferedTool:
    return OfferedTool(
        name(tool.get("name"), f"{field}.name"),
        texts(tool.get("description"), f"{field}.description"),
        table(tool.get("input_schema"), f"{field}.input_schema"),
    )


def _content(response: SimulatedResponse) -> list[JsonObject]:
    if response.blocked:
        return []
    if response.reply.tools:
        return [
            {
                "type": "tool_use",
                "id": f"toolu_{response.identity}{index}",
                "name": tool.name,
                "input": json.loads(tool.arguments),
            }
            for index, tool in enumerate(response.reply.tools)
        ]
    return [{"type": "text", "text": response.reply.text}]


def _message(response: SimulatedResponse, content: list[JsonObject]) -> JsonObject:
    return {
        "id": f"msg_{response.identity}",
        "type": "message",
        "role": "assistant",
        "model": response.model,
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
    }


def _ending(response: SimulatedResponse) -> JsonObject:
    reason = "max_tokens" if response.reply.cut else "tool_use" if response.reply.tools else "end_turn"
    details = {"type": "refusal", "category": None, "explanation": REFUSAL} if response.blocked else None
    return {
        "stop_reason": "refusal" if response.blocked else reason,
        "stop_sequence": None,
        "stop_details": details,
    }


def _usage(response: SimulatedResponse) -> JsonObject:
    cache = response.cache
    return {
        "input_tokens": (response.reply.usage.input_tokens or 0) - cache.read - cache.written_tokens,
        "cache_creation_input_tokens": cache.written_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": cache.written.get("5m", 0),
            "ephemeral_1h_input_tokens": cache.written.get("1h", 0),
        },
        "cache_read_input_tokens": cache.read,
        "output_tokens": response.reply.usage.output_tokens,
        "service_tier": response.tier,
    }
