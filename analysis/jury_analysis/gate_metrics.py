"""The figures that a gate can be decided by, and which direction is worse."""

from collections.abc import Sequence
from typing import Literal

from jury_analysis.errors import UnknownMetric
from jury_analysis.paired import HIGHEST_SCORE, Paired, PairedChange

Worse = Literal["more", "less", "either"]
"""Which change does harm: a rise, a fall, or both."""

ACCURACY, FALSE_PASS, FALSE_FAIL, SCORE = "accuracy", "false_pass", "false_fail", "score"
METRICS = (FALSE_PASS, FALSE_FAIL, ACCURACY, SCORE)
"""Besides these, every verdict is a metric: its share."""

MARGIN = 0.02
"""Of shares and rates. The scores' margin is as much of their scale: 2 points."""

_OF_ENDS = (FALSE_PASS, FALSE_FAIL)
_OF_LABELS: dict[str, Worse] = {ACCURACY: "less", FALSE_PASS: "more", FALSE_FAIL: "more"}


def default_metric(report: Paired) -> str:
    """False passes, or accuracy, where there are labels for it; otherwise the share of the last verdict.

    Raises:
        UnknownMetric: the verdicts have no order, and there are no labels.
    """
    against = report.against_labels
    if against is not None and against.false_passes.change.n:
        return FALSE_PASS
    if report.ordered:
        return report.categories[-1]
    if against is not None:
        return ACCURACY
    raise UnknownMetric(
        "the verdicts have no order and the cases no labels, so no change is worse by itself: "
        f"name a verdict, as --metric {report.categories[0]}"
    )


def check_metric(metric: str, categories: Sequence[str], *, ordered: bool) -> None:
    """Check that verdicts of these categories have the metric.

    Raises:
        UnknownMetric: there is no such metric, or it needs an order of the verdicts.
    """
    if metric in categories:
        return
    if metric not in METRICS:
        known = ", ".join((*METRICS, *categories))
        raise UnknownMetric(f"there is no metric {metric!r:.60}; the metrics are {known}")
    if metric in _OF_ENDS and not ordered:
        raise UnknownMetric(
            f"the metric {metric} needs an order of the verdicts, to know which is a pass and which a fail: "
            "declare it with --order, or give another --metric"
        )


def figure_of(report: Paired, metric: str) -> PairedChange:
    """The figure of that name.

    Raises:
        UnknownMetric: there is none, or it needs labels or an order.
    """
    check_metric(metric, report.categories, ordered=report.ordered)
    for share in report.shares:
        if share.verdict == metric:
            return share
    if metric == SCORE:
        return report.score
    against = report.against_labels
    if against is None:
        raise UnknownMetric(
            f"the metric {metric} needs labels, and no case has one: give --labels FILE, or another --metric"
        )
    return {ACCURACY: against.accuracy, FALSE_PASS: against.false_passes, FALSE_FAIL: against.false_fails}[metric]


def default_margin(metric: str) -> float:
    """The margin of the metric where none is given."""
    return MARGIN * HIGHEST_SCORE if metric == SCORE else MARGIN


def worse_direction(report: Paired, metric: str, wanted: Worse | None) -> Worse:
    """Which change of the metric does harm.

    With labels: lower accuracy, more false passes, more false fails. Without labels nothing says which of two panels
    is right, so that a change in either direction counts; where both sets have the same panel, or the direction is
    `wanted`, it is one: more of the last verdict of the order, less of the first, a lower score.

    Raises:
        UnknownMetric: a direction is wanted of a metric that has its own.
    """
    if metric in _OF_LABELS:
        if wanted not in (None, _OF_LABELS[metric]):
            raise UnknownMetric(f"of {metric}, {_OF_LABELS[metric]} is worse: leave --worse out")
        return _OF_LABELS[metric]
    if wanted is not None:
        return wanted
    first, second = report.panels
    if first is None or first != second:
        return "either"
    if metric == SCORE:
        return "less"
    if not report.ordered:
        return "either"
    return "less" if metric == report.categories[0] else "more"
