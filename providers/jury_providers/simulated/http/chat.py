"""OpenAI's Chat Completions."""

from collections.abc import Iterator
from typing import Any, ClassVar

from jury_events.exchange import Usage
from jury_providers.provider import ToolDefinition
from jury_providers.simulated.http.dialogue import Dialogue
from jury_providers.simulated.http.faults import House, OpenAI
from jury_providers.simulated.http.fields import (
    Table,
    Unusable,
    flag,
    name,
    optional_table,
    rows,
    table,
    text,
    texts,
    whole,
)
from jury_providers.simulated.http.pictures import of_data_url
from jury_providers.simulated.http.protocol import REFUSAL, Asked, Protocol, Said, event, model_request

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_FINGERPRINT = "fp_simulated"


class Chat(Protocol):
    """`POST /v1/chat/completions`."""

    kind = "chat"
    house: ClassVar[House] = OpenAI()

    def read(self, body: Table) -> Asked:
        """As documented by OpenAI."""
        model = name(body.get("model"), "model")
        dialogue = Dialogue()
        for index, one in enumerate(rows(body.get("messages"), "messages")):
            _hear(dialogue, table(one, f"messages[{index}]"), f"messages[{index}]")
        messages = dialogue.finish("messages")
        tools = [
            _tool(table(one, f"tools[{index}]"), f"tools[{index}]")
            for index, one in enumerate(rows(body.get("tools"), "tools"))
        ]
        form = optional_table(
            optional_table(body.get("response_format"), "response_format").get("json_schema"),
            "response_format.json_schema",
        )
        schema = optional_table(form.get("schema"), "response_format.json_schema.schema")
        options = optional_table(body.get("stream_options"), "stream_options")
        return Asked(
            model_request(model, messages, tools, schema, whole(body.get("seed"), "seed")),
            stream=flag(body.get("stream"), "stream"),
            counted=flag(options.get("include_usage"), "stream_options.include_usage"),
        )

    def whole(self, said: Said) -> Table:
        """A chat completion."""
        message: Table = {
            "role": "assistant",
            "content": None if said.blocked or said.speech.tools else said.speech.text,
            "refusal": REFUSAL if said.blocked else None,
            "annotations": [],
        }
        if said.speech.tools and not said.blocked:
            message["tool_calls"] = _calls(said)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(said)}
        return {**_head(said, "chat.completion"), "choices": [choice], "usage": _usage(said.speech.usage)}

    def events(self, said: Said) -> Iterator[bytes]:
        """Chunks, `[DONE]` last."""
        head = _head(said, "chat.completion.chunk") | ({"usage": None} if said.counted else {})

        def chunk(delta: Table, finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return event({**head, "choices": [choice]})

        if said.blocked:
            yield chunk({"role": "assistant", "content": None, "refusal": ""})
            yield chunk({"refusal": REFUSAL})
        elif said.speech.tools:
            yield chunk({"role": "assistant", "content": None})
            for index, call in enumerate(_calls(said)):
                function = call["function"]
                opening = {"index": index, **call, "function": {"name": function["name"], "arguments": ""}}
                yield chunk({"tool_calls": [opening]})
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": function["arguments"]}}]})
        else:
            yield chunk({"role": "assistant", "content": "", "refusal": None})
            for piece in said.speech.pieces():
                yield chunk({"content": piece})
        yield chunk({}, _finish(said))
        if said.counted:
            yield event({**head, "choices": [], "usage": _usage(said.speech.usage)})
        yield b"data: [DONE]\n\n"


def _hear(dialogue: Dialogue, message: Table, field: str) -> None:
    role = text(message.get("role"), f"{field}.role")
    if role == "tool":
        identity = text(message.get("tool_call_id"), f"{field}.tool_call_id")
        dialogue.result(identity, texts(message.get("content"), f"{field}.content", "text"), f"{field}.tool_call_id")
        return
    if role not in _ROLES:
        raise Unusable(f"{field}.role", f"expected one of {', '.join(_ROLES)}, tool")
    content, pictures = message.get("content"), []
    if isinstance(content, list):
        pictures = [
            of_data_url(_image_url(one, role, place), f"{place}.image_url.url")
            for index, one in enumerate(content)
            if isinstance(one, dict) and one.get("type") == "image_url"
            for place in [f"{field}.content[{index}]"]
        ]
        content = [one for one in content if not (isinstance(one, dict) and one.get("type") == "image_url")]
    dialogue.say(_ROLES[role], texts(content, f"{field}.content", "text", "refusal"), field, pictures)
    for index, one in enumerate(rows(message.get("tool_calls"), f"{field}.tool_calls")):
        place = f"{field}.tool_calls[{index}]"
        call = table(one, place)
        function = table(call.get("function"), f"{place}.function")
        text(function.get("arguments"), f"{place}.function.arguments")
        dialogue.call(name(call.get("id"), f"{place}.id"), name(function.get("name"), f"{place}.function.name"))


def _image_url(block: Table, role: str, field: str) -> object:
    if role != "user":
        raise Unusable.said(
            f"Invalid {field!r}. Image URLs are only allowed for messages with role 'user', "
            f"but this message with role {role!r} contains an image URL."
        )
    return table(block.get("image_url"), f"{field}.image_url").get("url")


def _tool(tool: Table, field: str) -> ToolDefinition:
    function = table(tool.get("function"), f"{field}.function")
    return ToolDefinition(
        name(function.get("name"), f"{field}.function.name"),
        texts(function.get("description"), f"{field}.function.description"),
        optional_table(function.get("parameters"), f"{field}.function.parameters"),
    )


def _head(said: Said, kind: str) -> Table:
    return {
        "id": f"chatcmpl-{said.identity}",
        "object": kind,
        "created": said.created,
        "model": said.model,
        "service_tier": "default",
        "system_fingerprint": _FINGERPRINT,
    }


def _calls(said: Said) -> list[Table]:
    return [
        {
            "id": f"call_{said.identity}{index}",
            "type": "function",
            "function": {"name": tool.name, "arguments": tool.arguments},
        }
        for index, tool in enumerate(said.speech.tools)
    ]


def _finish(said: Said) -> str:
    if said.blocked:
        return "stop"
    return "length" if said.speech.cut else "tool_calls" if said.speech.tools else "stop"


def _usage(usage: Usage) -> dict[str, Any]:
    sent, given = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "prompt_tokens": sent,
        "completion_tokens": given,
        "total_tokens": sent + given,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
