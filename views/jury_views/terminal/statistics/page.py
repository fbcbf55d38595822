"""A report of statistics as a terminal page."""

from typing import TYPE_CHECKING

from jury_views.page import Page
from jury_views.terminal.statistics.report import report_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jury_analysis.statistics import Statistics


def statistics_page(groups: "Sequence[tuple[str, Statistics]]") -> Page:
    """Warnings first (that debates are simulated), then the report of each group.

    Args:
        groups: statistics by the name of their group; "" where nothing is grouped.
    """
    page = Page()
    for warning in dict.fromkeys(warning for _, found in groups for warning in found.warnings):
        page.line(warning)
    for name, found in groups:
        if name:
            page.heading(name)
        report_section(page, found)
    return page
