"""OpenAI's agents SDK: rows of sessions in a database, and the saved state of a run.

Source: `SQLiteSession` and `RunState.to_json` of the package `openai-agents`. Both keep items of Responses.
"""

from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.gathering import RowsByKey
from jury_cases.transcripts.authors import MessageAuthor
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_objects, as_text, decoded_json, is_blank, json_kind, text_or_none
from jury_cases.transcripts.responses import read_item, read_responses
from jury_events.transcript import Event

_GUARDS = tuple(f"{name}_guardrail_results" for name in ("input", "output", "tool_input", "tool_output"))


class SessionItems(dict[str, Any]):
    """The rows of one session."""


def _read_session(data: Any) -> CaseDraft:
    """The items of a session's rows, in the order of the rows' numbers."""
    rows = data["rows"] if isinstance(data, SessionItems) else [data]
    for row in rows:
        _checked(row)
    session_id = as_text(rows[0].get("session_id")) or None
    numbers = [_number(row.get("id")) for row in rows]
    if None not in numbers:
        rows = [row for _, row in sorted(zip(numbers, rows, strict=True), key=lambda pair: pair[0] or 0)]
    items = []
    for index, row in enumerate(rows):
        item = decoded_json(row.get("message_data"))
        if not isinstance(item, dict):
            raise CaseFileError(f"message_data.{index}: must be an item as JSON, not {json_kind(item)}")
        items.append(item)
    builder = TranscriptBuilder()
    read_responses(items, builder, "message_data")
    metadata = {} if session_id is None else {"session_id": session_id}
    return CaseDraft(case_id=session_id, built=builder, metadata=metadata)


def _checked(row: Any) -> None:
    if not isinstance(row, dict):
        raise CaseFileError(f"a row must be an object, not {json_kind(row)}")


def _number(value: Any) -> int | None:
    digits = as_text(value)
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < _DIGITS else None


_DIGITS = 20


def _session_id(row: Any) -> str:
    return as_text(row.get("session_id")) if isinstance(row, dict) else ""


def _read_state(row: Any) -> CaseDraft:
    """What the run was given, and what its agents did."""
    _checked(row)
    builder = TranscriptBuilder()
    if row.get("original_input") is not None:
        read_responses(row["original_input"], builder, "original_input")
    name = "session_items" if row.get("session_items") else "generated_items"
    items = as_objects(row.get(name), name, "items")
    for index, item in builder.messages.of_list(enumerate(items), len(items)):
        _run_item(item, builder, f"{name}.{index}")
    for guard in _GUARDS:
        if not is_blank(row.get(guard)):
            builder.add(Event, guard, origin="environment", name=guard.replace("_", " "), text=as_text(row[guard]))
    conversation = text_or_none(row.get("conversation_id"))
    return CaseDraft(built=builder, metadata={} if conversation is None else {"conversation": conversation})


def _run_item(item: dict[str, Any], builder: TranscriptBuilder, place: str) -> None:
    """An item of a run, by its agent. What waits for approval repeats a call, of which only the tool is named."""
    raw, agent = item.get("raw_item"), _agent(item, "agent", builder, place)
    if not isinstance(raw, dict):
        raise CaseFileError(f"{place}.raw_item: must be an item, not {json_kind(raw)}")
    waits = item.get("type") == "tool_approval_item"
    if not waits or text_or_none(raw.get("call_id")) not in builder.called:
        if raw.get("role") == "assistant" and agent is not None:
            raw = {**raw, "name": agent}
        with builder.by(MessageAuthor("assistant", agent)):
            read_item(raw, builder, f"{place}.raw_item")
    if waits:
        tool = as_text(item.get("tool_name")) or as_text(raw.get("name"))
        builder.add(Event, place, origin="environment", name="approval asked", text=tool)
    if item.get("type") == "handoff_output_item":
        giver, taker = (_agent(item, name, builder, place) for name in ("source_agent", "target_agent"))
        builder.handover(giver, taker, place)
    builder.unread(item, _OF_ITEMS, "model", place)


def _agent(item: dict[str, Any], name: str, builder: TranscriptBuilder, place: str) -> str | None:
    agent = item.get(name)
    if not isinstance(agent, dict):
        return text_or_none(agent)
    builder.unread(agent, {"name", "identity"}, "environment", f"{place}.{name}")
    return text_or_none(agent.get("name"))


_OF_ITEMS = frozenset(
    {"type", "raw_item", "agent", "source_agent", "target_agent", "tool_name", "tool_namespace", "tool_lookup_key"}
    | {"tool_origin", "title", "description", "output"}
)
"""Fields of a run's items; `output` repeats the raw item's."""

OPENAI_AGENTS_SESSION = Format(
    "openai-agents-session",
    lambda row: (
        isinstance(row, SessionItems) or (isinstance(row, dict) and {"session_id", "message_data"} <= row.keys())
    ),
    _read_session,
    gather=lambda: RowsByKey(_session_id, "session", lambda _session, rows: SessionItems(rows=rows)),
    marks=frozenset({"message_data"}),
    recognised_by="`message_data` beside `session_id`",
    shows="one case per session: the items in the rows of the agents SDK's table `agent_messages`",
)
OPENAI_AGENTS_STATE = Format(
    "openai-agents-state",
    lambda row: (
        isinstance(row, dict) and "$schemaVersion" in row and {"original_input", "generated_items"} <= row.keys()
    ),
    _read_state,
    marks=frozenset({"$schemaVersion"}),
    recognised_by="`$schemaVersion`, `original_input`, `generated_items`",
    shows="a run of the agents SDK: input, items of agents with names, handovers, what waits for approval",
)
