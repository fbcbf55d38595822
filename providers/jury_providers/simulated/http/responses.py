"""OpenAI's Responses."""

from collections.abc import Iterator
from typing import Any, ClassVar

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
)
from jury_providers.simulated.http.pictures import of_data_url
from jury_providers.simulated.http.protocol import REFUSAL, Asked, Protocol, Said, event, model_request

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


class Responses(Protocol):
    """`POST /v1/responses`."""

    kind = "responses"
    house: ClassVar[House] = OpenAI()

    def read(self, body: Table) -> Asked:
        """As documented by OpenAI; nothing is kept, so a request holds its whole conversation."""
        model = name(body.get("model"), "model")
        if body.get("previous_response_id") is not None:
            raise Unusable("previous_response_id", "Previous response not found: nothing is stored here")
        dialogue = Dialogue()
        if body.get("instructions") is not None:
            dialogue.say("system", text(body["instructions"], "instructions"), "instructions")
        given = body.get("input")
        if isinstance(given, str):
            dialogue.say("user", given, "input")
        else:
            for index, one in enumerate(rows(given, "input")):
                _hear(dialogue, table(one, f"input[{index}]"), f"input[{index}]")
        messages = dialogue.finish("input")
        tools = [
            _tool(table(one, f"tools[{index}]"), f"tools[{index}]")
            for index, one in enumerate(rows(body.get("tools"), "tools"))
        ]
        form = optional_table(optional_table(body.get("text"), "text").get("format"), "text.format")
        schema = optional_table(form.get("schema"), "text.format.schema")
        return Asked(model_request(model, messages, tools, schema, None), stream=flag(body.get("stream"), "stream"))

    def whole(self, said: Said) -> Table:
        """A response that is over."""
        cut = said.speech.cut and not said.blocked
        return _response(said, "incomplete" if cut else "completed", _items(said)) | {
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "usage": _usage(said),
        }

    def events(self, said: Said) -> Iterator[bytes]:
        """From `response.created` to `response.completed` (or `incomplete`)."""
        numbers = iter(range(1_000_000_000))

        def numbered(kind: str, **fields: Any) -> bytes:
            return event({"type": kind, "sequence_number": next(numbers), **fields}, kind)

        begun = _response(said, "in_progress", [])
        yield numbered("response.created", response=begun)
        yield numbered("response.in_progress", response=begun)
        for index, item in enumerate(_items(said)):
            place = {"item_id": item["id"], "output_index": index}
            if item["type"] == "function_call":
                opening = item | {"arguments": "", "status": "in_progress"}
                yield numbered("response.output_item.added", output_index=index, item=opening)
                arguments = item["arguments"]
                yield numbered("response.function_call_arguments.delta", **place, delta=arguments)
                yield numbered("response.function_call_arguments.done", **place, name=item["name"], arguments=arguments)
            else:
                opening = item | {"content": [], "status": "in_progress"}
                yield numbered("response.output_item.added", output_index=index, item=opening)
                for kind, fields in _content(said, item["content"][0]):
                    yield numbered(f"response.{kind}", **place, content_index=0, **fields)
            yield numbered("response.output_item.done", output_index=index, item=item)
        ended = self.whole(said)
        yield numbered(f"response.{ended['status']}", response=ended)


def _content(said: Said, part: Table) -> Iterator[tuple[str, Table]]:
    """The events of a message's one part."""
    if part["type"] == "refusal":
        yield "content_part.added", {"part": part | {"refusal": ""}}
        yield "refusal.delta", {"delta": part["refusal"]}
        yield "refusal.done", {"refusal": part["refusal"]}
    else:
        yield "content_part.added", {"part": part | {"text": ""}}
        for piece in said.speech.pieces():
            yield "output_text.delta", {"delta": piece, "logprobs": []}
        yield "output_text.done", {"text": part["text"], "logprobs": []}
    yield "content_part.done", {"part": part}


def _hear(dialogue: Dialogue, item: Table, field: str) -> None:
    kind = text(item.get("type", "message"), f"{field}.type")
    if kind == "function_call":
        text(item.get("arguments"), f"{field}.arguments")
        dialogue.call(name(item.get("call_id"), f"{field}.call_id"), name(item.get("name"), f"{field}.name"))
    elif kind == "function_call_output":
        said = texts(item.get("output"), f"{field}.output", "input_text", "output_text")
        dialogue.result(text(item.get("call_id"), f"{field}.call_id"), said, f"{field}.call_id")
    elif kind == "message":
        role = text(item.get("role"), f"{field}.role")
        if role not in _ROLES:
            raise Unusable(f"{field}.role", f"expected one of {', '.join(_ROLES)}")
        blocks = list(enumerate(_blocks(item.get("content"), f"{field}.content")))
        pictures = [
            of_data_url(one.get("image_url"), f"{field}.content[{index}].image_url")
            for index, one in blocks
            if _is_picture(one, role)
        ]
        content = [
            # A refusal's text stands in a field of its own name.
            one | {"text": one["refusal"]} if isinstance(one, dict) and "refusal" in one else one
            for _, one in blocks
            if not _is_picture(one, role)
        ]
        said = texts(content, f"{field}.content", "input_text", "output_text", "refusal")
        dialogue.say(_ROLES[role], said, field, pictures)
    elif kind != "reasoning":
        raise Unusable(f"{field}.type", "expected one of message, reasoning, function_call, function_call_output")


def _is_picture(block: Any, role: str) -> bool:
    return isinstance(block, dict) and block.get("type") == "input_image" and role != "assistant"


def _blocks(content: object, field: str) -> list[Any]:
    return [{"type": "input_text", "text": content}] if isinstance(content, str) else rows(content, field)


def _tool(tool: Table, field: str) -> ToolDefinition:
    return ToolDefinition(
        name(tool.get("name"), f"{field}.name"),
        texts(tool.get("description"), f"{field}.description"),
        optional_table(tool.get("parameters"), f"{field}.parameters"),
    )


def _items(said: Said) -> list[Table]:
    if said.speech.tools and not said.blocked:
        return [
            {
                "id": f"fc_{said.identity}{index}",
                "type": "function_call",
                "status": "completed",
                "call_id": f"call_{said.identity}{index}",
                "name": tool.name,
                "arguments": tool.arguments,
            }
            for index, tool in enumerate(said.speech.tools)
        ]
    part: Table = {"type": "output_text", "annotations": [], "logprobs": [], "text": said.speech.text}
    if said.blocked:
        part = {"type": "refusal", "refusal": REFUSAL}
    status = "incomplete" if said.speech.cut and not said.blocked else "completed"
    return [{"id": f"msg_{said.identity}", "type": "message", "status": status, "role": "assistant", "content": [part]}]


def _response(said: Said, status: str, output: list[Table]) -> Table:
    return {
        "id": f"resp_{said.identity}",
        "object": "response",
        "created_at": said.created,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": said.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "service_tier": "default",
        "store": False,
        "tool_choice": "auto",
        "tools": [],
        "truncation": "disabled",
        "usage": None,
        "metadata": {},
    }


def _usage(said: Said) -> Table:
    sent, given = said.speech.usage.input_tokens or 0, said.speech.usage.output_tokens or 0
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": given,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sent + given,
    }
