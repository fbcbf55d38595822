"""Transcripts of agents as other systems write them: lists of messages of the OpenAI or Anthropic kind."""

import json
from typing import Any

from pydantic import ValidationError

from jury_events.case import Message, ToolUse
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


def read_messages(value: Any, field: str = "messages") -> tuple[Message, ...]:
    """A decoded list of messages; keys that no juror needs (call ids, dates, labels) are left out.

    Raises:
        CaseFileError: it is not a list of messages; the text begins with `field`.
    """
    if not isinstance(value, list):
        raise CaseFileError(f"{field}: must be a list of messages, not {json_kind(value)}")
    return tuple(_message(item, f"{field}.{index}") for index, item in enumerate(value))


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


def first_prompt(messages: tuple[Message, ...]) -> str | None:
    """What the user asked first."""
    return next((m.content for m in messages if m.role == "user" and m.content.strip()), None)


def last_answer(messages: tuple[Message, ...]) -> str:
    """What the agent said last; "" when it only called tools."""
    return next((m.content for m in reversed(messages) if m.role == "assistant" and m.content.strip()), "")


def split_system(messages: tuple[Message, ...]) -> tuple[str | None, tuple[Message, ...]]:
    """The text of the system messages that open a transcript, and the rest of it."""
    count = next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))
    policy = "\n\n".join(m.content for m in messages[:count] if m.content.strip())
    return (policy, messages[count:]) if policy else (None, messages)


def json_kind(value: Any) -> str:
    """What a decoded value is, or what a caller of Python gave instead of one, for a message."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value)) or ("a number" if isinstance(value, int | float) else f"a {type(value).__name__}")


def _message(item: Any, field: str) -> Message:
    if not isinstance(item, dict):
        raise CaseFileError(f"{field}: must be a message object with role and content, not {json_kind(item)}")
    role = item.get("role")
    if not isinstance(role, str):
        raise CaseFileError(f"{field}.role: must be text such as user, assistant, tool or system")
    content = item.get("content")
    calls = [*_calls(item.get("tool_calls"), f"{field}.tool_calls"), *_block_calls(content, f"{field}.content")]
    tool = item.get("tool") or item.get("name")
    try:
        return Message(
            role=_ROLES.get(role.lower(), role.lower()),
            content=_content(content, f"{field}.content"),
            thought=text_of(item["thought"], f"{field}.thought") if item.get("thought") is not None else None,
            tool=tool if isinstance(tool, str) else None,
            tool_calls=tuple(calls),
        )
    except ValidationError as error:
        raise CaseFileError(f"{field}.{condensed(error)}") from error


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


def _block_calls(content: Any, field: str) -> list[ToolUse]:
    if not isinstance(content, list):
        return []
    uses = [block for block in content if isinstance(block, dict) and block.get("type") == "tool_use"]
    return [_call({"name": use.get("name"), "arguments": use.get("input")}, field) for use in uses]


def _calls(value: Any, field: str) -> list[ToolUse]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise CaseFileError(f"{field}: must be a list of tool calls, not {json_kind(value)}")
    return [_call(item, f"{field}.{index}") for index, item in enumerate(value)]


def _call(item: Any, field: str) -> ToolUse:
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
    return ToolUse(name=name, arguments=arguments if isinstance(arguments, str) else _json(arguments))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
