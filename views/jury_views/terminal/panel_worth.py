"""What seats and rounds are worth as a terminal page."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize
from jury_views.page import Page
from jury_views.terminal.report_page import print_section
from jury_views.worth_sections import worth_sections

if TYPE_CHECKING:
    from jury_analysis.panel_worth import PanelWorth


def panel_worth_page(found: "PanelWorth") -> Page:
    """Warnings first, then what was counted, the seats, the rounds, and the frontier."""
    page = Page()
    for warning in found.warnings:
        page.line(warning)
    page.line(
        f"{pluralize(found.debates, 'debate')}, {pluralize(found.clusters, 'cluster')}, "
        f"{pluralize(len(found.values.seats), 'seat')}, {found.values.labelled:,} with a label; "
        "in brackets: 95 % intervals over clusters"
    )
    if found.excluded:
        page.line(f"left out: {'; '.join(f'{one.count:,} {one.unit} ({one.reason})' for one in found.excluded)}")
    for section in worth_sections(found):
        print_section(page, section)
    return page
