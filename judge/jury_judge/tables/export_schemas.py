"""The columns of the exported tables (docs/reference/tables.md)."""

from typing import get_args, get_type_hints

import pyarrow as pa

from jury_analysis.ballots import DECISIVE_MESSAGE, OWN_WORDS, READING, REASONING, SCHEMA
from jury_analysis.ballots import LABELS as LABEL_SCHEMA
from jury_views.result_models import OUTCOME, DebateResult, FinalJudgment

_TIME = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(pa.string())


_OF_TYPES = {str: pa.string(), int: pa.int32(), bool: pa.bool_(), float: pa.float64(), list[str]: _TEXTS}


def _columns(model: type, *names: str) -> dict[str, pa.DataType]:
    """The columns of these fields of a result."""
    hints = get_type_hints(model)
    kinds = {name: {hints[name], *get_args(hints[name])} if hints[name] != list[str] else {list[str]} for name in names}
    return {name: next(_OF_TYPES[one] for one in found if one in _OF_TYPES) for name, found in kinds.items()}


def _schema(*required: tuple[str, pa.DataType], **optional: pa.DataType) -> pa.Schema:
    return pa.schema(
        [
            *(pa.field(name, kind, nullable=False) for name, kind in required),
            *(pa.field(name, kind) for name, kind in optional.items()),
        ]
    )


BALLOTS = pa.schema([*SCHEMA, *READING, *REASONING, *OWN_WORDS])
"""One row a vote, as `--ballots` reads them."""

DEBATES = _schema(
    ("debate_id", pa.string()),
    ("case_id", pa.string()),
    ("cluster", pa.string()),
    ("repeat", pa.int32()),
    ("status", pa.string()),
    ("simulated", pa.bool_()),
    ("rounds", pa.int32()),
    ("method", pa.string()),
    ("calls", pa.int32()),
    ("input_tokens", pa.int64()),
    ("output_tokens", pa.int64()),
    ("asked_again", pa.int32()),
    ("not_shown", pa.int32()),
    ("tags", _TEXTS),
    ("models", _TEXTS),
    ("metadata", pa.string()),
    ("opened_at", _TIME),
    ("updated_at", _TIME),
    begun_at=_TIME,
    ended_at=_TIME,
    **_columns(DebateResult, "run_id"),
    variant=pa.string(),
    **_columns(DebateResult, "panel", "label", *OUTCOME, "total_rounds"),
    **_columns(DebateResult, "early_termination", "end_reason"),
    **_columns(FinalJudgment, "decided_by", "quorum_met"),
    partly_read=pa.string(),
    sides=pa.string(),
    agreement=pa.float64(),
    accepted=pa.bool_(),
    human_verdict=pa.string(),
    **_columns(DebateResult, "disposition"),
    cost=pa.float64(),
    **_columns(DebateResult, "agent_cost", "reason", "reason_by"),
    decisive_item=pa.int32(),
    decisive_named_by=pa.int32(),
    imported=pa.string(),
    imported_from=pa.string(),
    quarantined=pa.string(),
    problem=pa.string(),
)
"""One row a debate, as `jury list` has it. `metadata` is JSON."""

EXCHANGES = _schema(
    ("debate_id", pa.string()),
    ("exchange_id", pa.string()),
    ("role", pa.string()),
    ("model_asked", pa.string()),
    ("turn", pa.int32()),
    ("attempt", pa.int32()),
    ("outcome", pa.string()),
    ("tools", pa.bool_()),
    ("tool_calls", pa.int32()),
    ("latency_ms", pa.float64()),
    ("waited_ms", pa.float64()),
    ("simulated", pa.bool_()),
    ("recorded_at", _TIME),
    round=pa.int32(),
    seat=pa.string(),
    model_answered=pa.string(),
    finish_reason=pa.string(),
    input_tokens=pa.int64(),
    output_tokens=pa.int64(),
    cached_input_tokens=pa.int64(),
    cache_write_tokens=pa.int64(),
    reasoning_tokens=pa.int64(),
    service_tier=pa.string(),
    region=pa.string(),
    speed=pa.string(),
    cost=pa.float64(),
    request_id=pa.string(),
)
"""One row a model call that was recorded."""

LABELS = pa.schema(
    [
        *LABEL_SCHEMA,
        pa.field("debate_id", pa.string()),
        pa.field("blind", pa.bool_()),
        pa.field("sampled", pa.bool_()),
        pa.field("minutes", pa.float64()),
        pa.field("reviewed_at", _TIME),
        pa.field("sample_label", pa.string()),
        pa.field("decisive_item", pa.int32()),
        pa.field("scale_label", pa.string()),
        DECISIVE_MESSAGE,
    ]
)
"""Human labels, as `--labels` reads them: first those of cases, then a row a case and reviewer."""

CASE_TEXTS = {"case": pa.string()}
EXCHANGE_TEXTS = {"request": pa.string(), "answer": pa.string(), "error": pa.string()}
"""Further columns with `--texts`; null where a text was erased, or there is none."""

ANNOTATOR = "case"
"""The annotator of labels that are part of cases. Debates of one case can have different labels (the case was labelled
anew between runs); the second label's annotator is `case 2`, so that `--labels` reads them as labels that differ."""
