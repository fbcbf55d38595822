"""Messages of pydantic-ai as `ModelMessagesTypeAdapter` dumps them: requests and responses made of parts.

The instructions of a request are shown where they change. Source: `pydantic_ai.messages`.
"""

from collections.abc import Callable, Iterator
from typing import Any

from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_end, read_message
from jury_cases.transcripts.json_values import as_objects, as_text, is_blank, text_or_none
from jury_cases.transcripts.pydantic_ai_content import content_blocks, file_block
from jury_events.transcript import Event, Refusal, ToolResult

_BOOKKEEPING = frozenset(
    {
        *("part_kind", "kind", "timestamp", "id", "dynamic_ref", "context_id", "scope", "provider_name", "tool_kind"),
        *("provider_details", "retry", "dynamic", "state", "parts", "run_id", "conversation_id", "usage", "model_name"),
        *("model_id", "provider_url", "canonical_system", "provider_response_id", "vendor_id", "vendor_details"),
        *("workspace_ref", "history_digest", "interrupted_at_ms", "timestamps", "base_hash"),
        "content_file_digests",
    }
)
_FAILED = frozenset({"failed", "retried", "denied", "interrupted"})
"""Outcomes of calls without a usable result."""

_UNSENT = "artifact of a tool"
_GOOD_ENDS = frozenset({"tool_call", "stop"})
_CHANGES = frozenset({"tool-availability-delta", "capability-load-delta", "model-settings-delta"})
_DIGESTS = frozenset({"instruction-baseline", "instruction-digest"})


def is_pydantic_ai(value: Any) -> bool:
    """Whether a value is a request or a response."""
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list):
        return False
    parts = value["parts"]
    named = all(isinstance(one, dict) and "part_kind" in one for one in parts)
    return value.get("kind") in ("request", "response") and named


def read_pydantic_ai(value: Any, builder: TranscriptBuilder, place: str = "messages") -> None:
    """Read a list of requests and responses.

    Raises:
        CaseFileError: it is no such list, or a part is invalid.
    """
    instructions = ""
    messages = as_objects(value, place, "messages")
    for index, message in builder.messages.of_list(enumerate(messages), len(messages)):
        at = f"{place}.{index}"
        parts = as_objects(message.get("parts"), f"{at}.parts", "parts")
        if message.get("kind") == "response":
            _read_response(message, parts, builder, at)
            continue
        new = as_text(message.get("instructions"))
        _read_request(parts, new if new != instructions else "", builder, at)
        instructions = new or instructions
        builder.unread(message, _BOOKKEEPING | {"instructions"}, "developer", at)


def _read_request(parts: list[dict[str, Any]], instructions: str, builder: TranscriptBuilder, place: str) -> None:
    """The parts in order; instructions are sent behind the system prompts."""
    waiting = bool(instructions)
    for index, part in enumerate(parts):
        if waiting and part.get("part_kind") != "system-prompt":
            builder.message("system", instructions, f"{place}.instructions")
            waiting = False
        _read_asked(part, builder, f"{place}.parts.{index}")
    if waiting:
        builder.message("system", instructions, f"{place}.instructions")


def _read_asked(part: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    kind = as_text(part.get("part_kind"))
    read = _ASKED.get(kind)
    if read is not None:
        read(part, builder, place)
    elif kind in _CHANGES:
        given = {name: value for name, value in part.items() if name not in _BOOKKEEPING and not is_blank(value)}
        builder.add(Event, place, origin="environment", name=kind, text=as_text(given or None))
    elif kind not in _DIGESTS:
        builder.not_shown(f"part {kind}", "user", place, part)


def _system(part: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """A system prompt, or a later text of instructions; null withdraws them."""
    if part.get("content") is None:
        builder.add(Event, place, origin="developer", name="instructions withdrawn", text=as_text(part.get("id")))
        return
    read_message({"role": "system", "content": part["content"]}, builder, f"{place}.content")
    builder.unread(part, _BOOKKEEPING | {"content"}, "developer", place)


def _user(part: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    read_message({"role": "user", "content": content_blocks(part.get("content"))}, builder, place)
    builder.unread(part, _BOOKKEEPING | {"content"}, "user", place)


def _returned(part: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """A tool's result; `metadata` is for the program and never sent to the model."""
    read_message(
        {
            "role": "tool",
            "name": part.get("tool_name"),
            "tool_call_id": part.get("tool_call_id"),
            "is_error": as_text(part.get("outcome")) in _FAILED or _is_error(part.get("content")),
            "content": content_blocks(part.get("content"), of_tool=True),
        },
        builder,
        place,
    )
    if not is_blank(part.get("metadata")):
        builder.not_shown(_UNSENT, "tool", f"{place}.metadata", part["metadata"])
    known = {"content", "tool_name", "tool_call_id", "outcome", "metadata"}
    builder.unread(part, _BOOKKEEPING | known, "tool", place)


def _is_error(content: Any) -> bool:
    """Whether a provider's tool failed: the library calls that a success, and keeps the provider's error."""
    return isinstance(content, dict) and as_text(content.get("type")).endswith("_error")


def _retry(part: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """What the library answers to a call or a response that it cannot use."""
    text = as_text(part.get("content"))
    name = text_or_none(part.get("tool_name"))
    if name is None:
        builder.add(Event, place, origin="environment", name=as_text(part.get("part_kind")), text=text)
    else:
        call_id = text_or_none(part.get("tool_call_id"))
        builder.add(ToolResult, place, call_id=call_id, name=name, text=text, error=True)
    builder.unread(part, _BOOKKEEPING | {"content", "tool_name", "tool_call_id"}, "tool", place)


def _compaction(part: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    if text_or_none(part.get("content")) is None:
        builder.not_shown("compaction that the provider encrypted", "model", place, part.get("provider_details"))
    else:
        builder.add(Event, place, origin="model", name="compaction", text=as_text(part["content"]))
    builder.unread(part, _BOOKKEEPING | {"content"}, "model", place)


def _speech(part: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    role = "user" if part.get("speaker") == "user" else "assistant"
    content = [{"type": "text", "text": as_text(part.get("transcript"))}, file_block(part.get("audio"))]
    read_message({"role": role, "content": [one for one in content if one is not None]}, builder, place)
    builder.unread(part, _BOOKKEEPING | {"speaker", "transcript", "audio"}, "model", place)


_ASKED: dict[str, Callable[[dict[str, Any], TranscriptBuilder, str], None]] = {
    "system-prompt": _system,
    "instruction-delta": _system,
    "user-prompt": _user,
    "tool-return": _returned,
    "retry-prompt": _retry,
    "retry-feedback": _retry,
    "compaction": _compaction,
    "speech": _speech,
}


def _read_response(
    message: dict[str, Any], parts: list[dict[str, Any]], builder: TranscriptBuilder, place: str
) -> None:
    """Attempts of other models first, then the parts, a refusal that is only in the details, and the end."""
    attempts = as_objects(message.get("failed_attempts"), f"{place}.failed_attempts", "attempts")
    for index, attempt in enumerate(attempts):
        text = as_text(attempt.get("error")) or as_text(attempt.get("outcome"))
        builder.add(Event, f"{place}.failed_attempts.{index}", origin="environment", name="failed attempt", text=text)
        known = {"outcome", "error", "duration"}
        builder.unread(attempt, _BOOKKEEPING | known, "environment", f"{place}.failed_attempts.{index}")
    before = len(builder)
    for first, run in _runs(parts):
        at = f"{place}.parts.{first}"
        kind = as_text(run[0].get("part_kind"))
        if kind in {"builtin-tool-return", "compaction", "speech"}:
            (_returned if kind == "builtin-tool-return" else _ASKED[kind])(run[0], builder, at)
        else:
            read_message({"role": "assistant", "content": [_answered(one) for one in run]}, builder, at)
    details = message.get("provider_details")
    if isinstance(details, dict) and text_or_none(details.get("refusal")) is not None:
        builder.add(Refusal, f"{place}.provider_details.refusal", text=as_text(details["refusal"]))
    if len(builder) == before:
        builder.message("assistant", "", place)
    end = message.get("finish_reason")
    if isinstance(end, str) and end not in _GOOD_ENDS:
        read_end(end, builder, f"{place}.finish_reason")
    if message.get("state") not in (None, "complete"):
        read_end(message["state"], builder, f"{place}.state")
    builder.unread(message, _BOOKKEEPING | {"finish_reason", "failed_attempts"}, "model", place)


def _runs(parts: list[dict[str, Any]]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The parts with their indices; consecutive texts are one run."""
    run: list[dict[str, Any]] = []
    for index, part in enumerate(parts):
        if run and part.get("part_kind") == "text":
            run.append(part)
            continue
        if run:
            yield index - len(run), run
        run = []
        if part.get("part_kind") == "text":
            run = [part]
        else:
            yield index, [part]
    if run:
        yield len(parts) - len(run), run


def _answered(part: dict[str, Any]) -> dict[str, Any]:
    """A part of an answer as a content block; unknown fields stay in it."""
    kind = as_text(part.get("part_kind"))
    rest = {name: value for name, value in part.items() if name not in _BOOKKEEPING}
    match kind:
        case "text":
            return {**_without(rest, "content"), "type": "text", "text": part.get("content")}
        case "thinking":
            return {**_without(rest, "content"), "type": "thinking", "thinking": part.get("content")}
        case "tool-call" | "builtin-tool-call":
            called = {"id": part.get("tool_call_id"), "name": part.get("tool_name"), "args": part.get("args")}
            return {**_without(rest, "tool_call_id", "tool_name", "args"), "type": "tool_call", **called}
        case "file":
            found = file_block(part.get("content"))
            return {**rest, "type": kind} if found is None else {**_without(rest, "content"), **found}
        case _:
            return {**rest, "type": kind or "unnamed"}


def _without(table: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}
