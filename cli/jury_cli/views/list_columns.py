"""The columns of a list of debates: their names, the same for the command, the page and sorting, and their values."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jury_events.errors import SettingError
from jury_events.text.timestamps import moment
from jury_events.text.visible_text import visible_line

if TYPE_CHECKING:
    from jury_judge import DebateRow


def _time(value: int | None) -> str | None:
    return None if value is None else moment(value)


def _quorum(row: "DebateRow") -> str | None:
    return None if row.quorum_met is None else "met" if row.quorum_met else "lost"


def _accepted(row: "DebateRow") -> str | None:
    return None if row.accepted is None else "yes" if row.accepted else "no"


COLUMNS: "Mapping[str, Callable[[DebateRow], Any]]" = {
    "debate": lambda row: row.debate_id,
    "case": lambda row: row.case_id,
    "run": lambda row: row.run_id,
    "status": lambda row: row.status,
    "verdict": lambda row: row.final_verdict if row.status == "completed" else None,
    "score": lambda row: row.final_score if row.status == "completed" else None,
    "disposition": lambda row: row.disposition,
    "reviewers": lambda row: ", ".join(one.reviewer for one in row.review_facts.standing),
    "accepted": _accepted,
    "label": lambda row: row.label,
    "quorum": _quorum,
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
    "opened": lambda row: _time(row.opened_at),
    "updated": lambda row: _time(row.updated_at),
    "ended": lambda row: _time(row.ended_at),
}
"""By name the value in a line; None where there is none."""


def column_line(row: "DebateRow", names: Sequence[str]) -> str:
    """The values of these columns, parted by tabs; a tab or a line's end in a value is shown as what it is."""
    values = (COLUMNS[name](row) for name in names)
    return "\t".join("" if value is None else visible_line(str(value), 1000) for value in values)


def parse_columns(text: str) -> tuple[str, ...]:
    """The columns that `text` names, parted by commas, each once.

    Raises:
        SettingError: it names none, or one that there is not.
    """
    names = tuple(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))
    unknown = next((one for one in names if one not in COLUMNS), None)
    if unknown is not None or not names:
        what = "names no column" if unknown is None else f"there is no column {visible_line(repr(unknown), 60)}"
        raise SettingError(f"--columns: {what}; columns are {', '.join(COLUMNS)}")
    return names
