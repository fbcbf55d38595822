"""Groups of debates, for a terminal and as JSON."""

from collections.abc import Sequence
from typing import Any

from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_judge.comparisons.run_comparison import Group
from jury_views.page import Page

NO_VALUE = "(none)"
"""The group of the debates whose cases have no value of the field."""

_VALUE = 60
"""Characters of a value at most."""


def groups_page(by: str, groups: Sequence[Group]) -> Page:
    """A table: a line a group. Debates without an evaluation, agreement with people, and labels of verdicts are columns
    where there are any.
    """
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


def groups_object(by: str, groups: Sequence[Group]) -> dict[str, Any]:
    """The same for JSON: `value` null for the debates without one, shares 0-1 and null where none is completed."""
    return {"group_by": by, "groups": [_object(group) for group in groups]}


def _cells(group: Group) -> tuple[str, ...]:
    return (
        NO_VALUE if group.value is None else visible_line(group.value, _VALUE),
        f"{group.debates:,}",
        f"{group.completed:,}",
        *("–" if (share := group.share(verdict)) is None else f"{share:.1%}" for verdict in Verdict),
        "–" if group.mean_score is None else f"{group.mean_score:.1f}",
    )


def _agreement(group: Group) -> str:
    return f"{group.as_labelled:,} of {group.labelled:,}" if group.labelled else "–"


def _object(group: Group) -> dict[str, Any]:
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
