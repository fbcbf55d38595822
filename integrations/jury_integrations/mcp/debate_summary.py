"""A debate of a list, as a client gets it."""

from collections.abc import Mapping
from typing import Any

from jury_events.outcome import FinalOutcome
from jury_events.text import moment
from jury_judge import DebateRow
from jury_views.reasons import NO_REASON


def debate_summary(row: DebateRow) -> dict[str, Any]:
    """What it came to, without its texts."""
    return {
        "debate_id": row.debate_id,
        "run_id": row.run_id,
        "case_id": row.case_id,
        "status": row.status,
        **outcome_of(row),
        "disposition": row.disposition,
        "rounds": row.rounds,
        "calls": row.calls,
        "cost": row.cost,
        "simulated": row.simulated,
        "tags": list(row.tags),
        "opened_at": moment(row.opened_at),
        "begun_at": None if row.begun_at is None else moment(row.begun_at),
    }


def outcome_of(row: DebateRow) -> dict[str, Any]:
    """The verdict, its label and the score; nulls without a verdict."""
    return dict.fromkeys(FinalOutcome._fields) if row.outcome is None else row.outcome._asdict()


def reasons_of_line(line: Mapping[str, Any] | None) -> dict[str, Any]:
    """Why the verdict of a result line came; nulls where there is no line."""
    return dict(NO_REASON) if line is None else {name: line[name] for name in NO_REASON}
