"""Anthropic's Messages."""

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from jury_providers.provider import Picture, ToolDefinition
from jury_providers.simulated.http.dialogue import Dialogue
from jury_providers.simulated.http.faults import Anthropic, House
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
from jury_providers.simulated.http.pictures import of_source
from jury_providers.simulated.http.protocol import REFUSAL, Asked, Protocol, Said, event, model_request

_THOUGHTS = {"thinking", "redacted_thinking"}


class Messages(Protocol):
    """`POST /v1/messages`."""

    kind = "messages"
    house: ClassVar[House] = Anthropic()

    def read(self, body: Table) -> Asked:
        """As documented by Anthropic."""
        model = name(body.get("model"), "model")
        if (whole(body.get("max_tokens"), "max_tokens") or 0) < 1:
            raise Unusable("max_tokens", "a whole number above 0 is required")
        dialogue = Dialogue()
        if body.get("system") is not None:
            dialogue.say("system", texts(body["system"], "system", "text"), "system")
        for index, one in enumerate(rows(body.get("messages"), "messages")):
            _hear(dialogue, table(one, f"messages.{index}"), f"messages.{index}")
        messages = dialogue.finish("messages")
        tools = [
            _tool(table(one, f"tools.{index}"), f"tools.{index}")
            for index, one in enumerate(rows(body.get("tools"), "tools"))
        ]
        form = optional_table(
            optional_table(body.get("output_config"), "output_config").get("format"), "output_config.format"
        )
        schema = optional_table(form.get("schema"), "output_config.format.schema")
        return Asked(model_request(model, messages, tools, schema, None), stream=flag(body.get("stream"), "stream"))

    def whole(self, said: Said) -> Table:
        """A message."""
        return _message(said, _content(said)) | _ending(said) | {"usage": _usage(said)}

    def events(self, said: Said) -> Iterator[bytes]:
        """From `message_start` to `message_stop`."""

        def typed(kind: str, **fields: Any) -> bytes:
            return event({"type": kind, **fields}, kind)

        yield typed("message_start", message=_message(said, []) | {"usage": _usage(said) | {"output_tokens": 1}})
        for index, block in enumerate(_content(said)):
            if block["type"] == "text":
                yield typed("content_block_start", index=index, content_block={"type": "text", "text": ""})
                deltas = [{"type": "text_delta", "text": piece} for piece in said.speech.pieces()]
            else:
                yield typed("content_block_start", index=index, content_block=block | {"input": {}})
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
            yield typed("ping")
            for delta in deltas:
                yield typed("content_block_delta", index=index, delta=delta)
            yield typed("content_block_stop", index=index)
        yield typed("message_delta", delta=_ending(said), usage=_usage(said))
        yield typed("message_stop")


def _hear(dialogue: Dialogue, message: Table, field: str) -> None:
    role = text(message.get("role"), f"{field}.role")
    if role not in {"user", "assistant"}:
        raise Unusable(f"{field}.role", "expected one of user, assistant")
    content = message.get("content")
    if isinstance(content, str):
        dialogue.say(role, content, field)
        return
    said: list[str] = []
    pictures: list[Picture] = []
    for index, one in enumerate(rows(content, f"{field}.content")):
        place = f"{field}.content.{index}"
        block = table(one, place)
        kind = text(block.get("type"), f"{place}.type")
        if kind == "text":
            said.append(text(block.get("text"), f"{place}.text"))
        elif kind == "image" and role == "user":
            pictures.append(of_source(block, place))
        elif kind == "tool_use" and role == "assistant":
            table(block.get("input"), f"{place}.input")
            dialogue.call(name(block.get("id"), f"{place}.id"), name(block.get("name"), f"{place}.name"))
        elif kind == "tool_result" and role == "user":
            result = texts(block.get("content"), f"{place}.content", "text")
            dialogue.result(text(block.get("tool_use_id"), f"{place}.tool_use_id"), result, f"{place}.tool_use_id")
        elif kind not in _THOUGHTS or role == "user":
            raise Unusable(
                f"{place}.type", "expected one of text, image, thinking, tool_use, tool_result, each where it belongs"
            )
    if said or pictures:
        dialogue.say(role, "".join(said), field, pictures)


def _tool(tool: Table, field: str) -> ToolDefinition:
    return ToolDefinition(
        name(tool.get("name"), f"{field}.name"),
        texts(tool.get("description"), f"{field}.description"),
        table(tool.get("input_schema"), f"{field}.input_schema"),
    )


def _content(said: Said) -> list[Table]:
    if said.blocked:
        return []
    if said.speech.tools:
        return [
            {
                "type": "tool_use",
                "id": f"toolu_{said.identity}{index}",
                "name": tool.name,
                "input": json.loads(tool.arguments),
            }
            for index, tool in enumerate(said.speech.tools)
        ]
    return [{"type": "text", "text": said.speech.text}]


def _message(said: Said, content: list[Table]) -> Table:
    return {
        "id": f"msg_{said.identity}",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
    }


def _ending(said: Said) -> Table:
    reason = "max_tokens" if said.speech.cut else "tool_use" if said.speech.tools else "end_turn"
    details = {"type": "refusal", "category": None, "explanation": REFUSAL} if said.blocked else None
    return {
        "stop_reason": "refusal" if said.blocked else reason,
        "stop_sequence": None,
        "stop_details": details,
    }


def _usage(said: Said) -> Table:
    return {
        "input_tokens": said.speech.usage.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": said.speech.usage.output_tokens,
        "service_tier": "standard",
    }
