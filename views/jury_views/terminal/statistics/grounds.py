"""What the votes rest on: whether the quotations stand where the seats say, and how much of the record was read."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.figures import Figures

if TYPE_CHECKING:
    from jury_analysis.quotation_shares import QuotationShares, Quoted
    from jury_analysis.read_shares import ReadShares, ShareRead


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
    page.table([head, *(_quoted(figures, one) for one in (*found.seats, *judge, found.all))], indent=2)
    figures.print_notes(page)


def _quoted(figures: Figures, one: "Quoted") -> tuple[str, ...]:
    names = {"judge": "final judge", "all": "all"}
    return (
        names.get(one.rater) or visible_line(one.seat or one.rater, 60),
        f"{one.quotations:,}",
        *(figures.share(share) for share in (one.verified, one.normalised, one.elsewhere, one.not_found)),
        f"{figures.share(one.unsupported)} of {one.failing:,}",
    )


def reading_section(page: Page, found: "ReadShares") -> None:
    """Shares by seat, and where votes have labels how often those with the whole record, and the others, are right."""
    figures = Figures()
    labelled = found.all.labelled > 0
    page.heading("How much was read (first evaluations)")
    head = ("", "votes", "not on the whole record", "mean share read")
    of_labels = ("right with the whole record", "right with less") if labelled else ()
    rows = (_read(figures, one, labelled=labelled) for one in (*found.seats, found.all))
    page.table([(*head, *of_labels), *rows], indent=2)
    figures.print_notes(page)


def _read(figures: Figures, one: "ShareRead", *, labelled: bool) -> tuple[str, ...]:
    right = (one.accuracy_of_whole, one.accuracy_of_partly_read) if labelled else ()
    return (
        visible_line(one.seat or one.rater, 60),
        f"{one.votes:,}",
        *(figures.share(share) for share in (one.partly_read, one.mean_share, *right)),
    )
