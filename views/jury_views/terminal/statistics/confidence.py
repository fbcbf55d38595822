"""Is confidence worth something: curves of vote share, stated confidence and score."""

from typing import TYPE_CHECKING

from jury_events.text import visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.figures import NOTHING, Figures

if TYPE_CHECKING:
    from jury_analysis.confidence import ConfidenceCurve, ConfidenceReport


def confidence_section(page: Page, found: "ConfidenceReport") -> None:
    """A line a curve, and the bins of the first one, the vote share."""
    curves = [curve for curve in found.curves if curve.n]
    page.heading("Confidence")
    if not curves:
        page.line("no labelled debate has a verdict with a confidence", indent=2)
        return
    figures = Figures()
    rows = [
        (
            curve.confidence,
            visible_line(curve.seat or curve.rater, 60),
            f"{curve.n:,}",
            figures.share(curve.accuracy),
            figures.share(curve.mean_confidence),
            figures.number(curve.ece),
            figures.number(curve.brier),
            figures.number(curve.auroc),
        )
        for curve in curves
    ]
    page.table([("confidence", "of", "n", "accuracy", "mean", "ECE", "Brier", "AUROC"), *rows], indent=2)
    _bins(page, figures, curves[0])
    figures.print_notes(page)


def _bins(page: Page, figures: Figures, curve: "ConfidenceCurve") -> None:
    page.blank()
    rows = [
        (
            f"{one.low:.1f}–{one.high:.1f}",
            f"{one.n:,}",
            f"{one.right:,}",
            NOTHING if one.mean_confidence is None else f"{one.mean_confidence:.1%}",
            figures.share(one.rate),
        )
        for one in curve.bins
        if one.n
    ]
    page.table([(f"{curve.confidence} of the {curve.rater}", "n", "right", "mean", "share right"), *rows], indent=2)
