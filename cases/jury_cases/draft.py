"""A row as read by its format, before the user's `--field` settings; its tags, costs and metadata, checked."""

import json
import math
from dataclasses import dataclass, field
from typing import Any

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.authors import SeenRoles
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.json_values import json_kind
from jury_events.case import DECISIVE_AGENT, DECISIVE_MESSAGE, MetadataValue
from jury_events.text import CONTROL, visible_line


@dataclass(kw_only=True)
class CaseDraft:
    """The values that a format found in a row; None if absent.

    Attributes:
        case_id: text or an integer.
        question: the prompt, or an object with `prompt`, `policy`, `expected_behavior`.
        policy, expected_behavior, response, error: texts.
        answered: whether the row has a field for the response, even if empty.
        built: the transcript and its pictures.
        scenarios: rows of scenarios.
        label: unparsed.
        metadata, tags, cluster, agent_cost: unparsed.
        decisive_message, decisive_agent: where it went wrong by the label, unparsed.
        taken: the plain columns that parts were read from, by part.
        kept: the columns that are no part of a case, and are kept as metadata.
        roles: those of the messages, where the user has rules for them.
    """

    case_id: Any = None
    question: Any = None
    policy: Any = None
    expected_behavior: Any = None
    response: Any = None
    answered: bool = False
    error: Any = None
    built: TranscriptBuilder | None = None
    scenario_id: Any = None
    scenarios: Any = None
    security_gate_records: Any = None
    agent_card_records: Any = None
    security_gate_uri: Any = None
    agent_card_uri: Any = None
    label: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    tags: Any = None
    cluster: Any = None
    agent_cost: Any = None
    decisive_message: Any = None
    decisive_agent: Any = None
    taken: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    roles: SeenRoles = field(default_factory=SeenRoles)


MAX_VALUES = 200
"""Metadata values of a case."""

_LONGEST = 300
_WHOLE = 2**53
_DIGITS = 9


def metadata_of(written: dict[str, Any]) -> dict[str, MetadataValue]:
    """The values by name; null and blank values are omitted, objects and lists become JSON text.

    Texts are cut to 300 characters with a final "…"; line breaks become spaces.
    """
    if len(written) > MAX_VALUES:
        raise CaseFileError(
            f"metadata: {len(written)} values; a case keeps at most {MAX_VALUES}, "
            "choose with --field metadata.NAME=COLUMN"
        )
    found = {as_label(str(name)): _value(value) for name, value in written.items()}
    return {name: value for name, value in found.items() if name and value is not None}


def tags_of(written: Any) -> tuple[str, ...]:
    """The distinct tags of a list, or of text with commas."""
    if written is None:
        return ()
    if isinstance(written, str):
        written = written.split(",")
    if not isinstance(written, list | tuple) or any(isinstance(one, dict | list) for one in written):
        raise CaseFileError(f"tags: must be a list of texts, or text with commas, not {json_kind(written)}")
    labels = (as_label(one if isinstance(one, str) else json.dumps(one)) for one in written if one is not None)
    return tuple(dict.fromkeys(label for label in labels if label))


def cost_of(written: Any) -> float | None:
    """US dollars, from a number or text; None for null and blank text."""
    if written is None or (isinstance(written, str) and not written.strip()):
        return None
    try:
        amount = math.nan if isinstance(written, bool) else float(written)
    except (TypeError, ValueError):
        amount = math.nan
    if not (math.isfinite(amount) and amount >= 0):
        raise CaseFileError("cost: must be an amount of US dollars from 0 up")
    return amount


def decisive_of(message: Any, agent: Any) -> dict[str, MetadataValue]:
    """The metadata of the message and the agent that a label names as decisive; null and blank values are omitted."""
    found: dict[str, MetadataValue] = {}
    if message is not None and not (isinstance(message, str) and not message.strip()):
        found[DECISIVE_MESSAGE] = _message_number(message)
    return found | metadata_of({DECISIVE_AGENT: agent})


def _message_number(written: Any) -> int:
    digits = written.strip() if isinstance(written, str) else str(written)
    if isinstance(written, int | str) and digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS:
        return int(digits)
    raise CaseFileError(
        f"{DECISIVE_MESSAGE}: must be the number of a message, from 0 up, not {json_kind(written)} "
        f"{visible_line(str(written), 60)!r}; --field {DECISIVE_MESSAGE}= leaves it out"
    )


def as_label(text: str) -> str:
    """A text as one line of at most 300 characters, without unprintable characters."""
    line = CONTROL.sub(" ", text).strip()
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def is_short(value: Any) -> bool:
    """Whether a value is kept whole as metadata: a number, true or false, or a text of one line of 300 characters."""
    if isinstance(value, str):
        return len(value) <= _LONGEST and "\n" not in value
    return isinstance(value, bool | int | float)


def _value(value: Any) -> MetadataValue | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _WHOLE else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return as_label(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)) or None
