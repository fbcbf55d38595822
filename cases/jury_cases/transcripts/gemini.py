"""Gemini's contents: turns of `user` and `model` with parts; camelCase (API) or snake_case (SDK).

Source: the types of the SDK `google-genai` (`google.genai.types`). Older models send no call ids: a response belongs
to the first open call of its name.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.authors import MessageAuthor
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_objects, as_text, is_blank, json_kind, text_or_none
from jury_events.transcript import Event, Message, Origin, Reasoning, ToolCall, ToolResult

_HUMP = re.compile(r"(?<=[a-z])([A-Z])")
_BOOKKEEPING = frozenset(
    {"thought_signature", "part_metadata", "video_metadata", "media_resolution", "media_processing"}
    | {"document_metadata", "spreadsheet_metadata", "audio_metadata", "speech_metadata"}
)
"""Signatures, and how a file is to be processed."""

_CANDIDATE = frozenset(
    {"content", "finish_reason", "index", "token_count", "avg_logprobs", "logprobs_result", "safety_ratings"}
    | {"continuation_token"}
)
_CONTENT = frozenset({"role", "parts"})
_SYSTEM: tuple[str, Origin] = ("system", "developer")
_OTHER: tuple[str, Origin] = ("speaker", "unknown")
_ROLES: dict[str, tuple[str, Origin]] = {
    "user": ("user", "user"),
    "model": ("assistant", "model"),
    "system": _SYSTEM,
    "function": ("tool", "tool"),
    "tool": ("tool", "tool"),
}
_OF_RESPONSES = ("output", "result", "error")
GOOD_ENDS = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})
"""Reasons of an end that are no event."""


def read_contents(value: Any, builder: TranscriptBuilder, place: str = "contents") -> None:
    """Read `contents` of a request: text, a content, or a list of contents."""
    if isinstance(value, str):
        builder.message("user", value, place)
        return
    contents = as_objects([value] if isinstance(value, dict) else value, place, "contents")
    for index, content in builder.messages.of_list(enumerate(_with_whole_texts(contents)), len(contents)):
        if content is not None:
            read_content(content, builder, f"{place}.{index}")


def _with_whole_texts(contents: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """The contents, with texts that a stream cut put together; None in the place of one that only continued a text.

    The SDK's chats keep each chunk of a streamed answer as a content of its own. Otherwise a model's turns alternate
    with the user's: a text at the beginning of a content continues one at the end of the content before.
    """
    found: list[dict[str, Any] | None] = []
    before: dict[str, Any] = {}
    texts: list[str] = []
    for content in contents:
        parts = content.get("parts")
        of_model = content.get("role") == "model" and all(is_blank(content[key]) for key in content.keys() - _CONTENT)
        rest = parts if of_model and isinstance(parts, list) else []
        if rest and texts and _continues(before, rest[0]):
            texts.append(rest[0]["text"])
            rest = rest[1:]
            if not rest:
                found.append(None)
                continue
        if len(texts) > 1:
            before["text"] = "".join(texts)
        texts = []
        if rest and isinstance(rest[-1], dict) and _is_text(rest[-1]):
            before = dict(rest[-1])
            texts = [before["text"]]
            rest = [*rest[:-1], before]
        found.append({**content, "parts": rest} if rest else content)
    if len(texts) > 1:
        before["text"] = "".join(texts)
    return found


def _continues(before: dict[str, Any], part: Any) -> bool:
    """Whether both parts are texts, or both thoughts, with nothing else."""
    return isinstance(part, dict) and _is_text(part) and bool(before.get("thought")) is bool(part.get("thought"))


def _is_text(part: dict[str, Any]) -> bool:
    known = {"text", "thought", *_BOOKKEEPING}
    rest = (value for key, value in snake_keys(part).items() if key not in known)
    return isinstance(part.get("text"), str) and all(map(is_blank, rest))


def read_candidates(value: Any, builder: TranscriptBuilder, place: str = "candidates") -> None:
    """Read `candidates` of a response: the first one; others are reported as not shown, an abnormal end is an event.

    The first is that of `index` 0, which may be left out, wherever it stands.
    """
    candidates = as_objects(value, place, "candidates")
    first = _first_of(candidates)
    for index, written in enumerate(candidates):
        candidate = snake_keys(written)
        if index != first:
            builder.not_shown("another candidate", "model", f"{place}.{index}", written)
            continue
        if isinstance(candidate.get("content"), dict):
            read_content({"role": "model", **candidate["content"]}, builder, f"{place}.{index}.content")
        reason = candidate.get("finish_reason")
        if isinstance(reason, str) and reason not in GOOD_ENDS:
            text = ": ".join(part for part in (reason, as_text(candidate.get("finish_message"))) if part)
            builder.add(Event, f"{place}.{index}", origin="environment", name="end of the answer", text=text)
        builder.unread(candidate, _CANDIDATE | {"finish_message"}, "model", f"{place}.{index}")


def _first_of(candidates: list[dict[str, Any]]) -> int:
    return next((number for number, one in enumerate(candidates) if one.get("index") in (None, 0)), 0)


def read_stream(value: Any, builder: TranscriptBuilder, place: str) -> None:
    """Read the chunks of a streamed response: what they have of the first candidate; others are reported."""
    pieces: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for index, chunk in enumerate(as_objects(value, place, "chunks")):
        for one in as_objects(chunk.get("candidates"), f"{place}.{index}.candidates", "candidates"):
            (pieces if one.get("index") in (None, 0) else others).append(one)
    said = [{"role": "model", **one["content"]} for one in pieces if isinstance(one.get("content"), dict)]
    for number, content in enumerate(_with_whole_texts(said)):
        if content is not None:
            read_content(content, builder, f"{place}.{number}")
    if pieces:
        read_candidates([{name: one for name, one in pieces[-1].items() if name != "content"}], builder, place)
    for other in {as_text(one["index"]): one for one in others}.values():
        builder.not_shown("another candidate", "model", place, other)


def read_prompt_feedback(value: Any, builder: TranscriptBuilder, place: str = "promptFeedback") -> None:
    """Read why a prompt was blocked; a feedback without a reason is no block."""
    feedback = snake_keys(value) if isinstance(value, dict) else {}
    parts = (feedback.get("block_reason"), feedback.get("block_reason_message"))
    text = ": ".join(as_text(part) for part in parts if not is_blank(part))
    if text:
        builder.add(Event, place, origin="environment", name="end of the answer", text=text)


def read_content(content: dict[str, Any], builder: TranscriptBuilder, place: str, *, system: bool = False) -> None:
    """Read one turn."""
    role = as_text(content.get("role")) or "user"
    kind, origin = _SYSTEM if system else _ROLES.get(role, _OTHER)
    name = role if kind == "speaker" else None
    with builder.messages.paused() if system else nullcontext(), builder.by(MessageAuthor(role, known=name is None)):
        if not _read_parts(content, _PartsAuthor(kind, origin, name), builder, place):
            _add_text("", _PartsAuthor(kind, origin, name), builder, place)
    builder.unread(content, _CONTENT, origin, place)


def read_content_of(author: MessageAuthor, content: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """Read one turn by the user or by an agent with a name, whatever its role; nothing where it has no content."""
    kind, origin = _ROLES[author.role]
    with builder.by(author):
        _read_parts(content, _PartsAuthor(kind, origin, author.name), builder, place)
    builder.unread(content, _CONTENT, origin, place)


class _PartsAuthor(NamedTuple):
    """Whose parts are read; `name` of a role that no rule knows."""

    kind: str
    origin: Origin
    name: str | None


def _read_parts(content: dict[str, Any], turn: _PartsAuthor, builder: TranscriptBuilder, place: str) -> bool:
    """Read the parts; returns whether any is an item."""
    parts = content.get("parts")
    if isinstance(parts, dict | str):
        parts = [parts]
    before = len(builder)
    if not isinstance(parts, list | None):
        raise CaseFileError(f"{place}.parts: must be a list of parts, not {json_kind(parts)}")
    texts: list[str] = []
    for index, part in enumerate([*(parts or ()), None]):
        text = _plain_text(part)
        if text is not None:
            texts.append(text)
            continue
        if texts and any(texts):
            _add_text("\n".join(texts), turn, builder, f"{place}.parts")
        texts = []
        if part is not None:
            _part(part, turn, builder, f"{place}.parts.{index}")
    return len(builder) > before


def _plain_text(part: Any) -> str | None:
    """The text of a text-only part, else None; a sentence may be split over several parts."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        return None
    return part["text"] if all(key == "text" or is_blank(value) for key, value in part.items()) else None


def _add_text(text: str, turn: _PartsAuthor, builder: TranscriptBuilder, place: str) -> None:
    if turn.kind == "tool":
        builder.add(ToolResult, place, text=text)
    else:
        builder.add(Message, place, kind=turn.kind, origin=turn.origin, text=text, name=turn.name)


def _part(written: Any, turn: _PartsAuthor, builder: TranscriptBuilder, place: str) -> None:
    if not isinstance(written, dict):
        raise CaseFileError(f"{place}: must be a part, not {json_kind(written)}")
    part = {key: value for key, value in snake_keys(written).items() if value is not None}
    known = {"thought"}
    if "text" in part:
        known.add("text")
        text = as_text(part["text"])  # with a signature it may be empty
        if text and part.get("thought") is True:
            builder.add(Reasoning, place, origin=turn.origin, text=text)
        elif text:
            _add_text(text, turn, builder, place)
    for name, read in _PARTS.items():
        if isinstance(part.get(name), dict):
            known.add(name)
            read(snake_keys(part[name]), turn, builder, place)
    builder.unread(part, known | _BOOKKEEPING, turn.origin, place)


def _function_call(call: dict[str, Any], turn: _PartsAuthor, builder: TranscriptBuilder, place: str) -> None:
    name, call_id = as_text(call.get("name")) or "unnamed", text_or_none(call.get("id"))
    arguments = "" if call.get("args") is None else as_text(call["args"])
    builder.add(ToolCall, place, origin=_caller(turn), call_id=call_id, name=name, arguments=arguments)
    builder.unread(call, {"name", "id", "args", "will_continue"}, "model", place)


def _caller(turn: _PartsAuthor) -> Origin:
    """The author of a call: the agent, unless the record names a role of its own."""
    return "model" if turn.name is None else turn.origin


def _function_response(answer: dict[str, Any], _turn: _PartsAuthor, builder: TranscriptBuilder, place: str) -> None:
    response = answer.get("response")
    failed = isinstance(response, dict) and "error" in response and "output" not in response
    if isinstance(response, dict) and len(response) == 1:
        response = next((response[key] for key in _OF_RESPONSES if response.get(key) is not None), response)
    call_id, name = text_or_none(answer.get("id")), text_or_none(answer.get("name"))
    builder.add(ToolResult, place, in_order=True, call_id=call_id, name=name, text=as_text(response), error=failed)
    for index, part in enumerate(as_objects(answer.get("parts"), f"{place}.parts", "parts")):
        at = f"{place}.parts.{index}"
        table = snake_keys(part)
        for field, read in (("inline_data", _inline_data), ("file_data", _file_data)):
            if isinstance(table.get(field), dict):
                read(snake_keys(table[field]), _TOOL, builder, at, call_id=call_id)
        builder.unread(table, {"inline_data", "file_data"} | _BOOKKEEPING, "tool", at)
    builder.unread(answer, {"name", "id", "response", "parts", "will_continue", "scheduling"}, "tool", place)


def _inline_data(
    data: dict[str, Any], turn: _PartsAuthor, builder: TranscriptBuilder, place: str, *, call_id: str | None = None
) -> None:
    name = text_or_none(data.get("display_name"))
    # The SDK writes base64 for URLs.
    content = (
        data["data"].replace("-", "+").replace("_", "/") if isinstance(data.get("data"), str) else data.get("data")
    )
    builder.base64_file(content, data.get("mime_type"), turn.origin, place, name=name, call_id=call_id)
    builder.unread(data, {"data", "mime_type", "display_name"}, turn.origin, place)


def _file_data(
    data: dict[str, Any],
    turn: _PartsAuthor,
    builder: TranscriptBuilder,
    place: str,
    *,
    call_id: str | None = None,  # noqa: ARG001  (the interface of `_inline_data`)
) -> None:
    builder.not_shown(f"{data.get('mime_type') or 'file'} at a URL", turn.origin, place)
    builder.unread(data, {"file_uri", "mime_type", "display_name"}, turn.origin, place)


def _executable_code(code: dict[str, Any], turn: _PartsAuthor, builder: TranscriptBuilder, place: str) -> None:
    name = "code_execution"
    arguments = as_text(code.get("code"))
    builder.add(
        ToolCall, place, origin=_caller(turn), call_id=text_or_none(code.get("id")), name=name, arguments=arguments
    )
    builder.unread(code, {"id", "code", "language"}, "model", place)


def _code_result(result: dict[str, Any], _turn: _PartsAuthor, builder: TranscriptBuilder, place: str) -> None:
    outcome = as_text(result.get("outcome"))
    builder.add(
        ToolResult,
        place,
        in_order=True,
        call_id=text_or_none(result.get("id")),
        name="code_execution",
        text=as_text(result.get("output")) or outcome,
        error=outcome not in {"", "OUTCOME_OK", "OUTCOME_UNSPECIFIED"},
    )
    builder.unread(result, {"id", "output", "outcome"}, "tool", place)


def _tool_call(call: dict[str, Any], turn: _PartsAuthor, builder: TranscriptBuilder, place: str) -> None:
    name = as_text(call.get("tool_type")) or "server tool"
    arguments = "" if call.get("args") is None else as_text(call["args"])
    builder.add(
        ToolCall, place, origin=_caller(turn), call_id=text_or_none(call.get("id")), name=name, arguments=arguments
    )
    builder.unread(call, {"id", "tool_type", "args"}, "model", place)


def _tool_response(answer: dict[str, Any], _turn: _PartsAuthor, builder: TranscriptBuilder, place: str) -> None:
    response = answer.get("response")
    builder.add(
        ToolResult,
        place,
        in_order=True,
        call_id=text_or_none(answer.get("id")),
        name=text_or_none(answer.get("tool_type")),
        text=as_text(response),
        error=isinstance(response, dict) and "error" in response and "output" not in response,
    )
    builder.unread(answer, {"id", "tool_type", "response"}, "tool", place)


def _audio_transcription(
    transcription: dict[str, Any], turn: _PartsAuthor, builder: TranscriptBuilder, place: str
) -> None:
    text = as_text(transcription.get("text"))
    if text:
        builder.add(Event, place, origin=turn.origin, name="audio transcription", text=text)
    known = {"text", "finished", "language_code", "words", "start_offset", "end_offset"}
    builder.unread(transcription, known, turn.origin, place)


_TOOL = _PartsAuthor("tool", "tool", None)

_PARTS: dict[str, Callable[..., None]] = {
    "function_call": _function_call,
    "function_response": _function_response,
    "inline_data": _inline_data,
    "file_data": _file_data,
    "executable_code": _executable_code,
    "code_execution_result": _code_result,
    "tool_call": _tool_call,
    "tool_response": _tool_response,
    "audio_transcription": _audio_transcription,
}


def snake_keys(table: Mapping[str, Any]) -> dict[str, Any]:
    """The object with keys in snake_case."""
    return {_HUMP.sub(lambda found: f"_{found.group(1).lower()}", key): value for key, value in table.items()}
