"""Messages of OpenTelemetry's GenAI conventions (a role and typed parts).

Source: OpenTelemetry semantic conventions for generative AI, `gen_ai.input.messages` and `gen_ai.output.messages`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from jury_cases.transcripts.authors import MessageAuthor
from jury_cases.transcripts.builder import Speaker, TranscriptBuilder
from jury_cases.transcripts.chat import read_end, read_message
from jury_cases.transcripts.json_values import as_objects, as_text, is_blank, text_or_none
from jury_events.transcript import Message, Origin, Reasoning, Refusal, ToolCall, ToolResult

_SYSTEM: tuple[str, Origin] = ("system", "developer")
_USER: tuple[str, Origin] = ("user", "user")
_AGENT: tuple[str, Origin] = ("assistant", "model")
_TOOL: tuple[str, Origin] = ("", "tool")
_OTHER: tuple[str, Origin] = ("speaker", "unknown")
_KINDS: dict[str, tuple[str, Origin]] = {
    **dict.fromkeys(("system", "developer"), _SYSTEM),
    **dict.fromkeys(("user", "human"), _USER),
    **dict.fromkeys(("assistant", "ai", "agent", "model"), _AGENT),
    **dict.fromkeys(("tool", "function"), _TOOL),
}
_TEXTS = ("content", "text")
_RETURNED = ("response", "result", "content")


def read_parts_messages(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """A list of messages made of parts; messages with `content` instead are read as chat messages."""
    messages = as_objects(value, place, "messages")
    for index, message in builder.messages.of_list(enumerate(messages), len(messages)):
        read_parts_message(message, builder, f"{place}.{index}")


def read_parts_message(message: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """One message; raises as `read_parts_messages`."""
    end = message.get("finish_reason")
    if "parts" in message:
        _read_parts(message, builder, place)
    elif isinstance(message.get("role"), str) and is_blank({**message, "role": None, "finish_reason": None}):
        _, origin = _KINDS.get(message["role"].lower(), _OTHER)
        builder.not_shown("message without content", origin, place)
    else:
        read_message({key: value for key, value in message.items() if key != "finish_reason"}, builder, place)
    if end is not None and end != "tool_call":
        read_end(as_text(end), builder, f"{place}.finish_reason")


def _read_parts(message: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    role = as_text(message.get("role"))
    kind, origin = _KINDS.get(role.lower(), _OTHER)
    name = text_or_none(message.get("name"))
    author = MessageAuthor(role or "unnamed role", None if origin == "tool" else name, known=kind != "speaker")
    with builder.by(author):
        _read_parts_by(message, Speaker(kind, origin, name if origin == "tool" else author.shown), builder, place)


def _read_parts_by(message: dict[str, Any], speaker: Speaker, builder: TranscriptBuilder, place: str) -> None:
    kind, origin, name = speaker.kind, speaker.origin, speaker.name
    call_id = text_or_none(message.get("tool_call_id") or message.get("id"))
    parts = as_objects(message["parts"], f"{place}.parts", "parts")
    if not parts and (origin == "user" or "finish_reason" in message):
        # Instrumentations write such messages for content that they do not know: pictures, refusals.
        builder.not_shown("message without content", origin, place)
    for first, run in _runs(parts):
        at = f"{place}.parts.{first}"
        if run[0].get("type", "text") != "text":
            _read_part(run[0], origin, builder, at)
            continue
        text = "\n".join(filter(None, (_text_of(part) for part in run)))
        if kind:
            builder.add(Message, at, kind=kind, origin=origin, text=text, name=name)
        else:
            builder.add(ToolResult, at, call_id=call_id, name=name, text=text)
        for index, part in enumerate(run, start=first):
            builder.unread(part, {"type", *_TEXTS}, origin, f"{place}.parts.{index}")
    known = {"role", "parts", "finish_reason", "name"}
    builder.unread(message, known | ({"id", "tool_call_id"} if origin == "tool" else set()), origin, place)


def _runs(parts: list[dict[str, Any]]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The parts with their indices; consecutive texts form one group."""
    run: list[dict[str, Any]] = []
    for index, part in enumerate(parts):
        if part.get("type", "text") == "text":
            run.append(part)
            continue
        if run:
            yield index - len(run), run
            run = []
        yield index, [part]
    if run:
        yield len(parts) - len(run), run


def _text_of(part: dict[str, Any]) -> str:
    return as_text(_first(part, _TEXTS))


def _thought(part: dict[str, Any]) -> str:
    """Text, or an object of Bedrock's with it, as Strands writes it."""
    found = _first(part, _TEXTS)
    inner = found.get("reasoningText", found) if isinstance(found, dict) else found
    return as_text(inner.get("text", inner) if isinstance(inner, dict) else inner)


def _returned(value: Any) -> str:
    """A result as text: the texts of a list of `{text}`, else JSON."""
    if isinstance(value, list) and value and all(isinstance(one, dict) and one.keys() == {"text"} for one in value):
        return "\n".join(as_text(one["text"]) for one in value)
    return as_text(value)


def _first(table: dict[str, Any], names: Iterable[str]) -> Any:
    return next((table[name] for name in names if table.get(name) is not None), None)


def _read_part(part: dict[str, Any], origin: Origin, builder: TranscriptBuilder, place: str) -> None:
    call_id = text_or_none(part.get("id"))
    caller: Origin = origin if origin == "unknown" else "model"
    match part.get("type"):
        case "reasoning" | "thinking" | "reasoningContent":
            builder.add(Reasoning, place, origin=origin, text=_thought(part))
            known = {*_TEXTS, "reasoningContent"}
        case "refusal":
            builder.add(Refusal, place, origin=origin, text=_text_of(part))
            known = {*_TEXTS}
        case "tool_call":
            name = as_text(part.get("name")) or "unnamed"
            arguments = as_text(part.get("arguments"))
            builder.add(ToolCall, place, origin=caller, call_id=call_id, name=name, arguments=arguments)
            known = {"id", "name", "arguments"}
        case "tool_call_response":
            tool = text_or_none(part.get("name"))
            builder.add(ToolResult, place, call_id=call_id, name=tool, text=_returned(_first(part, _RETURNED)))
            known, origin = {"id", "name", *_RETURNED}, "tool"
        case "blob":
            media = part.get("mime_type") or part.get("modality")
            builder.base64_file(_first(part, ("content", "data")), media, origin, place)
            known = {"mime_type", "modality", "content", "data"}
        case "uri":
            builder.url(part.get("uri"), as_text(part.get("modality")) or "file", origin, place)
            known = {"mime_type", "modality", "uri"}
        case "file":
            builder.not_shown("file by its id", origin, place)
            known = {"mime_type", "modality", "file_id"}
        case what:
            builder.not_shown(f"part {as_text(what)}", origin, place, part)
            return
    builder.unread(part, {"type", *known}, origin, place)
