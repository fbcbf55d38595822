"""A gate, or the plan of one, as a terminal page."""

from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_views.decided import decided_sentence
from jury_views.gate_view import NamedGate, facts, headline, notes, plan_facts
from jury_views.page import Page, TextSpan
from jury_views.terminal.report_page import Figures
from jury_views.terminal.sections import Sections, others_line, print_sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jury_analysis.gate_plan import GatePlan
    from jury_analysis.paired import Paired, PairedChange
    from jury_analysis.paired_tests import PairedTest

_STYLES = {"pass": "bold green", "fail": "bold red", "inconclusive": "bold yellow"}


def gate_page(named: NamedGate, sections: "Sequence[str]" = ()) -> Page:
    """Decision, its figures and notes, then these tables, of `SECTIONS`."""
    page = Page()
    page.line(f"{named.title}: ", TextSpan(headline(named), _STYLES[named.report.gate.decision]))
    page.facts(facts(named))
    for one in notes(named):
        page.line(one)
    print_sections(page, SECTIONS, named.report.paired, sections)
    if not sections:
        others_line(page, SECTIONS, [named.report.paired], ())
    return page


def plan_page(plan: "GatePlan") -> Page:
    """What the planned cases could find."""
    page = Page()
    page.line("plan: no case is judged, and nothing is decided")
    page.table([("figure", "value"), *plan_facts(plan)], indent=2)
    return page


def _verdicts(page: Page, report: "Paired") -> None:
    names = [visible_line(name, 40) for name in report.categories]
    page.heading("Verdicts (base ↓, candidate →)")
    rows = [(name, *(f"{count:,}" for count in row)) for name, row in zip(names, report.table, strict=True)]
    page.table([("", *names), *rows], indent=2)
    towards = ""
    if report.towards_last is not None:
        towards = f"; {report.towards_last:,} towards {names[-1]}, {report.towards_first:,} towards {names[0]}"
    page.line(f"{report.unchanged:,} of {pluralize(report.pairs, 'pair')} unchanged{towards}", indent=2)
    page.line(_test("same shares (Stuart-Maxwell)", report.marginal_homogeneity), indent=2)
    page.line(_test("symmetric flips (Bowker)", report.symmetry), indent=2)


def _changes(page: Page, report: "Paired") -> None:
    page.heading("Changes (candidate - base)")
    if report.against_labels is not None:
        sides = zip(("base", "candidate"), report.against_labels.decided, strict=True)
        page.facts((name, decided_sentence(one)) for name, one in sides)
    figures = Figures()
    changes = [*report.shares, report.score]
    if report.against_labels is not None:
        against = report.against_labels
        changes += [against.accuracy, against.false_passes, against.false_fails]
    page.table(
        [("", "base", "candidate", "change", "p", "p (Holm)"), *(_row(one, figures) for one in changes)], indent=2
    )
    figures.print_notes(page)
    page.line(f"95 % intervals over clusters; p corrected for {pluralize(report.tests, 'test')} (Holm)", indent=2)


SECTIONS: "Sections[Paired]" = {"verdicts": _verdicts, "changes": _changes}
"""The tables, by the names that `jury gate` takes."""


def _row(change: "PairedChange", figures: Figures) -> tuple[str, ...]:
    name = change.figure if change.verdict is None else f"{change.figure} of {visible_line(change.verdict, 40)}"
    sides = ("–" if side is None else f"{side:.3f}" for side in (change.first, change.second))
    return name, *sides, figures.number(change.change), _p(change.p_value), _p(change.p_holm)


def _test(name: str, test: "PairedTest") -> str:
    if test.reason is not None:
        return f"{name}: {test.reason}"
    return f"{name}: χ² {test.statistic:.3f} ({test.degrees}), p {_p(test.p_value)}, Holm {_p(test.p_holm)}"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
