"""The frontier of cost against accuracy on the page of a run's statistics."""

from typing import TYPE_CHECKING, NamedTuple

from jury_views.charts.frontier_chart import FrontierChart, frontier_chart

if TYPE_CHECKING:
    from jury_analysis.frontier import FrontierPoint
    from jury_analysis.panel_worth import PanelWorth

MOST_POINTS = 12
"""Points of the frontier that are shown; `jury value` has all."""


class WorthView(NamedTuple):
    """The report, the points of its frontier, and their chart."""

    report: "PanelWorth"
    points: "tuple[FrontierPoint, ...]"
    more: int
    chart: FrontierChart


def worth_view(report: "PanelWorth | None") -> WorthView | None:
    """The view of a report; None without one."""
    if report is None:
        return None
    best = [one for one in report.frontier.points if one.on_frontier]
    shown = tuple(best[:MOST_POINTS])
    return WorthView(report, shown, len(best) - len(shown), frontier_chart(report.frontier, shown))
