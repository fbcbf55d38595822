"""Statistics, group by group, as a terminal page."""

from typing import TYPE_CHECKING

from jury_views.page import Page
from jury_views.terminal.statistics.report import report_section

if TYPE_CHECKING:
    from jury_judge.statistics.statistics_groups import GroupedStatistics


def statistics_page(found: "GroupedStatistics") -> Page:
    """Warnings first (that debates are simulated), then the report of each group."""
    from jury_judge.statistics.statistics_groups import group_name

    page = Page()
    for warning in dict.fromkeys(warning for group in found.groups for warning in group.statistics.warnings):
        page.line(warning)
    for group in found.groups:
        if found.by:
            page.heading(group_name(found.by, group.values))
        report_section(page, group.statistics)
    return page
