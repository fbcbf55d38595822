"""Debates of a store as lines, columns, groups and totals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jury_cli.views.result_line import AlignedColumn, AlignedLines, display_width, end_cut, middle_cut, why_line
from jury_cli.views.runs import run_progress, run_state_text, verdict_cells
from jury_events.errors import SettingError
from jury_events.text import moment, pluralize, visible_line
from jury_events.verdict import Verdict
from jury_views.evaluation_models import assignment_object, parts_by_seat, review_objects
from jury_views.reasons import NO_REASON
from jury_views.run_quotations import evidence_object

if TYPE_CHECKING:
    from jury_judge import DebateRow, RunRow, Totals
    from jury_judge.comparisons.run_comparison import Group
    from jury_judge.records.reading import ListedDebate
    from jury_judge.runs.live_run import ListedRun
    from jury_views.page import Page


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
    from jury_judge.runs.usage import RunUsage

    row, totals = one.row, one.totals
    spent = RunUsage() if totals is None else RunUsage.of_run(row, totals)
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
    plain: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("_at") and isinstance(value, int):
            plain[name] = moment(value)
        else:
            plain[name] = value.hex() if isinstance(value, bytes) else value
    return plain


NO_VALUE = "(none)"
"""The group of the debates whose cases have no value of the field."""

_VALUE = 60
"""Characters of a value at most."""


def groups_page(by: str, groups: "Sequence[Group]") -> "Page":
    """A table: a line a group. Debates without an evaluation, agreement with people, and labels of verdicts are columns
    where there are any.
    """
    from jury_views.page import Page

    page = Page()
    labelled = any(group.labelled for group in groups)
    head = (visible_line(by, _VALUE), "debates", "completed", *(verdict.value for verdict in Verdict), "mean score")
    rows = [_cells(group) for group in groups]
    if any(group.without_evaluation for group in groups):
        head = (*head, "without an evaluation")
        rows = [(*row, f"{group.without_evaluation:,}") for row, group in zip(rows, groups, strict=True)]
    if labelled:
        head = (*head, "as labelled")
        rows = [(*row, _agreement(group)) for row, group in zip(rows, groups, strict=True)]
    numbers = range(1, len(head))
    if any(group.labels for group in groups):
        head = (*head, "by label")
        rows = [(*row, group.label_counts or "–") for row, group in zip(rows, groups, strict=True)]
    page.table([head, *rows], right=numbers)
    return page


def groups_object(by: str, groups: "Sequence[Group]") -> dict[str, Any]:
    """The same for JSON: `value` null for the debates without one, shares 0-1 and null where none is completed."""
    return {"group_by": by, "groups": [_object(group) for group in groups]}


def _cells(group: "Group") -> tuple[str, ...]:
    return (
        NO_VALUE if group.value is None else visible_line(group.value, _VALUE),
        f"{group.debates:,}",
        f"{group.completed:,}",
        *("–" if (share := group.share(verdict)) is None else f"{share:.1%}" for verdict in Verdict),
        "–" if group.mean_score is None else f"{group.mean_score:.1f}",
    )


def _agreement(group: "Group") -> str:
    return f"{group.as_labelled:,} of {group.labelled:,}" if group.labelled else "–"


def _object(group: "Group") -> dict[str, Any]:
    return {
        "value": group.value,
        "debates": group.debates,
        "completed": group.completed,
        "verdicts": {verdict.value: group.verdicts[verdict] for verdict in Verdict},
        "shares": {verdict.value: group.share(verdict) for verdict in Verdict},
        "mean_score": group.mean_score,
        "without_evaluation": group.without_evaluation,
        "labelled": group.labelled,
        "as_labelled": group.as_labelled,
        "labels": dict(sorted(group.labels.items())),
    }


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


def totals_lines(found: "Totals") -> Iterator[str]:
    """For a terminal."""
    from jury_judge.runs.usage import caches_said

    ended = f"{found.completed:,} completed, {found.failed:,} failed, {found.cancelled:,} cancelled"
    yield f"{pluralize(found.debates, 'debate')}: {ended}"
    yield ", ".join(f"{getattr(found, verdict.value):,} {verdict.value}" for verdict in Verdict)
    if found.labels:
        yield f"by label: {', '.join(f'{count:,} × {label}' for label, count in found.labels.items())}"
    if found.mean_score is not None:
        yield f"mean score {found.mean_score:.1f}"
    if found.without_evaluation:
        yield f"{found.without_evaluation:,} without an evaluation"
    unknown = f" + unknown in {pluralize(found.unknown_cost, 'debate')}" if found.unknown_cost else ""
    caches = caches_said(found.cached_input_tokens, found.cache_write_tokens, found.input_tokens)
    tokens = f"{found.input_tokens:,} tokens in{caches}, {found.output_tokens:,} out"
    yield f"{pluralize(found.calls, 'call')}, {tokens}, ${found.cost:.4f}{unknown}"
