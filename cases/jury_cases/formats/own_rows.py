"""Jury Judge's row format: columns such as question, response or messages by their default names."""

from typing import Any

from jury_cases.columns import AUTOMATIC, automatic, filled_columns
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import decoded_json, json_kind, python_value
from jury_cases.transcripts.reading import is_message, read_messages
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import visible_line

_OF_AN_EXECUTION = frozenset({"response", "messages", "error"})
STRUCTURED = frozenset(
    {"messages", "execution", "scenarios", "security_gate_records", "agent_card_records", "metadata"}
)
"""Parts that are objects or lists; in a table's cell they are JSON text."""


def read_own_row(row: Any) -> CaseDraft:
    """A draft of the row's default columns."""
    if not isinstance(row, dict):
        raise CaseFileError(f"a case must be an object, not {json_kind(row)}")
    found: dict[str, Any] = {}
    for part in AUTOMATIC:
        if columns := filled_columns(row, part):
            found[part] = decoded_cell(row[columns[0]], part)
    messages, execution = found.pop("messages", None), found.pop("execution", None)
    draft = CaseDraft(agent_cost=found.pop("cost", None), **{"metadata": {}, **found})
    draft.answered = "response" in row
    if "metadata" in found:
        draft.metadata = metadata_cell(found["metadata"])
    if execution is not None:
        execution = _execution(execution)
        messages = execution.get("messages") if messages is None else messages
        draft.response = execution.get("response") if draft.response is None else draft.response
        draft.answered = draft.answered or "response" in execution
        draft.error = execution.get("error")
    if messages is not None:
        draft.built = built_of(messages)
        return draft
    for part in ("question", "response"):
        listed = getattr(draft, part)
        if isinstance(listed, list) and are_messages(listed):  # of which one alone may be a text in blocks
            draft.built = draft.built or TranscriptBuilder()
            read_messages(listed, draft.built, part)
            setattr(draft, part, None)
    return draft


def are_messages(value: list[Any]) -> bool:
    """Whether a list is two messages or more."""
    return len(value) > 1 and all(isinstance(one, dict) for one in value) and is_message(value[0])


def decoded_cell(value: Any, part: str) -> Any:
    """The value of a cell; JSON text is decoded if the part is an object or a list, or tags in brackets."""
    if not isinstance(value, str) or not (part in STRUCTURED or part == "tags"):
        return value
    if part in STRUCTURED and value.strip() in {"", "null"}:
        return None
    if value.lstrip().startswith(("[", "{")):
        try:
            return decode_text(value)
        except JsonRefused as error:
            if (printed := python_value(value)) is not value:
                return printed
            raise CaseFileError(f"{part}: the text is not JSON ({error})") from error
    inner = decoded_json(value, texts=True) if part in STRUCTURED and value.lstrip().startswith('"') else value
    return decoded_cell(inner, part) if inner is not value else value  # JSON in JSON


def built_of(messages: Any) -> TranscriptBuilder:
    """The transcript of a column of messages, decoded or as JSON text; raises CaseFileError."""
    builder = TranscriptBuilder()
    read_messages(decoded_cell(messages, "messages"), builder)
    return builder


def metadata_cell(value: Any) -> dict[str, Any]:
    """The column `metadata`, an object or its JSON; raises CaseFileError."""
    found = decoded_cell(value, "metadata")
    if found is not None and not isinstance(found, dict):
        raise CaseFileError(
            f"metadata: must be an object of values, not {json_kind(found)}; --field metadata= leaves it out"
        )
    return found or {}


def _execution(written: Any) -> dict[str, Any]:
    if isinstance(written, str):
        return {"response": written}
    if not isinstance(written, dict):
        raise CaseFileError(
            f"execution: must be text or an object with response and messages, not {json_kind(written)}"
        )
    unknown = sorted(written.keys() - _OF_AN_EXECUTION)
    if unknown:
        raise CaseFileError(
            f"execution.{visible_line(unknown[0])}: unknown; it may contain response, messages and error"
        )
    return written


def own_case_id(row: Any) -> Any:
    """The id of a row's case in its default column."""
    return automatic(row, "case_id") if isinstance(row, dict) else None


OWN_ROWS = Format(
    "rows",
    lambda row: isinstance(row, dict),
    read_own_row,
    columns=frozenset(),
    case_id=own_case_id,
    recognised_by="anything else",
    shows="the columns above",
)
