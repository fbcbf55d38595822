"""Do the quotations stand where the seats say? A section of the statistics."""

from typing import TYPE_CHECKING

from jury_events.text.pluralize import pluralize
from jury_events.text.visible_text import visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.figures import Figures

if TYPE_CHECKING:
    from jury_analysis.quotation_shares import QuotationShares, Quoted


def quotations_section(page: Page, found: "QuotationShares") -> None:
    """Results by seat, and failing verdicts without support."""
    figures = Figures()
    page.heading("Quotations (all rounds)")
    page.line(
        f"{pluralize(found.all.quotations, 'quotation')} in {pluralize(found.all.evaluations, 'evaluation')} that were "
        "asked for evidence",
        indent=2,
    )
    judge = () if found.judge is None else (found.judge,)
    head = ("", "quotations", "verified", "normalised", "elsewhere", "not found", "fails without support")
    page.table([head, *(_rater(figures, one) for one in (*found.seats, *judge, found.all))], indent=2)
    figures.print_notes(page)


def _rater(figures: Figures, one: "Quoted") -> tuple[str, ...]:
    names = {"judge": "final judge", "all": "all"}
    return (
        names.get(one.rater) or visible_line(one.seat or one.rater, 60),
        f"{one.quotations:,}",
        *(figures.share(share) for share in (one.verified, one.normalised, one.elsewhere, one.not_found)),
        f"{figures.share(one.unsupported)} of {one.failing:,}",
    )
