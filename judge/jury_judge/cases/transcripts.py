"""Transcripts of agents as other systems write them: lists of messages of the OpenAI or Anthropic kind."""

import json
from typing import Any

from pydantic import ValidationError

from jury_events.transcript import Item, Message, Reasoning, ToolCall, ToolResult, Transcript
from jury_judge.errors import CaseFileError, condensed

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "agent": "assistant",
    "model": "assistant",
    "function": "tool",
    "environment": "tool",
    "developer": "system",
}


def read_messages(value: Any, field: str = "messages") -> Transcript:
    """A decoded list of messages.

    Raises:
        CaseFileError: it is not a list of messages; the text begins with `field`.
    """
    if not isinstance(value, list):
        raise CaseFileError(f"{field}: must be a list of messages, not {json_kind(value)}")
    return Transcript(
        items=tuple(one for index, item in enumerate(value) for one in _message(item, f"{field}.{index}"))
    )


def text_of(value: Any, field: str) -> str:
    """Text written as a string, as null, or as a list of blocks.

    A block that is not text (an image, say) leaves a note in its place.

    Raises:
        CaseFileError: it is anything else.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(piece for block in value if (piece := _block(block, field)) is not None)
    raise CaseFileError(f"{field}: must be text, not {json_kind(value)}")


def first_prompt(transcript: Transcript) -> str | None:
    """What the user asked first."""
    return next((m.text for m in transcript.items if m.kind == "user" and m.text.strip()), None)


def last_answer(transcript: Transcript) -> str:
    """What the agent said last; "" when it only called tools."""
    return next(
        (m.text for m in reversed(transcript.items) if m.kind in {"assistant", "refusal"} and m.text.strip()), ""
    )


def split_system(transcript: Transcript) -> tuple[str | None, Transcript]:
    """The text of the system messages that open a transcript, and the rest of it."""
    items = transcript.items
    count = next((i for i, m in enumerate(items) if m.kind != "system"), len(items))
    policy = "\n\n".join(m.text for m in items[:count] if m.text.strip())
    return (policy, Transcript(items=items[count:])) if policy else (None, transcript)


def json_kind(value: Any) -> str:
    """What a decoded value is, or what a caller of Python gave instead of one, for a message."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value)) or ("a number" if isinstance(value, int | float) else f"a {type(value).__name__}")


def _message(item: Any, field: str) -> list[Item]:
    if not isinstance(item, dict):
        raise CaseFileError(f"{field}: must be a message object with role and content, not {json_kind(item)}")
    role = item.get("role")
    if not isinstance(role, str):
        raise CaseFileError(f"{field}.role: must be text such as user, assistant, tool or system")
    role = _ROLES.get(role.lower(), role.lower())
    content = item.get("content")
    calls = [*_calls(item.get("tool_calls"), f"{field}.tool_calls"), *_block_calls(content, f"{field}.content")]
    text = _content(content, f"{field}.content")
    items: list[Item] = [Reasoning(text=item["thought"])] if item.get("thought") else []
    if role == "tool":
        items.append(ToolResult(name=item.get("tool") or item.get("name"), text=text))
    elif text:
        origin = {"user": "user", "assistant": "model"}.get(role, "developer")
        items.append(Message(kind=role, origin=origin, text=text))
    return [*items, *calls]


def _content(value: Any, field: str) -> str:
    """As `text_of`; what a tool returned may be any JSON and is shown as such."""
    return _json(value) if isinstance(value, dict | bool | int | float) else text_of(value, field)


def _block(block: Any, field: str) -> str | None:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return _json(block)
    kind = block.get("type")
    if kind in {"text", "input_text", "output_text"} or (kind is None and "text" in block):
        return text_of(block.get("text"), field)
    if kind == "tool_result":
        return _content(block.get("content"), field)
    if kind == "tool_use":
        return None
    return f"[{kind if isinstance(kind, str) else 'unnamed'} block, not shown]"


def _block_calls(content: Any, field: str) -> list[ToolCall]:
    if not isinstance(content, list):
        return []
    uses = [block for block in content if isinstance(block, dict) and block.get("type") == "tool_use"]
    return [_call({"name": use.get("name"), "arguments": use.get("input")}, field) for use in uses]


def _calls(value: Any, field: str) -> list[ToolCall]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise CaseFileError(f"{field}: must be a list of tool calls, not {json_kind(value)}")
    return [_call(item, f"{field}.{index}") for index, item in enumerate(value)]


def _call(item: Any, field: str) -> ToolCall:
    """`{function: {name, arguments}}`, `{name, arguments}` or `{function: name, args}`."""
    inner = item.get("function", item) if isinstance(item, dict) else None
    if isinstance(inner, str):
        inner = {**item, "name": inner}
    name = inner.get("name") if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or not isinstance(name, str):
        raise CaseFileError(f"{field}: must be a tool call with a name and arguments")
    arguments = inner.get("arguments", inner.get("args"))
    if arguments is None:
        arguments = ""
    return ToolCall(name=name, arguments=arguments if isinstance(arguments, str) else _json(arguments))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
