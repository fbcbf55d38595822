"""How often each verdict occurs, and how often it would by the labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jury_events.text.visible_text import visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.figures import Figures

if TYPE_CHECKING:
    from jury_analysis.shares import VerdictShare


def shares_section(page: Page, found: "Sequence[VerdictShare]") -> None:
    """A line a verdict."""
    figures = Figures()
    page.heading("Shares")
    rows = [
        (
            visible_line(one.verdict, 60),
            f"{one.count:,}",
            figures.share(one.raw),
            figures.share(one.labelled),
            figures.share(one.corrected),
        )
        for one in found
    ]
    page.table([("verdict", "debates", "share", "of the labels", "corrected"), *rows], indent=2)
    figures.print_notes(page)
