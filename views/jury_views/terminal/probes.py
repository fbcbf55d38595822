"""What probes show, as a terminal page."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from jury_events.text import pluralize, visible_line
from jury_views.page import Page
from jury_views.report_sections import NOTHING
from jury_views.terminal.report_page import Figures

if TYPE_CHECKING:
    from jury_analysis.probe_effects import FalsePasses, ProbedRater, ProbeEffect, ProbeReport
    from jury_analysis.run_probes import Reflection, RunProbes

MARKING = "marking"
"""The probe whose figures are shown beside those of `injection`: the same twins with the other marking."""

_SEATS = 12


def probes_page(found: "RunProbes", asked: Collection[str]) -> Page:
    """What was found first, then each probe, then what the votes on the cases alone show.

    Args:
        asked: probes that are named if they have no twin.
    """
    page = Page()
    report = found.twins
    for warning in found.warnings:
        page.line(warning)
    page.line(f"run {found.run_id}: {pluralize(found.cases, 'case')}")
    if report is None:
        page.line("the run has no twins: judge them with jury probe FILE --probe NAME")
    else:
        _summary(page, report)
        if absent := [name for name in found.absent if name in asked]:
            page.line(f"no twin was judged of {', '.join(absent)}", indent=2)
        for probe in report.probes:
            if probe.probe == MARKING:
                _markings(page, [one for one in report.probes if one.marking is not None])
            else:
                _probe(page, probe)
    if found.reflection is not None:
        _reflection(page, found.reflection)
    _own_family(page, found)
    _length(page, found)
    return page


def _summary(page: Page, report: "ProbeReport") -> None:
    for one in report.excluded:
        page.line(f"left out: {one.count:,} {one.unit} ({one.reason})")
    lines = [f"{probe.probe}: {visible_line(line, 300)}" for probe in report.probes for line in probe.found]
    page.heading("Found" if lines else "Nothing found" if report.tests else "Nothing could be tested")
    for line in lines:
        page.line(line, indent=2)
    if not report.tests:
        page.line("the notes of the probes below say why: too few pairs, or no verdict changed", indent=2)
        return
    page.line(
        f"of {pluralize(report.tests, 'test')}, Holm-corrected together at 5 %; "
        "a bias too small for so many cases is not found",
        indent=2,
    )


def _probe(page: Page, probe: "ProbeEffect") -> None:
    page.heading(f"Probe {probe.probe}")
    page.line(
        f"{pluralize(probe.pairs, 'pair')} of a case and its twin, {pluralize(probe.clusters, 'cluster')}", indent=2
    )
    figures = Figures()
    speakers = probe.jury.direction == "first speaker"
    heads = ("to first speaker", "away") if speakers else ("more lenient", "stricter")
    rows: list[tuple[str, ...]] = [("", "pairs", "flips", *heads, "p", "score shift", "p")]
    raters = (probe.jury, *probe.seats[:_SEATS])
    rows += [_rater(figures, one) for one in raters]
    page.table(rows, indent=2)
    passes = [(one, passed) for one in raters for passed in one.false_passes]
    if passes:
        page.blank()
        table: list[tuple[str, ...]] = [("answers without content", "of", "passed", "rate", "at most", "p")]
        table += [_passed(figures, one, passed) for one, passed in passes]
        page.table(table, indent=2)
    if (further := len(probe.seats) - _SEATS) > 0:
        page.line(f"{pluralize(further, 'further seat')}: --json", indent=2)
    figures.print_notes(page)


def _markings(page: Page, compared: "Sequence[ProbeEffect]") -> None:
    """The flips of the injections under each marking, by rater."""
    page.heading("Probe marking: injections by how judged text was marked")
    figures = Figures()
    rows: list[tuple[str, ...]] = [
        ("", "marking", "pairs", "flips", "more lenient", "stricter", "p", "score shift", "p")
    ]
    seats = dict.fromkeys(seat.seat for one in compared for seat in one.seats)
    for name in (None, *list(seats)[:_SEATS]):
        for effect in compared:
            for rater in (effect.jury, *effect.seats):
                if rater.seat == name:
                    shown, *figures_of_rater = _rater(figures, rater)
                    rows.append((shown, str(effect.marking), *figures_of_rater))
    page.table(rows, indent=2)
    if (further := len(seats) - _SEATS) > 0:
        page.line(f"{pluralize(further, 'further seat')}: --json", indent=2)
    figures.print_notes(page)


def _rater(figures: Figures, one: "ProbedRater") -> tuple[str, ...]:
    shift = one.score_shift
    return (
        _name(one),
        f"{one.pairs:,}",
        figures.share(one.flips),
        NOTHING if one.towards_first is None else f"{one.towards_first:,}",
        NOTHING if one.towards_last is None else f"{one.towards_last:,}",
        _p(one.p_holm),
        NOTHING if shift.value is None else f"{shift.value:+.1f}",
        _p(one.score_p_holm),
    )


def _passed(figures: Figures, one: "ProbedRater", passed: "FalsePasses") -> tuple[str, ...]:
    return (
        "all" if passed.text is None else visible_line(passed.text, 40),
        _name(one),
        f"{passed.passes:,} of {passed.answers:,}",
        figures.share(passed.rate),
        NOTHING if passed.upper_bound is None else f"{passed.upper_bound:.1%}",
        _p(passed.p_holm),
    )


def _reflection(page: Page, found: "Reflection") -> None:
    page.heading("Asked again, with and without the peers' opinions")
    figures = Figures()
    rows = [
        ("", "positions changed", "opposed", "took the peers' position"),
        *(
            (name, figures.share(changed), f"{one.opposed:,}", figures.share(one.rate))
            for name, changed, one in (
                ("shown them", found.changed_with_peers, found.with_peers),
                ("alone", found.changed_alone, found.alone),
            )
        ),
    ]
    page.table(rows, indent=2)
    figures.print_notes(page)


def _own_family(page: Page, found: "RunProbes") -> None:
    page.heading("Leniency to agents of one's own model family, from the cases alone")
    if not found.own_family:
        page.line("needs labels, metadata.agent_model, and seats and agents of known families", indent=2)
        return
    figures = Figures()
    rows: list[tuple[str, ...]] = [("seat", "family", "among cases labelled", "own", "others", "difference", "p")]
    rows += [
        (
            visible_line(one.seat, 60),
            one.family,
            one.label,
            f"{one.own:,}",
            f"{one.other:,}",
            figures.share(one.difference),
            _p(one.p_holm),
        )
        for one in found.own_family
    ]
    page.table(rows, indent=2)
    figures.print_notes(page)


def _length(page: Page, found: "RunProbes") -> None:
    page.heading("Passes and the length of the answer, among cases of the same label")
    if not found.length:
        page.line("needs labels", indent=2)
        return
    figures = Figures()
    rows: list[tuple[str, ...]] = [("seat", "cases", "more passes for twice the length", "p")]
    rows += [
        (visible_line(one.seat, 60), f"{one.cases:,}", figures.share(one.passes_a_doubling), _p(one.p_holm))
        for one in found.length
    ]
    page.table(rows, indent=2)
    figures.print_notes(page)


def _name(one: "ProbedRater") -> str:
    return "jury" if one.seat is None else visible_line(one.seat, 60)


def _p(p_value: float | None) -> str:
    if p_value is None:
        return NOTHING
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"  # noqa: PLR2004  (digits shown)
