"""How much of the record do the votes rest on? A section of the statistics."""

from typing import TYPE_CHECKING

from jury_events.text.visible_text import visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.figures import Figures

if TYPE_CHECKING:
    from jury_analysis.read_shares import ReadShares, ShareRead


def reading_section(page: Page, found: "ReadShares") -> None:
    """Shares by seat, and where votes have labels how often those with the whole record, and the others, are right."""
    figures = Figures()
    labelled = found.all.labelled > 0
    page.heading("How much was read (first evaluations)")
    head = ("", "votes", "not on the whole record", "mean share read")
    of_labels = ("right with the whole record", "right with less") if labelled else ()
    rows = (_rater(figures, one, labelled=labelled) for one in (*found.seats, found.all))
    page.table([(*head, *of_labels), *rows], indent=2)
    figures.print_notes(page)


def _rater(figures: Figures, one: "ShareRead", *, labelled: bool) -> tuple[str, ...]:
    right = (one.accuracy_of_whole, one.accuracy_of_partly_read) if labelled else ()
    return (
        visible_line(one.seat or one.rater, 60),
        f"{one.votes:,}",
        *(figures.share(share) for share in (one.partly_read, one.mean_share, *right)),
    )
