"""The items of a Codex session: what the model was sent and answered, and events without such an item.

Codex records each thing twice: as an item of the Responses API (`response_item`), and as an event for the screen
(`event_msg`). Items are read; of events only those without an item: errors, an interruption, a compaction. From
the event of a command comes whether it failed.

Source: sessions that Codex 0.169 wrote against a local server, and the types of its repository (`protocol.rs`).
"""

import re
from collections.abc import Sequence
from typing import Any

from jury_cases.sessions.claude_lines import Line
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, is_blank, text_or_none
from jury_cases.transcripts.responses import read_responses
from jury_events.transcript import Event, Origin

_ADDED = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>")
"""How texts begin that Codex writes in the user's place; newer versions mark them (`provenance`)."""

_EVENTS: dict[str, tuple[str, Origin]] = {
    "error": ("error", "environment"),
    "stream_error": ("error", "environment"),
    "warning": ("warning", "environment"),
    "turn_aborted": ("interruption", "user"),
    "context_compacted": ("compaction", "environment"),
    "model_reroute": ("another model", "environment"),
    "deprecation_notice": ("warning", "environment"),
}
_OWN = frozenset({"internal_chat_message_metadata_passthrough", "metadata", "ghost_commit", "end_turn"})
"""Fields that Codex adds to items of the Responses API."""

_IMAGE = re.compile(r"<image( name=[^>]*)?>")
_NO_ITEMS = frozenset({"ghost_snapshot", "compaction", "compaction_summary", "context_compaction"})
_COMPACTED = "summary of the conversation so far"


def read_codex(lines: Sequence[Line], builder: TranscriptBuilder) -> str | None:
    """Read a session.

    Returns:
        The text of the error with which its last turn ended; None: it did not end so.

    Raises:
        CaseFileError: a line is invalid; the message begins with its place.
    """
    undone = _undone(lines)
    failed = {call_id for line in lines if (call_id := _failed_command(_payload(line))) is not None}
    failure: str | None = None
    for line in lines:
        if line.number in undone:
            if undone[line.number]:
                builder.not_shown("abandoned branch", "environment", _place(line))
            continue
        payload = _payload(line)
        match line.kind:
            case "session_meta":
                _instructions(line is lines[0], payload, builder, _place(line))
            case "response_item":
                failure = None if payload.get("role") == "assistant" else failure
                _item(payload, failed, builder, _place(line))
            case "compacted":
                builder.add(
                    Event, _place(line), origin="environment", name=_COMPACTED, text=as_text(payload.get("message"))
                )
            case "event_msg":
                failure = _event(payload, builder, _place(line)) or failure
            case _:
                pass  # turn_context, world_state, token_usage_record …: settings and accounts
    return failure


def _payload(line: Line) -> dict[str, Any]:
    found = line.data.get("payload")
    return found if isinstance(found, dict) else {}


def _place(line: Line) -> str:
    return f"line {line.number}"


def _instructions(first: bool, payload: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """The agent's instructions; a session that continues another repeats that one's first line."""
    given = payload.get("base_instructions")
    text = given.get("text") if isinstance(given, dict) else payload.get("instructions")
    if first and isinstance(text, str) and text.strip():
        builder.message("system", text, f"{place}.payload.base_instructions")


def _item(item: dict[str, Any], failed: set[str], builder: TranscriptBuilder, place: str) -> None:
    kind = item.get("type")
    if kind in _NO_ITEMS:
        return
    item = {name: value for name, value in item.items() if name not in _OWN}
    if kind == "message" and item.get("role") == "user" and (text := _added(item)) is not None:
        builder.add(Event, place, origin="environment", name="added by Codex", text=text)
        return
    if kind == "message" and isinstance(item.get("content"), list):
        item = {**item, "content": [one for one in item["content"] if not _is_image_mark(one)]}
    if kind in {"function_call_output", "custom_tool_call_output"}:
        output = item.get("output")
        if isinstance(output, dict) and isinstance(output.get("content"), str) and "success" in output:
            item = {**item, "output": output["content"], "status": "completed" if output["success"] else "failed"}
        if text_or_none(item.get("call_id")) in failed:
            item = {**item, "status": "failed"}
    read_responses([item], builder, f"{place}.payload")


def _added(item: dict[str, Any]) -> str | None:
    """The text of a message that Codex wrote in the user's place; None: the user wrote it."""
    content = item.get("content")
    blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    texts = [one["text"] for one in blocks if isinstance(one.get("text"), str)]
    if not texts or len(texts) < len(blocks):
        return None
    return "\n".join(texts) if all(one.lstrip().startswith(_ADDED) for one in texts) else None


def _is_image_mark(block: Any) -> bool:
    """Whether a block only marks where a picture of the user begins or ends."""
    text = block["text"] if isinstance(block, dict) and block.keys() == {"type", "text"} else None
    return isinstance(text, str) and (text == "</image>" or _IMAGE.fullmatch(text) is not None)


def _failed_command(payload: dict[str, Any]) -> str | None:
    """The id of the call whose command failed, as its event says."""
    item = payload.get("item")
    ended_item = item if payload.get("type") == "item_completed" and isinstance(item, dict) else payload
    call_id = text_or_none(ended_item.get("call_id")) or text_or_none(ended_item.get("id"))
    ended = payload.get("type") in {"exec_command_end", "item_completed"}
    return call_id if ended and ended_item.get("exit_code") not in {None, 0} else None


def _event(payload: dict[str, Any], builder: TranscriptBuilder, place: str) -> str | None:
    """Add an event without an item; returns the text of an error."""
    kind = payload.get("type")
    if kind == "task_complete" and isinstance(payload.get("error"), dict):
        failure = as_text(payload["error"].get("message") or payload["error"])
        builder.add(Event, f"{place}.payload.error", origin="environment", name="error", text=failure)
        return failure
    if not isinstance(kind, str) or kind not in _EVENTS:
        return None
    name, origin = _EVENTS[kind]
    text = payload.get("message") or payload.get("reason")
    if kind == "context_compacted" and is_blank(text):
        return None  # the line `compacted` has it
    builder.add(Event, f"{place}.payload", origin=origin, name=name, text=as_text(text))
    return as_text(text) if kind == "error" else None


def _undone(lines: Sequence[Line]) -> dict[int, bool]:
    """The lines of turns that the user took back, each with whether it is the first of its branch."""
    undone: dict[int, bool] = {}
    turns: list[int] = []
    for index, line in enumerate(lines):
        payload = _payload(line)
        if line.kind == "response_item" and payload.get("role") == "user" and _added(payload) is None:
            turns.append(index)
        elif payload.get("type") == "thread_rolled_back":
            count = payload.get("num_turns")
            if not isinstance(count, int) or isinstance(count, bool) or count < 1 or not turns:
                continue
            first = turns[max(0, len(turns) - count)]
            del turns[max(0, len(turns) - count) :]
            branch = [one for one in lines[first:index] if one.kind in {"response_item", "compacted", "event_msg"}]
            for one in branch:
                undone.setdefault(one.number, one is branch[0])
    return undone
