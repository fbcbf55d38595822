"""Are they right: seats, panel and jury beside the labels, what the votes are worth together, and the annotators."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_events.verdict import Verdict
from jury_views.page import Page
from jury_views.terminal.statistics.figures import NOTHING, Figures

if TYPE_CHECKING:
    from jury_analysis.accuracy import AccuracyReport, AgainstLabels
    from jury_analysis.annotators import AnnotatorReport
    from jury_analysis.effective_votes import EffectiveVotes
    from jury_analysis.estimate import Estimate


def labels_section(page: Page, found: "AccuracyReport", votes: "EffectiveVotes") -> None:
    """Accuracy by rater, the panel's confusion, effective votes."""
    page.heading("Against labels")
    if not found.labelled:
        page.line("no debate has a label: name them with --label COLUMN or --labels FILE", indent=2)
        return
    figures = Figures()
    page.line(f"{pluralize(found.labelled, 'debate')} with a label, {found.unlabelled:,} without", indent=2)
    if found.abstaining is not None:
        page.line(
            f"no label is {visible_line(found.abstaining, 60)}: this verdict counts as an abstention, and coverage is "
            "the share of the other verdicts",
            indent=2,
        )
    raters = (*found.seats, found.panel, *([] if found.jury is None else [found.jury]))
    head = ("", "accuracy", "coverage", "of decided", *_false(found.categories), "κ")
    page.table([head, *(_rater(figures, one) for one in raters)], indent=2)
    for one in raters[len(found.seats) :]:
        _confusion(page, one, found.categories)
    _votes(page, figures, votes)
    figures.print_notes(page)


def annotators_section(page: Page, found: "AnnotatorReport") -> None:
    """The annotators' own agreement, and whether a judge may take their place."""
    figures = Figures()
    page.heading("Annotators")
    page.line(
        f"{len(found.annotators):,} annotators; {found.cases_of_several:,} of {found.cases:,} cases have two or more",
        indent=2,
    )
    page.line(f"agreement of the annotators, the ceiling: {figures.share(found.agreement)}", indent=2)
    page.blank()
    rows = [
        (
            NOTHING if one.seat is None and one.rater != "panel" else visible_line(one.seat or one.rater, 60),
            figures.number(one.winning_rate),
            figures.number(one.advantage),
            {True: "yes", False: "no", None: NOTHING}[one.passes],
            f"{one.epsilon:g}",
        )
        for one in found.tests
    ]
    page.table([("alternative-annotator test", "ω", "ρ", "passes", "ε"), *rows], indent=2)
    figures.print_notes(page)


def _rater(figures: Figures, one: "AgainstLabels") -> tuple[str, ...]:
    return (
        _name(one),
        figures.share(one.accuracy),
        figures.share(one.coverage),
        figures.share(one.accuracy_of_decided),
        _count(figures, one.false_passes, one.false_pass_rate),
        _count(figures, one.false_fails, one.false_fail_rate),
        figures.number(one.kappa),
    )


def _count(figures: Figures, count: int | None, rate: "Estimate") -> str:
    return NOTHING if count is None else f"{count:,} ({figures.share(rate)})"


def _false(categories: tuple[str, ...]) -> tuple[str, str]:
    """Headings of verdicts at one end where the label is at the other."""
    if categories == tuple(Verdict):
        return "false passes", "false fails"
    return f"false {visible_line(categories[0], 30)}", f"false {visible_line(categories[-1], 30)}"


def _name(one: "AgainstLabels") -> str:
    names = {"panel": "panel (plurality)", "jury": "jury (final verdict)"}
    return names.get(one.rater) or visible_line(one.seat or one.rater, 60)


def _confusion(page: Page, one: "AgainstLabels", categories: tuple[str, ...]) -> None:
    page.blank()
    head = (f"label ↓  {_name(one)} →", *(visible_line(name, 40) for name in categories), "none")
    rows = [
        (visible_line(name, 40), *(f"{count:,}" for count in row))
        for name, row in zip(categories, one.confusion, strict=True)
    ]
    page.table([head, *rows], indent=2)


def _votes(page: Page, figures: Figures, votes: "EffectiveVotes") -> None:
    page.blank()
    best = ", ".join(visible_line(seat, 60) for seat in votes.best_seats)
    page.table(
        [
            ("what the votes are worth", ""),
            (f"effective votes, of {votes.seats}", figures.number(votes.effective)),
            ("correlation of errors, mean φ", figures.number(votes.mean_phi)),
            (f"majority, {pluralize(votes.complete, 'complete debate')}", figures.share(votes.majority_accuracy)),
            ("if errors were independent", figures.share(votes.accuracy_if_independent)),
            (f"best seat{f': {best}' if best else ''}", figures.share(votes.best_seat_accuracy)),
        ],
        indent=2,
    )
    effective = votes.effective.value
    if effective is not None and effective > votes.seats:
        page.line(
            "more effective votes than seats: errors are negatively correlated, so the seats correct each other more "
            "than independent ones would",
            indent=2,
        )
