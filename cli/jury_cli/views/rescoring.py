"""The results of a rescoring: a table a setting, then the verdicts that changed."""

from collections import Counter
from collections.abc import Iterator, Sequence

from jury_events.text import pluralize, visible_line
from jury_events.verdict import Verdict
from jury_judge import RescoreRow, RescoreStatus, RescoreTable

FLIPS_SHOWN = 20
"""Changed verdicts that are shown over all settings."""

_ASSUMES = {
    "recount": "recount: every recorded position is kept, which assumes an unchanged discussion",
    "strict": "strict: only answers to requests that were really made",
}
_OPEN = tuple(status for status in RescoreStatus if status is not RescoreStatus.DETERMINED)
_COLUMN = 13
_STEPS_SHOWN = 4
_REASONS_SHOWN = 2


def table_lines(mode: str, tables: Sequence[RescoreTable]) -> Iterator[str]:
    """One block a setting."""
    yield _ASSUMES[mode]
    for table in tables:
        yield ""
        yield visible_line(table.setting, 300)
        yield f"  {_counts(table)}"
        if table.answered:
            yield from _matrix(table)
        if table.undetermined_steps:
            yield f"  {_undetermined(table)}"
        yield from _most_common("by assumption", table.assumptions)
        yield from _most_common("not applicable", table.not_applicable_reasons)
        if table.labelled:
            yield f"  as labelled: {table.new_agrees:,} of {table.labelled:,}, were {table.old_agrees:,}"


def _counts(table: RescoreTable) -> str:
    said = [f"{table.determined:,} of {table.statuses.total():,} determined"]
    said += [
        f"{table.statuses[status]:,} {status.value.replace('_', ' ')}" for status in _OPEN if table.statuses[status]
    ]
    line = f"{', '.join(said)}; {table.flipped:,} flipped, {table.rescored:,} with another score"
    return f"{line}, {table.beyond_record:,} end with the record" if table.beyond_record else line


def _undetermined(table: RescoreTable) -> str:
    steps = table.undetermined_steps.most_common(_STEPS_SHOWN)
    said = ", ".join(f"{visible_line(step, 80)} ({count:,})" for step, count in steps)
    more = len(table.undetermined_steps) - len(steps)
    return f"undetermined at {said}" + (f" and {pluralize(more, 'more step')}" if more else "")


def _most_common(what: str, reasons: Counter[str]) -> Iterator[str]:
    for why, count in reasons.most_common(_REASONS_SHOWN):
        yield f"  {what} ({count:,}): {visible_line(why, 300)}"
    more = len(reasons) - _REASONS_SHOWN
    if more > 0:
        yield f"  {what} for {pluralize(more, 'more reason')}"


def _matrix(table: RescoreTable) -> Iterator[str]:
    width = max(map(len, Verdict)) + 6
    yield f"  {'old' + chr(92) + 'new':<{width}}" + "".join(f"{new.value:>{_COLUMN}}" for new in Verdict)
    for old in Verdict:
        cells = "".join(f"{table.verdicts[old, new] or '·':>{_COLUMN}}" for new in Verdict)
        yield f"  {old.value:<{width}}{cells}"


def flip_line(row: RescoreRow, *, named: bool) -> str:
    """One changed verdict; `named`: with its setting."""
    setting = f"  [{visible_line(row.setting, 120)}]" if named else ""
    before, now = row.old_label or row.old_verdict, row.new_label or row.new_verdict
    change = f"{before} {row.old_score} → {now} {row.new_score}"
    return f"{change:<36}  {row.debate_id}  {visible_line(row.case_id, 60)}{setting}  {row.reason}"
