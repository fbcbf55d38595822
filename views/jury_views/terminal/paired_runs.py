"""The same cases in two runs in a terminal: tests and changes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jury_events.text import pluralize
from jury_views.page import Page
from jury_views.report_sections import NOTHING
from jury_views.terminal.report_page import Figures

if TYPE_CHECKING:
    from jury_analysis.paired import Paired, PairedChange
    from jury_analysis.paired_tests import PairedTest

_SMALL = 0.001


def paired_section(page: Page, paired: "Paired") -> None:
    """Tests and changes."""
    figures = Figures()
    page.heading("Paired: the same cases in A and B")
    unevaluated = f", {paired.without_evaluation} without an evaluation" if paired.without_evaluation else ""
    page.line(
        f"{pluralize(paired.pairs, 'pair')} in {pluralize(paired.clusters, 'cluster')}; without a verdict: "
        f"{paired.without_verdict}{unevaluated}",
        indent=2,
    )
    tests = (
        ("same shares (Stuart-Maxwell)", paired.marginal_homogeneity),
        ("same flips in both directions (Bowker)", paired.symmetry),
    )
    page.table([("test", "χ²", "degrees", "p", "p, Holm"), *(_test(figures, *one) for one in tests)], indent=2)
    page.table([("figure", "A", "B", "B - A", "p", "p, Holm"), *_changes(figures, paired)], indent=2)
    against = paired.against_labels
    if against is not None:
        page.line(
            f"{pluralize(against.pairs, 'pair')} with a label: {against.right_to_wrong} right only in A, "
            f"{against.wrong_to_right} right only in B",
            indent=2,
        )
    corrected = f"; Holm-corrected for {pluralize(paired.tests, 'test')}" if paired.tests else ""
    page.line(f"95 % intervals over clusters{corrected}", indent=2)
    figures.print_notes(page)


def _test(figures: Figures, name: str, test: "PairedTest") -> tuple[str, ...]:
    if test.reason is not None:
        return name, f"{NOTHING} {figures.reference(test.reason)}", "", "", ""
    marks = "".join(f" {figures.reference(note)}" for note in test.notes)
    return name, f"{test.statistic:.3f}{marks}", str(test.degrees), _p(test.p_value), _p(test.p_holm)


def _changes(figures: Figures, paired: "Paired") -> Iterator[tuple[str, ...]]:
    for one in paired.shares:
        yield _change(figures, f"share of {one.verdict}", one, share=True)
    yield _change(figures, "score", paired.score, share=False)
    if (against := paired.against_labels) is not None:
        for change in (against.accuracy, against.false_passes, against.false_fails):
            yield _change(figures, change.figure, change, share=True)


def _change(figures: Figures, name: str, one: "PairedChange", *, share: bool) -> tuple[str, ...]:
    form = "{:.1%}" if share else "{:.1f}"
    sides = (NOTHING if side is None else form.format(side) for side in (one.first, one.second))
    change = figures.share(one.change) if share else figures.number(one.change)
    return name, *sides, change, _p(one.p_value), _p(one.p_holm)


def _p(value: float | None) -> str:
    if value is None:
        return NOTHING
    return "<0.001" if value < _SMALL else f"{value:.3f}"
