"""OpenAI's Chat Completions."""

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
    whole,
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
_FINGERPRINT = "fp_simulated"


class Chat(ProtocolHandler):
    """`POST /v1/chat/completions`."""

    kind = "chat"
    errors: ClassVar[ProviderErrors] = OpenAIErrors()

    def read(self, body: JsonObject) -> ParsedRequest:
        model = name(body.get("model"), "model")
        conversation = ConversationBuilder()
        for index, item in enumerate(rows(body.get("messages"), "messages")):
            _add_message(conversation, table(item, f"messages[{index}]"), f"messages[{index}]")
        messages = conversation.messages("messages")
        tools = [
            _tool(table(item, f"tools[{index}]"), f"tools[{index}]")
            for index, item in enumerate(rows(body.get("tools"), "tools"))
        ]
        form = optional_table(
            optional_table(body.get("response_format"), "response_format").get("json_schema"),
            "response_format.json_schema",
        )
        schema = optional_table(form.get("schema"), "response_format.json_schema.schema")
        options = optional_table(body.get("stream_options"), "stream_options")
        return ParsedRequest(
            model_request(model, messages, tools, schema, whole(body.get("seed"), "seed")),
            body.get("service_tier") or "default",
            stream=flag(body.get("stream"), "stream"),
            include_usage=flag(options.get("include_usage"), "stream_options.include_usage"),
        )

    def response_body(self, response: SimulatedResponse) -> JsonObject:
        message: JsonObject = {
            "role": "assistant",
            "content": None if response.blocked or response.reply.tools else response.reply.text,
            "refusal": REFUSAL if response.blocked else None,
            "annotations": [],
        }
        if response.reply.tools and not response.blocked:
            message["tool_calls"] = _calls(response)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(response)}
        return {**_head(response, "chat.completion"), "choices": [choice], "usage": _usage(response)}

    def stream_events(self, response: SimulatedResponse) -> Iterator[bytes]:
        """Chunks, `[DONE]` last."""
        head = _head(response, "chat.completion.chunk") | ({"usage": None} if response.include_usage else {})

        def chunk(delta: JsonObject, finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return event({**head, "choices": [choice]})

        if response.blocked:
            yield chunk({"role": "assistant", "content": None, "refusal": ""})
            yield chunk({"refusal": REFUSAL})
        elif response.reply.tools:
            yield chunk({"role": "assistant", "content": None})
            for index, call in enumerate(_calls(response)):
                function = call["function"]
                opening = {"index": index, **call, "function": {"name": function["name"], "arguments": ""}}
                yield chunk({"tool_calls": [opening]})
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": function["arguments"]}}]})
        else:
            yield chunk({"role": "assistant", "content": "", "refusal": None})
            for piece in response.reply.pieces():
                yield chunk({"content": piece})
        yield chunk({}, _finish(response))
        if response.include_usage:
            yield event({**head, "choices": [], "usage": _usage(response)})
        yield b"data: [DONE]\n\n"


def _add_message(conversation: ConversationBuilder, message: JsonObject, field: str) -> None:
    role = text(message.get("role"), f"{field}.role")
    if role == "tool":
        identity = text(message.get("tool_call_id"), f"{field}.tool_call_id")
        conversation.add_result(
            identity, texts(message.get("content"), f"{field}.content", "text"), f"{field}.tool_call_id"
        )
        return
    if role not in _ROLES:
        raise InvalidRequest(f"{field}.role", f"expected one of {', '.join(_ROLES)}, tool")
    content, pictures = message.get("content"), []
    if isinstance(content, list):
        pictures = [
            of_data_url(_image_url(block, role, path), f"{path}.image_url.url")
            for index, block in enumerate(content)
            if isinstance(block, dict) and block.get("type") == "image_url"
            for path in [f"{field}.content[{index}]"]
        ]
        content = [block for block in content if not (isinstance(block, dict) and block.get("type") == "image_url")]
    conversation.add_text(_ROLES[role], texts(content, f"{field}.content", "text", "refusal"), field, pictures)
    for index, item in enumerate(rows(message.get("tool_calls"), f"{field}.tool_calls")):
        path = f"{field}.tool_calls[{index}]"
        call = table(item, path)
        function = table(call.get("function"), f"{path}.function")
        text(function.get("arguments"), f"{path}.function.arguments")
        conversation.add_call(name(call.get("id"), f"{path}.id"), name(function.get("name"), f"{path}.function.name"))


def _image_url(block: JsonObject, role: str, field: str) -> object:
    if role != "user":
        raise InvalidRequest.verbatim(
            f"Invalid {field!r}. Image URLs are only allowed for messages with role 'user', "
            f"but this message with role {role!r} contains an image URL."
        )
    return table(block.get("image_url"), f"{field}.image_url").get("url")


def _tool(tool: JsonObject, field: str) -> OfferedTool:
    function = table(tool.get("function"), f"{field}.function")
    return OfferedTool(
        name(function.get("name"), f"{field}.function.name"),
        texts(function.get("description"), f"{field}.function.description"),
        optional_table(function.get("parameters"), f"{field}.function.parameters"),
    )


def _head(response: SimulatedResponse, kind: str) -> JsonObject:
    return {
        "id": f"chatcmpl-{response.identity}",
        "object": kind,
        "created": response.created,
        "model": response.model,
        "service_tier": response.tier,
        "system_fingerprint": _FINGERPRINT,
    }


def _calls(response: SimulatedResponse) -> list[JsonObject]:
    return [
        {
            "id": f"call_{response.identity}{index}",
            "type": "function",
            "function": {"name": tool.name, "arguments": tool.arguments},
        }
        for index, tool in enumerate(response.reply.tools)
    ]


def _finish(response: SimulatedResponse) -> str:
    if response.blocked:
        return "stop"
    return "length" if response.reply.cut else "tool_calls" if response.reply.tools else "stop"


def _usage(response: SimulatedResponse) -> dict[str, Any]:
    usage, cache = response.reply.usage, response.cache
    sent, generated = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "prompt_tokens": sent,
        "completion_tokens": generated,
        "total_tokens": sent + generated,
        "prompt_tokens_details": {**openai_cache_counts(cache), "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
