"""Jury Judge's row format: columns such as question, response or messages by their default names."""

from typing import Any

from jury_cases.columns import automatic, present
from jury_cases.draft import CaseDraft
from jury_cases.errors import CaseFileError
from jury_cases.formats.format import Format
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import json_kind
from jury_cases.transcripts.reading import is_message, read_messages
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import visible_line

_OF_AN_EXECUTION = frozenset({"response", "messages", "error"})
_PLAIN = (
    *("case_id", "policy", "expected_behavior", "response", "scenario_id", "scenarios", "security_gate_records"),
    *("agent_card_records", "security_gate_uri", "agent_card_uri", "label", "cluster"),
)
STRUCTURED = frozenset(
    {"messages", "execution", "scenarios", "security_gate_records", "agent_card_records", "metadata"}
)
"""Parts that are objects or lists; in a table's cell they are JSON text."""


def read_own_row(row: Any) -> CaseDraft:
    """A draft of the row's default columns."""
    if not isinstance(row, dict):
        raise CaseFileError(f"a case must be an object, not {json_kind(row)}")
    execution = _execution(decoded_cell(automatic(row, "execution"), "execution"))
    messages, error = automatic(row, "messages"), execution.get("error")
    if messages is None:
        messages = execution.get("messages")
    draft = CaseDraft(**{part: decoded_cell(automatic(row, part), part) for part in _PLAIN}, error=error)
    draft.question = automatic(row, "question")
    if draft.response is None:
        draft.response = execution.get("response")
    draft.answered = present(row, "response") or "response" in execution
    draft.built = None if messages is None else built_of(messages)
    for part in ("question", "response") if messages is None else ():
        if are_messages(listed := getattr(draft, part)):  # of which one alone may be a text in blocks
            draft.built = draft.built or TranscriptBuilder()
            read_messages(listed, draft.built, part)
            setattr(draft, part, None)
    draft.metadata = metadata_cell(automatic(row, "metadata"))
    draft.tags, draft.agent_cost = decoded_cell(automatic(row, "tags"), "tags"), automatic(row, "cost")
    draft.decisive_message, draft.decisive_agent = (automatic(row, f"decisive_{of}") for of in ("message", "agent"))
    return draft


def are_messages(value: Any) -> bool:
    """Whether a value is two messages or more."""
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(one, dict) for one in value)
        and is_message(value[0])
    )


def decoded_cell(value: Any, part: str) -> Any:
    """The value of a cell; JSON text is decoded if the part is an object or a list, or tags in brackets."""
    if not isinstance(value, str):
        return value
    if part in STRUCTURED and value.strip() in {"", "null"}:
        return None
    if part in STRUCTURED | {"tags"} and value.lstrip().startswith(("[", "{")):
        try:
            return decode_text(value)
        except JsonRefused as error:
            raise CaseFileError(f"{part}: the text is not JSON ({error})") from error
    return value


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
        written = {"response": written}
    if written is not None and not isinstance(written, dict):
        raise CaseFileError(
            f"execution: must be text or an object with response and messages, not {json_kind(written)}"
        )
    inner: dict[str, Any] = written or {}
    unknown = sorted(set(inner) - _OF_AN_EXECUTION)
    if unknown:
        raise CaseFileError(
            f"execution.{visible_line(unknown[0])}: unknown; it may contain response, messages and error"
        )
    return inner


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
