"""`jury calibrate`: from which agreement on a verdict may stand without a person."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import fields, file_option
from jury_cli.report_options import json_option
from jury_cli.terminal import note, print_report
from jury_events.text import visible_line

if TYPE_CHECKING:
    from jury_judge.statistics.calibrating import FoundCalibration, FoundLadder


@grouped(
    "calibrate", "Promise", "Parts", "Votes of a store", "Votes of files, and labels", "What is counted", "Results"
)
@click.argument("sources", metavar="[RUN|FILE]...", nargs=-1)
@options(fields("CalibrationSettings"))
@file_option(
    "-o",
    "--output",
    group="Results",
    help="Write the calibration to this file, for final.calibration of a panel file, or certificate of a ladder.",
)
@options(json_option())
def command(*, output: Path | None, as_json: bool, **said: Any) -> int:
    """Find from which signal on a verdict may stand without a person: of those at most --risk are wrong.

    The threshold is certified on labelled cases. A panel whose final rules name the file leaves every verdict that
    does not reach it to people. Exits with 6 where no threshold can be certified. docs/calibration.md explains
    what is promised, and what is not; docs/stages.md ladders of stages (--stages).
    """
    from jury_judge.records.votes import VoteReports
    from jury_judge.settings.calibration import CalibrationSettings

    asked = CalibrationSettings.of(**said)
    reports = VoteReports(note, threads=False)
    if asked.stages:
        return _ladder(call(reports.calibrate_stages(asked)), output, as_json=as_json)
    found = call(reports.calibrate(asked))
    _print(found, as_json=as_json)
    if found.report.certificate.threshold is None:
        return Exit.INCONCLUSIVE
    _write(found, output)
    return Exit.DONE


def _ladder(found: "FoundLadder", path: Path | None, *, as_json: bool) -> int:
    from jury_judge.statistics.calibrating import write_ladder
    from jury_views.calibration_sections import ladder_sections
    from jury_views.terminal.report_page import whole_page

    report = found.report
    print_report(found.to_dict, lambda: whole_page(report.warnings, ladder_sections(report)), as_json=as_json)
    if not found.report.accepts:
        return Exit.INCONCLUSIVE
    if path is None:
        note("the ladder is not written: -o FILE writes it")
        return Exit.DONE
    write_ladder(path, found)
    note(f"ladder written to {path}")
    if None in found.panels:
        note("votes of files name no panel: a staged run cannot take this ladder")
    return Exit.DONE


def _write(found: "FoundCalibration", path: Path | None) -> None:
    from jury_judge.statistics.calibrating import write_calibration

    if path is None:
        note("the calibration is not written: -o FILE writes it")
        return
    write_calibration(path, found)
    note(f"calibration written to {path}")
    if found.panel is None:
        note("votes of files name no panel: a panel cannot take this calibration")


def _print(found: "FoundCalibration", *, as_json: bool) -> None:
    from jury_views.calibration_sections import calibration_sections
    from jury_views.terminal.report_page import whole_page

    of, report = found.panel, found.report
    panel = None if of is None else f"{visible_line(of.name, 80)} ({of.panel[:16]})"
    print_report(
        found.to_dict, lambda: whole_page(report.warnings, calibration_sections(report, panel)), as_json=as_json
    )
