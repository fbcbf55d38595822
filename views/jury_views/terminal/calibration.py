"""A calibration, of one panel or of a ladder of stages, as a terminal page."""

from math import ceil
from typing import TYPE_CHECKING

from jury_events.text import pluralize
from jury_views.page import Page
from jury_views.terminal.report_page import Figures

if TYPE_CHECKING:
    from jury_analysis.calibration import CalibrationReport, PartReport
    from jury_analysis.certificate import Certificate
    from jury_analysis.ladders.ladder_report import LadderReport, ReportedStage
    from jury_analysis.ladders.ladder_use import LadderUse, StageUse
    from jury_analysis.ladders.promises import Promises


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


def ladder_page(report: "LadderReport") -> Page:
    """Warnings, what is promised, the thresholds that were tried at each stage, and what the ladder does."""
    page, figures = Page(), Figures()
    for warning in report.warnings:
        page.line(warning)
    for one in report.excluded:
        page.line(f"left out: {one.count:,} {one.unit} ({one.reason})")
    page.line(f"promised, all with confidence {report.promises.confidence:g}: {_promised(report.promises)}")
    page.line(
        f"certified on {pluralize(report.units, 'label')} in {pluralize(report.clusters, 'cluster')}, of which "
        f"{report.failing:,} fail"
    )
    for number, stage in enumerate(report.stages, 1):
        _stage(page, number, stage, report)
    _use(page, report.use, figures)
    figures.print_notes(page)
    return page


def _promised(promises: "Promises") -> str:
    said = [
        f"at most {risk:g} of the accepted {name} are wrong"
        for name, risk in (("passes", promises.passes), ("fails", promises.fails))
        if risk is not None
    ]
    if promises.missed is not None:
        said.append(f"at most {promises.missed:g} of the failing cases pass before the last stage")
    return "; ".join(said)


def _stage(page: Page, number: int, stage: "ReportedStage", report: "LadderReport") -> None:
    name = stage.name if stage.name.count(",") + 1 == len(stage.seats) else f"{stage.name} ({', '.join(stage.seats)})"
    page.heading(f"Stage {number}: {name}, {_VERDICTS[stage.verdict]}")
    of = stage.certificate
    if of is None:
        page.line("the last stage: what it says stands, and nothing is promised of it")
        return
    rows: list[tuple[str, ...]] = [("outcome", "threshold", "accepted", "wrong", "upper bound", "")]
    for outcome, certificate in (("pass", of.passes), ("fail", of.fails)):
        tried = () if certificate is None else certificate.candidates
        rows += [_tried(outcome, one.threshold, one.accepted, one.wrong, one.upper_bound, one.outcome) for one in tried]
    rows += [
        _tried("missed", one.threshold, one.failing, one.missed, one.upper_bound, one.outcome) for one in of.missed
    ]
    page.table(rows)
    for outcome, certificate, threshold in (
        ("pass", of.passes, of.pass_threshold),
        ("fail", of.fails, of.fail_threshold),
    ):
        if certificate is None:
            page.line(f"no {outcome} is accepted: nothing is promised of it (--risk {outcome}=…)")
        elif threshold is None:
            page.line(f"no {outcome} is accepted: {_refused(certificate, report)}")
        else:
            page.line(f"a {outcome} is accepted from the share {threshold:.6g} of the votes on")
    confidence = next(one.confidence for one in (of.passes, of.fails) if one is not None)
    page.line(f"each bound has the confidence {confidence:.6g}: {_divided(report, of.combinations)}")


def _tried(  # noqa: PLR0917  (the columns of the table)
    outcome: str, threshold: float, counted: int, wrong: int, bound: float, decided: str
) -> tuple[str, ...]:
    return (outcome, f"{threshold:.6g}", f"{counted:,}", f"{wrong:,}", f"{bound:.4f}", decided)


def _divided(report: "LadderReport", combinations: int) -> str:
    said = f"{pluralize(report.promises.number, 'promise')} of {pluralize(len(report.stages) - 1, 'early stage')}"
    return said if combinations == 1 else f"{said}, {combinations:,} combinations of earlier thresholds"


def _refused(certificate: "Certificate", report: "LadderReport") -> str:
    """Why, and what more labels would buy."""
    if certificate.threshold is not None:
        return "too many failures could be missed"
    reason = certificate.reason or ""
    if certificate.labels_needed is None:
        return reason
    clusters = ceil(certificate.labels_needed * certificate.clusters / certificate.units)
    of = f" in {clusters:,} clusters" if report.clusters < report.units else ""
    return f"{reason}; about {certificate.labels_needed:,} labels{of} would do, if errors stay as rare"


def _use(page: Page, use: "LadderUse", figures: Figures) -> None:
    where = "On the test part" if use.part == "test" else "On the cases that it was certified on"
    page.heading(where)
    rows: list[tuple[str, ...]] = [("stage", "reached", "ends here", "passes", "wrong", "fails", "wrong")]
    rows += [_used(number, one, figures) for number, one in enumerate(use.stages, 1)]
    page.table(rows)
    page.line(f"ends before the last stage: {figures.share(use.early)} of {use.units:,} cases")
    page.line(f"failing cases that pass early (missed): {figures.share(use.missed)} of {use.missed.n:,}")
    page.line(f"accuracy: {figures.share(use.accuracy)}; of the last stage alone: {figures.share(use.full_accuracy)}")
    word = "calls" if use.calls_known else "votes"
    page.line(f"{word} a case: {use.calls:.2f}; of the last stage alone: {use.full_calls:.2f}{_more(use)}")
    if use.cost is not None and use.full_cost is not None:
        page.line(f"dollars a case: {use.cost:.6f}; of the last stage alone: {use.full_cost:.6f}")
    else:
        page.line("dollars a case: not known, because votes lack their cost")


def _more(use: "LadderUse") -> str:
    """A ladder may cost more than its last stage alone."""
    return " (the ladder takes more)" if use.calls > use.full_calls else ""


def _used(number: int, one: "StageUse", figures: Figures) -> tuple[str, ...]:
    return (
        str(number),
        f"{one.reached:,}",
        figures.share(one.coverage),
        f"{one.passes:,}",
        f"{one.wrong_passes:,}",
        f"{one.fails:,}",
        f"{one.wrong_fails:,}",
    )
