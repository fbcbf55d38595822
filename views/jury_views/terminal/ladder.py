"""A certified ladder of stages as a terminal page."""

from math import ceil
from typing import TYPE_CHECKING

from jury_events.text import pluralize
from jury_views.page import Page
from jury_views.terminal.report_page import Figures

if TYPE_CHECKING:
    from jury_analysis.certificate import Certificate
    from jury_analysis.ladders.ladder_report import LadderReport, ReportedStage
    from jury_analysis.ladders.ladder_use import LadderUse, StageUse
    from jury_analysis.ladders.promises import Promises

_VERDICTS = {"jury": "final verdicts of the jury", "plurality": "strict plurality of the seats"}


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
