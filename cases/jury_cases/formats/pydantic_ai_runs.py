"""Runs of pydantic-ai: a list of messages, or a row with such a list as JSON (`all_messages_json`)."""

from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.formats.own_rows import own_case_id, read_own_row
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import as_text, decoded_json, text_or_none
from jury_cases.transcripts.pydantic_ai import is_pydantic_ai, read_pydantic_ai

_COLUMNS = ("all_messages_json", "message_history", "new_messages_json")
_IDS = {"run_id": "run_id", "conversation_id": "conversation"}


def _column(row: dict[str, Any]) -> tuple[str, Any]:
    """The column of messages, decoded; ("", None) if there is none."""
    for name in _COLUMNS:
        messages = decoded_json(row.get(name))
        if isinstance(messages, list) and any(map(is_pydantic_ai, messages)):
            return name, messages
    return "", None


def _recognises(row: Any) -> bool:
    return any(map(is_pydantic_ai, row)) if isinstance(row, list) else isinstance(row, dict) and bool(_column(row)[0])


def _read(row: Any) -> CaseDraft:
    builder = TranscriptBuilder()
    if isinstance(row, list):
        name, messages, draft = "messages", row, CaseDraft()
    else:
        name, messages = _column(row)
        if not name:
            raise CaseFileError(f"{_COLUMNS[0]}: missing; it must be the JSON of a run's messages")
        draft = read_own_row({column: value for column, value in row.items() if column not in _COLUMNS})
    read_pydantic_ai(messages, builder, name)
    draft.built = builder
    ids = {key: as_text(one[field]) for one in messages for field, key in _IDS.items() if _has(one, field)}
    draft.metadata = {**ids, **draft.metadata}
    return draft


def _has(message: Any, field: str) -> bool:
    return isinstance(message, dict) and text_or_none(message.get(field)) is not None


PYDANTIC_AI = Format(
    "pydantic-ai",
    _recognises,
    _read,
    case_id=own_case_id,
    marks=frozenset(_COLUMNS),
    columns=frozenset(_COLUMNS),
    recognised_by="a list of messages of `kind` and `parts`, or such a list in `all_messages_json`",
    shows="instructions, prompts with files, thoughts, calls (the provider's too), results, retries; ids as metadata",
)
