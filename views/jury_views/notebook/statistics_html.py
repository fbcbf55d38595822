"""Statistics in a cell of a notebook."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jury_views.charts.run_statistics import stats_page
from jury_views.notebook.rendering import rendered

if TYPE_CHECKING:
    from jury_analysis.statistics import Statistics

_RATERS = {"jury": "jury", "panel": "panel by plurality"}


def statistics_html(named: "Sequence[tuple[str, Statistics]]", remarks: Iterable[str] = ()) -> str:
    """Charts, each beside a table of its numbers.

    Args:
        named: the statistics of each group with its name; "" if nothing is grouped.
        remarks: lines about the labels.
    """
    groups = [(name, stats_page(report, _RATERS)) for name, report in named]
    return rendered("statistics.html", groups=groups, remarks=list(remarks), raters=_RATERS)
