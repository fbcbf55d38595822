"""The debates of a list as lines for a terminal, and debates and runs as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jury_events.text.timestamps import moment
from jury_events.text.visible_text import visible_line
from jury_views.review_objects import assignment_object, review_objects

if TYPE_CHECKING:
    from jury_judge import DebateRow, RunRow
    from jury_judge.records.listing import ListedDebate


def debate_lines(listed: "ListedDebate") -> Iterator[str]:
    """One debate; in a search the excerpt below."""
    row, said = listed
    verdict = row.final_verdict if row.status == "completed" else row.status
    score = "" if row.final_score is None else row.final_score
    case = visible_line(row.case_id, 60)
    line = f"{moment(row.opened_at)}  {verdict:<12} {score:>3}  {row.debate_id}  {case}"
    yield "  ".join((line, *_marks(row)))
    if said is not None:
        yield f"    {visible_line(said.text, 300)}"


def debate_object(listed: "ListedDebate") -> dict[str, Any]:
    """The columns of a debate, and what follows from them."""
    row, said = listed
    return {
        **_plain(asdict(row)),
        "disposition": row.disposition,
        "reviews": review_objects(row.review_facts),
        "assignments": [assignment_object(one) for one in row.assignments],
        **({"excerpt": said._asdict()} if said else {}),
    }


def run_object(row: "RunRow") -> dict[str, Any]:
    """The columns of a run."""
    columns = _plain(asdict(row))
    del columns["calls_at_most"], columns["cost_at_most"]
    return columns


def _marks(row: "DebateRow") -> Iterator[str]:
    """Remarks beside the result of a debate."""
    if row.imported == "unsealed":
        yield "[imported, unsealed]"
    elif row.imported is not None:
        checked = "" if row.imported == "verified" else ", not checked"
        yield f"[imported, sealed by {visible_line(row.imported_from or '?', 80)}{checked}]"
    if row.review_facts.standing:
        people = ", ".join(f"{one.reviewer}: {one.verdict}" for one in row.review_facts.standing)
        yield f"[{visible_line(people, 200)}]"
    if row.quarantined is not None:
        yield f"[in quarantine: {visible_line(row.quarantined, 80)}]"
    if row.problem is not None:
        aside = f"jury db quarantine {row.debate_id} --by WHO --reason WHY sets it aside"
        yield f"[{visible_line(row.problem, 200)}; {aside}]"


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Times as ISO 8601; digests as hexadecimal."""
    plain: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("_at") and isinstance(value, int):
            plain[name] = moment(value)
        else:
            plain[name] = value.hex() if isinstance(value, bytes) else value
    return plain
