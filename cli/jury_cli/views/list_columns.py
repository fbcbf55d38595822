"""The columns of a list of debates: their names, those of JSON and of exported tables, and their values."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jury_events.errors import SettingError
from jury_events.text import moment, visible_line
from jury_views.record_reading import parts_by_seat

if TYPE_CHECKING:
    from jury_judge import DebateRow


def _time(value: int | None) -> str | None:
    return None if value is None else moment(value)


def _quorum(row: "DebateRow") -> str | None:
    return None if row.quorum_met is None else "true" if row.quorum_met else "false"


def _accepted(row: "DebateRow") -> str | None:
    return None if row.accepted is None else "true" if row.accepted else "false"


COLUMNS: "Mapping[str, Callable[[DebateRow], Any]]" = {
    "debate_id": lambda row: row.debate_id,
    "case_id": lambda row: row.case_id,
    "run_id": lambda row: row.run_id,
    "status": lambda row: row.status,
    "final_verdict": lambda row: row.final_verdict if row.status == "completed" else None,
    "final_label": lambda row: row.final_label if row.status == "completed" else None,
    "final_score": lambda row: row.final_score if row.status == "completed" else None,
    "disposition": lambda row: row.disposition,
    "reviewers": lambda row: ", ".join(one.reviewer for one in row.review_facts.standing),
    "accepted": _accepted,
    "label": lambda row: row.label,
    "quorum_met": _quorum,
    "sides": lambda row: row.sides,
    "agreement": lambda row: None if row.agreement is None else round(row.agreement, 4),
    "partly_read": lambda row: parts_by_seat(row.partly_read),
    "rounds": lambda row: row.rounds if row.total_rounds is None else row.total_rounds,
    "method": lambda row: row.method,
    "models": lambda row: ", ".join(row.models),
    "tags": lambda row: ", ".join(row.tags),
    "cluster": lambda row: row.cluster,
    "calls": lambda row: row.calls,
    "input_tokens": lambda row: row.input_tokens,
    "output_tokens": lambda row: row.output_tokens,
    "cost": lambda row: None if row.cost is None else round(row.cost, 6),
    "agent_cost": lambda row: row.agent_cost,
    "not_shown": lambda row: row.not_shown,
    "opened_at": lambda row: _time(row.opened_at),
    "begun_at": lambda row: _time(row.begun_at),
    "updated_at": lambda row: _time(row.updated_at),
    "ended_at": lambda row: _time(row.ended_at),
}
"""By name the value in a line; None where there is none."""


def column_line(row: "DebateRow", names: Sequence[str]) -> str:
    """The values of these columns, parted by tabs; a tab or a line's end in a value is shown as what it is."""
    values = (COLUMNS[name](row) for name in names)
    return "\t".join("" if value is None else visible_line(str(value), 1000) for value in values)


def parse_columns(text: str) -> tuple[str, ...]:
    """The columns that `text` names, parted by commas, each once."""
    from jury_judge.settings.debates import COLUMN_NAMES

    written = (one.strip() for one in text.split(",") if one.strip())
    names = tuple(dict.fromkeys(COLUMN_NAMES.get(one, one) for one in written))
    unknown = next((one for one in names if one not in COLUMNS), None)
    if unknown is not None or not names:
        what = "names no column" if unknown is None else f"there is no column {visible_line(repr(unknown), 60)}"
        raise SettingError(f"--columns: {what}; columns are {', '.join(COLUMNS)}")
    return names
