"""How often each verdict occurs, and would by the labels; of a scale of levels, their means."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jury_events.text import visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.figures import Figures

if TYPE_CHECKING:
    from jury_analysis.levels import LevelReport, LevelsGiven
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


def levels_section(page: Page, found: "LevelReport") -> None:
    """Means by rater, and how far they are from the labels of people."""
    figures = Figures()
    page.heading(f"Levels ({found.lowest} to {found.highest})")
    others = [one for one in (found.panel, found.jury, found.labels) if one is not None]
    head = ("", "mean", "difference to the label", "distance", "within one")
    page.table([head, *(_rater(figures, one) for one in (*found.seats, *others))], indent=2)
    figures.print_notes(page)


def _rater(figures: Figures, one: "LevelsGiven") -> tuple[str, ...]:
    name = visible_line(one.seat or one.rater, 60)
    if one.rater == "labels":
        return (name, figures.number(one.mean), "", "", "")
    return (
        name,
        *(figures.number(figure) for figure in (one.mean, one.difference, one.distance)),
        figures.share(one.within_one),
    )
