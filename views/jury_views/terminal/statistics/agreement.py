"""Do the seats agree: the section of the first evaluations, and of repeats."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_views.page import Page
from jury_views.terminal.statistics.figures import Figures

if TYPE_CHECKING:
    from jury_analysis.agreement import Agreement, PairAgreement
    from jury_analysis.self_agreement import Repeats

PAIRS = 15
"""Pairs of seats that are listed: those that agree least."""


def agreement_section(page: Page, found: "Agreement") -> None:
    """Coefficients, pairs, abstentions, and seats that always say the same."""
    figures = Figures()
    page.heading("Agreement (first evaluations)")
    coefficients = (
        ("Krippendorff's α, nominal", found.alpha_nominal),
        ("Krippendorff's α, ordinal", found.alpha_ordinal),
        ("Krippendorff's α, scores", found.alpha_scores),
        ("Gwet's AC1", found.ac1),
        ("Gwet's AC2, ordinal", found.ac2),
        ("Fleiss' κ, complete debates", found.fleiss),
    )
    rows = [(name, figures.number(one), f"{one.n:,}") for name, one in coefficients]
    rows.append(("raw agreement", figures.share(found.raw), f"{found.raw.n:,}"))
    page.table([("", "value [95 %]", "debates"), *rows], indent=2)
    _pairs(page, figures, found)
    _abstentions(page, figures, found)
    for seat, verdict in found.constant_seats:
        page.line(f"{visible_line(seat, 60)} always says {visible_line(verdict, 60)}", indent=2)
    figures.print_notes(page)


def repeats_section(page: Page, found: "Repeats") -> None:
    """Self-agreement; nothing where no case was judged twice."""
    if not found.cases:
        return
    figures = Figures()
    page.heading("Self-agreement (repeats)")
    page.line(f"{pluralize(found.cases, 'case')} judged more than once, at most {found.largest} times", indent=2)
    rows = [
        (
            visible_line(one.seat, 60),
            figures.share(one.raw),
            figures.number(one.alpha_nominal),
            figures.number(one.alpha_ordinal),
            figures.number(one.ac1),
        )
        for one in (found.panel, *found.seats)
    ]
    page.table([("of", "raw", "α nominal", "α ordinal", "AC1"), *rows], indent=2)
    figures.print_notes(page)


def _pairs(page: Page, figures: Figures, found: "Agreement") -> None:
    if not found.pairs:
        return
    shown = sorted(found.pairs, key=_kappa)[:PAIRS]
    rows = [
        (
            *(visible_line(seat, 40) for seat in one.seats),
            figures.share(one.raw),
            figures.number(one.kappa),
            figures.number(one.weighted_kappa),
            f"{one.raw.n:,}",
        )
        for one in shown
    ]
    page.blank()
    page.table([("pair of seats", "", "raw", "κ", "κ weighted", "debates"), *rows], indent=2)
    if len(shown) < len(found.pairs):
        page.line(
            f"and {pluralize(len(found.pairs) - len(shown), 'pair')} of closer agreement (--json has all)", indent=2
        )


def _kappa(pair: "PairAgreement") -> tuple[float, tuple[str, str]]:
    return (2.0 if pair.kappa.value is None else pair.kappa.value), pair.seats


def _abstentions(page: Page, figures: Figures, found: "Agreement") -> None:
    abstaining = [one for one in found.abstentions if one.abstained]
    page.blank()
    if not abstaining:
        page.line("no seat abstained", indent=2)
        return
    rows = [
        (visible_line(one.seat, 60), f"{one.abstained:,} of {one.rate.n:,}", figures.share(one.rate))
        for one in abstaining
    ]
    page.table([("abstained", "debates", "share"), *rows], indent=2)
