"""A calibration as a terminal page."""

from math import ceil
from typing import TYPE_CHECKING

from jury_events.text import pluralize
from jury_views.page import Page
from jury_views.terminal.report_page import Figures

if TYPE_CHECKING:
    from jury_analysis.calibration import CalibrationReport, PartReport
    from jury_analysis.certificate import Certificate

_SIGNALS = {
    "share": "share of the votes",
    "isotonic": "chance by isotonic regression on the share of the votes",
    "weights": "chance by learned weights",
    "dawid_skene": "posterior chance by Dawid and Skene",
    "probability": "mean probability of the verdict",
    "votes+step": "agreement on the verdict and the decisive {step}",
}
_WRONG = {"error": "wrong", "false_pass": "false passes"}
_VERDICTS = {"jury": "final verdicts of the jury", "plurality": "strict plurality of the seats"}


def calibration_page(report: "CalibrationReport", panel: str | None) -> Page:
    """Warnings, what is promised, the thresholds that were tried, and what the chosen one does on the test part.

    Args:
        report: the calibration.
        panel: names the panel that it is of; None: unknown.
    """
    page, figures = Page(), Figures()
    for warning in report.warnings:
        page.line(warning)
    for one in report.excluded:
        page.line(f"left out: {one.count:,} {one.unit} ({one.reason})")
    if panel is not None:
        page.line(f"panel: {panel}")
    signal = _SIGNALS[report.signal.kind].format(step=getattr(report.signal, "step", ""))
    page.line(f"verdict: {_VERDICTS[report.verdict]}; signal: {signal}")
    parts = ", ".join(
        f"{name} {pluralize(part.labelled, 'label')} in {pluralize(part.clusters, 'cluster')}"
        for name, part in report.parts.items()
    )
    drawn = "" if report.seed is None else f" (drawn by cluster with seed {report.seed})"
    page.line(f"parts: {parts}{drawn}")
    _candidates(page, report)
    _outcome(page, report)
    _test(page, report, figures)
    _beside_votes_alone(page, report)
    figures.print_notes(page)
    return page


def _candidates(page: Page, report: "CalibrationReport") -> None:
    certificate = report.certificate
    page.heading(
        f"At most {certificate.risk:.6g} {_WRONG[report.on]}, with confidence {certificate.confidence:.6g} "
        f"({certificate.bound})"
    )
    rows = [
        (f"{one.threshold:.6g}", f"{one.accepted:,}", f"{one.wrong:,}", f"{one.upper_bound:.4f}", one.outcome)
        for one in certificate.candidates
    ]
    page.table([("threshold", "accepted", "wrong", "upper bound", "outcome"), *rows])


def _outcome(page: Page, report: "CalibrationReport") -> None:
    certificate = report.certificate
    if certificate.threshold is not None and certificate.coverage is not None:
        page.line(
            f"threshold {certificate.threshold:.6g}: accepts {certificate.coverage:.1%} of {certificate.units:,} cases"
        )
        if report.signal.kind == "votes+step":
            page.line(_accepts(certificate.threshold, len(report.seats), report.signal.passing))
        return
    page.line(f"no threshold: {certificate.reason}")
    if certificate.labels_needed is not None:
        clusters = ceil(certificate.labels_needed * certificate.clusters / certificate.units)
        of = f" in {clusters:,} clusters" if certificate.clusters < certificate.units else ""
        page.line(f"about {certificate.labels_needed:,} labels{of} would do, if errors stay as rare")


def _accepts(threshold: float, seats: int, passing: str) -> str:
    """What a threshold of agreement on votes and steps accepts, in words; see `VotesStepSignal`."""
    steps = round(threshold * 2 * seats)
    if steps > seats:
        return f"accepted: verdicts on whose step {steps - seats} of {seats} seats agree, or more; no {passing}"
    return (
        f"accepted: verdicts on whose step two seats agree, or more; {passing} with {steps} of {seats} votes, or more"
    )


def _test(page: Page, report: "CalibrationReport", figures: Figures) -> None:
    test = report.test
    if test is None:
        return
    page.heading("On the test part")
    page.line(f"accepted {test.accepted:,} of {test.units:,}: {figures.share(test.coverage)}")
    page.line(f"of these {_WRONG[report.on]} {test.wrong:,}: {figures.share(test.risk)}")
    page.line(f"accuracy of all verdicts, accepted or not: {figures.share(test.accuracy)}")


def _beside_votes_alone(page: Page, report: "CalibrationReport") -> None:
    """What the signal accepts beside what the votes alone do, for the same promise."""
    alone = report.votes_alone
    if alone is None:
        return
    page.heading("Beside the votes alone, for the same promise")
    first = ("signal", "threshold", "accepted", "wrong", "upper bound", "on the test part: accepted", "wrong")
    rows = [
        _compared("votes+step", report.certificate, report.test),
        _compared("votes alone", alone.certificate, alone.test),
    ]
    shown = first if report.test or alone.test else first[:5]
    page.table([row[: len(shown)] for row in (first, *rows)])


def _compared(name: str, certificate: "Certificate", test: "PartReport | None") -> tuple[str, ...]:
    """A row of the comparison; without a threshold nothing is accepted."""
    chosen = next((one for one in certificate.candidates if one.threshold == certificate.threshold), None)
    if chosen is None:
        return (name, "none", f"0 of {certificate.units:,}", "", "", "", "")
    share = f"{chosen.accepted:,} of {certificate.units:,} ({chosen.accepted / certificate.units:.1%})"
    tested = ("", "") if test is None else (f"{test.accepted:,} of {test.units:,}", f"{test.wrong:,}")
    return (name, f"{chosen.threshold:.6g}", share, f"{chosen.wrong:,}", f"{chosen.upper_bound:.4f}", *tested)
