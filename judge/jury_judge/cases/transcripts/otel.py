"""Messages of OpenTelemetry's GenAI conventions: a role, and parts of a type.

Source: OpenTelemetry semantic conventions for generative AI, `gen_ai.input.messages` and `gen_ai.output.messages`.
"""

from typing import Any

from jury_events.transcript import Event, Message, Origin, Reasoning, ToolCall, ToolResult
from jury_judge.cases.transcripts.builder import TranscriptBuilder
from jury_judge.cases.transcripts.chat import read_end, read_message
from jury_judge.cases.transcripts.json_values import as_objects, as_text, text_or_none

_KINDS: dict[str, tuple[str, Origin]] = {
    "system": ("system", "developer"),
    "developer": ("system", "developer"),
    "user": ("user", "user"),
    "assistant": ("assistant", "model"),
    "tool": ("user", "tool"),
}
_END = frozenset({"stop", "tool_call", "tool_calls"})


def read_parts_messages(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """A list of messages made of parts; messages with `content` instead are read as chat messages.

    Raises:
        CaseFileError: they are no messages.
    """
    for index, message in enumerate(as_objects(value, place, "messages")):
        read_parts_message(message, builder, f"{place}.{index}")


def read_parts_message(message: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """One message; raises as `read_parts_messages`."""
    if "parts" not in message:
        read_message(message, builder, place)
        return
    role = as_text(message.get("role")).lower()
    kind, origin = _KINDS.get(role, ("", "environment"))
    for index, part in enumerate(as_objects(message["parts"], f"{place}.parts", "parts")):
        read_part(part, kind, origin, builder, f"{place}.parts.{index}", role=role)
    if message.get("finish_reason") not in _END:
        read_end(message.get("finish_reason"), builder, f"{place}.finish_reason")
    builder.unread(message, {"role", "parts", "finish_reason", "name"}, origin, place)


def read_part(
    part: dict[str, Any], kind: str, origin: Origin, builder: TranscriptBuilder, place: str, *, role: str = ""
) -> None:
    """One part, by whoever the message is by."""
    what = part.get("type", "text")
    call_id = text_or_none(part.get("id"))
    match what:
        case "text":
            text = as_text(part.get("content", part.get("text")))
            if origin == "tool":
                builder.add(ToolResult, place, text=text)
            elif kind:
                builder.add(Message, place, kind=kind, origin=origin, text=text)
            else:
                builder.add(Event, place, origin=origin, name=role or "unnamed role", text=text)
            builder.unread(part, {"type", "content", "text"}, origin, place)
        case "reasoning" | "thinking":
            builder.add(Reasoning, place, origin=origin, text=as_text(part.get("content", part.get("text"))))
            builder.unread(part, {"type", "content", "text"}, origin, place)
        case "tool_call":
            name = as_text(part.get("name")) or "unnamed"
            builder.add(ToolCall, place, call_id=call_id, name=name, arguments=as_text(part.get("arguments")))
            builder.unread(part, {"type", "id", "name", "arguments"}, origin, place)
        case "tool_call_response":
            answer = next((part[key] for key in ("response", "result", "content") if part.get(key) is not None), None)
            tool = text_or_none(part.get("name"))
            builder.add(ToolResult, place, call_id=call_id, name=tool, text=as_text(answer))
            builder.unread(part, {"type", "id", "name", "response", "result", "content"}, "tool", place)
        case "blob":
            media = part.get("mime_type") or part.get("modality")
            builder.base64_file(part.get("content", part.get("data")), media, origin, place)
        case "uri":
            builder.url(part.get("uri"), as_text(part.get("modality")) or "file", origin, place)
        case "file":
            builder.not_shown("file by its id", origin, place)
        case _:
            builder.not_shown(f"part {what}", origin, place, part)
