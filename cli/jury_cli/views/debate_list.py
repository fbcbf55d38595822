"""The debates of a list as lines for a terminal, and debates and runs as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jury_cli.views.aligned import AlignedColumn, AlignedLines, display_width
from jury_cli.views.result_line import end_cut, middle_cut, why_line
from jury_cli.views.run_progress import run_progress, run_state_text, verdict_cells
from jury_events.text import moment, visible_line
from jury_events.verdict import Verdict
from jury_views.reasons import NO_REASON
from jury_views.record_reading import parts_by_seat
from jury_views.review_objects import assignment_object, review_objects
from jury_views.run_quotations import evidence_object

if TYPE_CHECKING:
    from jury_judge import DebateRow, RunRow
    from jury_judge.records.listing import ListedDebate
    from jury_judge.running.live_run import ListedRun


_BEGINS, _ENDS, _NEXT = AlignedColumn(), AlignedColumn(right=True), AlignedColumn(right=True, gap=" ")
_DEBATE = (_BEGINS, _BEGINS, _NEXT, _BEGINS, _BEGINS, _BEGINS, _BEGINS)
_IDS, _GAPS, _SHORTEST = 4, 11, 20
"""Of a line of a debate: the cells before its id, the columns between cells, and those that an id has at least."""
_PROGRESS = (_ENDS, _NEXT, *(_NEXT for _ in Verdict), AlignedColumn(gap=""))
_RUN = (_BEGINS, *_PROGRESS)
_EXECUTED_RUN = (_BEGINS, _BEGINS, _BEGINS, *_PROGRESS, _ENDS)


class DebateLines:
    """A line a debate, in a search with the excerpt below; some at a time.

    Args:
        columns: of the terminal, to which ids and texts are cut; None: they are not cut.
    """

    def __init__(self, columns: int | None = None) -> None:
        self._lines = AlignedLines(_DEBATE)
        self._columns = columns

    def of(self, listed: "Sequence[ListedDebate]") -> Iterator[str]:
        """The lines of the next debates."""
        lines = self._lines.lines([self._cells(one.row) for one in listed])
        for line, one in zip(lines, listed, strict=True):
            yield line
            if one.result is not None and (why := why_line(one.result)) is not None:
                yield f"    {self._cut(why)}"
            if one.excerpt is not None:
                yield f"    {self._cut(visible_line(one.excerpt.text, 300))}"

    def _cells(self, row: "DebateRow") -> tuple[str, ...]:
        cells = _debate_cells(row)
        if self._columns is None:
            return cells
        before, (debate_id, case, marks) = cells[:_IDS], cells[_IDS:]
        case = "" if debate_id.endswith(f"~{case}") else case
        taken = sum(map(display_width, before)) + display_width(case) + _GAPS
        return *before, middle_cut(debate_id, max(_SHORTEST, self._columns - taken)), case, marks

    def _cut(self, text: str) -> str:
        return text if self._columns is None else end_cut(text, self._columns - 4)


def run_lines(rows: "Sequence[RunRow]") -> Iterator[str]:
    """A line a run: how far it is, and its verdicts."""
    return AlignedLines(_RUN).lines([(row.run_id, *_run_cells(row)) for row in rows])


def executed_run_lines(found: "Sequence[ListedRun]") -> Iterator[str]:
    """A line a run: when it began, who executes it, how far it is, its verdicts and its cost."""
    return AlignedLines(_EXECUTED_RUN).lines([_executed_run_cells(one) for one in found])


def _debate_cells(row: "DebateRow") -> tuple[str, ...]:
    outcome = row.outcome
    verdict = row.status if outcome is None else outcome.word
    score = "" if outcome is None else "–" if outcome.score is None else str(outcome.score)
    case = visible_line(row.case_id, 60)
    return (
        moment(row.opened_at),
        f"{verdict:<12}",
        f"{score:>3}",
        row.sides or "",
        row.debate_id,
        case,
        "  ".join(_marks(row)),
    )


def _run_cells(row: "RunRow") -> tuple[str, ...]:
    over, of = run_progress(row).split(" ", 1)
    verdicts, others = verdict_cells(row)
    return over, f"{of}:", *verdicts, others


def _executed_run_cells(one: "ListedRun") -> tuple[str, ...]:
    from jury_judge.runs.spending import Spending

    row, totals = one.row, one.totals
    spent = Spending() if totals is None else Spending.of_run(row, totals)
    began, state = moment(row.first_at), run_state_text(one.state, one.holder)
    labels = {} if totals is None else totals.labels
    by_label = "".join(f", {count:,} × {label}" for label, count in labels.items())
    if one.batches is not None:
        state += f", wave {one.batches.wave} in batches"
    return began, row.run_id, state, *_run_cells(row), spent.cost_text + by_label.replace(", ", "; by label: ", 1)


def debate_object(listed: "ListedDebate") -> dict[str, Any]:
    """The columns of a debate, and what follows from them."""
    row, said, result = listed
    columns = _plain(asdict(row))
    del columns["cached_calls"], columns["evidence_values"], columns["waiting"]
    return {
        **columns,
        "evidence": evidence_object(row.evidence),
        "disposition": row.disposition,
        **({name: result[name] for name in NO_REASON} if result else {}),
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
    if row.stage is not None:
        yield f"[stage {row.stage} of {row.stages}{'' if row.aside is None else f', {row.aside}'}]"
    if (parts := parts_by_seat(row.partly_read)) is not None:
        yield f"[parts not read: {visible_line(parts, 200)}]"
    if row.review_facts.standing:
        people = ", ".join(f"{one.reviewer}: {one.word}" for one in row.review_facts.standing)
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
