"""A row as its format reads it, before the user's own choice of columns is put over it."""

from dataclasses import dataclass, field
from typing import Any

from jury_judge.cases.transcripts.builder import TranscriptBuilder


@dataclass(kw_only=True)
class CaseDraft:
    """What a format found in a row; None where the row says nothing.

    Attributes:
        case_id: text or a whole number.
        question: the prompt, or an object with `prompt`, `policy`, `expected_behavior`.
        policy, expected_behavior, response, error: texts.
        answered: whether the row has a place for the response, be it empty.
        built: the transcript and its pictures, None where the row has none.
        scenarios: rows of scenarios.
        label: as written.
        metadata, tags, cluster, agent_cost: as written.
        read: the columns that were read, for telling which were not.
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
    read: frozenset[str] = frozenset()
