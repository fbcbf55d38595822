"""What votes are worth: `jury stats`, `jury votes`, `jury gate`, `jury calibrate` and `jury value`.

The votes are those of a store, or of files of other judges; `jury votes` writes such files in the documented columns.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import chosen_tables, fields, file_option, json_option, option, schema_option, settings_of_file
from jury_cli.streams import note
from jury_cli.terminal import Counting, print_json, print_page, print_report
from jury_events.text import visible_line

if TYPE_CHECKING:
    from jury_judge.reports.calibrating import FoundCalibration, FoundLadder
    from jury_judge.settings.gate import GateSettings
    from jury_views.gate_view import GateInWords


@grouped("stats", "Votes of a store", "Votes of files, and labels", "What is counted", "Figures", "Results")
@click.argument("sources", metavar="[RUN|FILE]...", nargs=-1)
@options(fields("StatisticsSettings"))
@option("--full", group="Results", is_flag=True, help="Print every table.")
@schema_option("Results", "stats")
@options(json_option())
def command(*, sources: tuple[str, ...], full: bool, as_json: bool, **said: Any) -> int:
    """Say what recorded votes are worth: are they right, do the seats agree, does discussion help?

    Tables follow by name: agreement, labels, faults, evidence, confidence, reasoning, discussion, shares; all
    with --full.

    Votes come from a store (runs, --all or a filter), or from files of other judges. Intervals are 95 %, over
    clusters of cases. docs/statistics.md explains every figure and what it does not prove, docs/votes.md the files.
    """
    from jury_judge.records.votes import VoteReports
    from jury_judge.settings.statistics import StatisticsSettings
    from jury_views.conclusion import FactsOfRun
    from jury_views.statistics_sections import STATISTICS_TABLES
    from jury_views.terminal.report_page import statistics_page

    sections, named = chosen_tables(sources, STATISTICS_TABLES, full=full, as_json=as_json)
    asked = StatisticsSettings.of(sources=named, **said)
    _use_jemalloc()
    found = call(VoteReports(note, threads=False).stats(asked))
    for remark in found.remarks():
        note(remark)
    if as_json:
        print_json(found.to_dict())
    else:
        run = asked.runs[0] if len(asked.runs) == 1 else None
        beside = FactsOfRun(rates=found.true_rates, drift=found.drift)
        print_page(statistics_page(found.named(), sections, run=run, beside=beside))
    return Exit.DONE


def _use_jemalloc() -> None:
    """Of Arrow's memory pools it returns freed memory soonest: a tenth less at the peak. Read by the import."""
    if sys.platform == "linux":
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")


@grouped("votes", "Columns", "Words", "Result")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@options(fields("VoteReading"))
@file_option(
    "-o",
    "--output",
    group="Result",
    required=True,
    help="The Parquet file to write, for jury stats, gate, calibrate and value.",
)
def votes(files: tuple[str, ...], *, output: Path, **said: Any) -> int:
    """Read votes that other judges gave, and write them as one table that the statistics take.

    FILE is CSV, JSON, JSONL, Parquet or Arrow, a row a vote or a row a case. What is said here may stand in a file
    beside it instead: votes.yaml beside votes.csv, whose fields are these options. docs/votes.md explains both.
    """
    from jury_judge.records.votes import VoteReports
    from jury_judge.settings.votes import VoteReading

    written = call(VoteReports(threads=False).votes(files, VoteReading.of(**said), output))
    note(f"{written:,} votes written to {output}")
    return Exit.DONE


_IN_FILES = ("order", "categories")
"""Settings without an option: those of a settings file."""
_OF_GATES = {"pass": Exit.DONE, "fail": Exit.FAILED_ON, "inconclusive": Exit.INCONCLUSIVE}


@grouped(
    "gate",
    *("Runs of a store", "Judges of files", "Labels, and what is counted", "Decision", "Plan", "Figures", "Results"),
)
@click.argument("sources", metavar="[BASE CANDIDATE]", nargs=-1)
@options(fields("GateSettings"), settings_of_file("GateSettings", ""))
@option("--full", group="Results", is_flag=True, help="Print every table.")
@schema_option("Results", "gate-report", "gate-plan")
@options(json_option("Print the gate and the paired table as one JSON object."))
def gate(*, sources: tuple[str, ...], full: bool, as_json: bool, **said: Any) -> int:
    """Decide whether CANDIDATE is worse than BASE: two runs of a store, two files of votes, or two lists of judges.
    With --true: whether one run keeps a limit.

    pass: the 95 % interval of the harm is within the margin. fail: it is above zero, and not within the margin.
    inconclusive: neither; how many cases it would take is printed. Exit codes 0, 1, 6. See docs/gate.md.

    Tables follow by name: verdicts, changes; both with --full.
    """
    from jury_judge.settings.gate import GateSettings
    from jury_views.paired_sections import PAIRED_TABLES

    of_file = click.get_current_context().default_map or {}
    tables, named = chosen_tables(sources, PAIRED_TABLES, full=full, as_json=as_json)
    asked = GateSettings.of(sources=named, **said, **{name: of_file[name] for name in _IN_FILES if name in of_file})
    decides = asked.plan is None or asked.true is not None
    return _decide_gate(asked, tables, as_json=as_json) if decides else _plan_gate(asked, as_json=as_json)


def _plan_gate(asked: "GateSettings", *, as_json: bool) -> Exit:
    from jury_judge.records.votes import VoteReports
    from jury_views.terminal.report_page import plan_page

    found = call(VoteReports(note, threads=False).plan(asked))
    print_report(found.to_dict, lambda: plan_page(found), as_json=as_json)
    return Exit.DONE


def _decide_gate(asked: "GateSettings", tables: tuple[str, ...], *, as_json: bool) -> Exit:
    from jury_judge.records.votes import VoteReports
    from jury_views.terminal.report_page import gate_page

    reports = VoteReports(note, threads=False)
    named = call(reports.gate(asked) if asked.true is None else reports.true_gate(asked))
    _write_gate(asked, named)
    if as_json:
        print_json(named.to_dict())
        note(named.headline)
        if named.counted:
            note(f"the {named.counted} are counted")
    else:
        print_page(gate_page(named, tables))
    return _OF_GATES[named.outcome]


def _write_gate(asked: "GateSettings", named: "GateInWords") -> None:
    from jury_judge.report_files import write_report
    from jury_views.junit import gate_junit
    from jury_views.markdown import gate_markdown

    if asked.junit is not None:
        write_report(asked.junit, gate_junit(named))
    if asked.markdown is not None:
        write_report(asked.markdown, gate_markdown(named))


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
def calibrate(*, output: Path | None, as_json: bool, **said: Any) -> int:
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
        return _print_ladder(call(reports.calibrate_stages(asked)), output, as_json=as_json)
    found = call(reports.calibrate(asked))
    _print_calibration(found, as_json=as_json)
    if found.report.certificate.threshold is None:
        return Exit.INCONCLUSIVE
    _write_calibration(found, output)
    return Exit.DONE


def _print_ladder(found: "FoundLadder", path: Path | None, *, as_json: bool) -> int:
    from jury_judge.reports.calibrating import write_ladder
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


def _write_calibration(found: "FoundCalibration", path: Path | None) -> None:
    from jury_judge.reports.calibrating import write_calibration

    if path is None:
        note("the calibration is not written: -o FILE writes it")
        return
    write_calibration(path, found)
    note(f"calibration written to {path}")
    if found.panel is None:
        note("votes of files name no panel: a panel cannot take this calibration")


def _print_calibration(found: "FoundCalibration", *, as_json: bool) -> None:
    from jury_views.calibration_sections import calibration_sections
    from jury_views.terminal.report_page import whole_page

    of, report = found.panel, found.report
    panel = None if of is None else f"{visible_line(of.name, 80)} ({of.panel[:16]})"
    print_report(
        found.to_dict, lambda: whole_page(report.warnings, calibration_sections(report, panel)), as_json=as_json
    )


@grouped("value", "Votes of a store", "Votes of files, and labels", "What is counted", "Results")
@click.argument("sources", metavar="[RUN|FILE]...", nargs=-1)
@options(fields("WorthSettings"))
@schema_option("Results", "value")
@options(json_option())
def value(*, as_json: bool, **said: Any) -> int:
    """Say what each seat is worth, what each round adds, and which smaller panels would have done.

    Values of seats are of the first evaluation, which no juror made with sight of the others. Debates of a store
    are recounted under their own rules with fewer seats and rounds; votes of files are counted by their plurality.
    No model is called. docs/seat-value.md explains every figure, and what it does not prove.
    """
    from jury_judge.records.votes import VoteReports
    from jury_judge.settings.statistics import WorthSettings
    from jury_views.terminal.report_page import panel_worth_page

    asked = WorthSettings.of(**said)
    with Counting("debates recounted") as counting_line:
        found = call(VoteReports(note, threads=False).value(asked, counting_line.count))
    if asked.parquet is not None:
        note(f"{found.frontier.tried:,} choices of seats and rounds written to {asked.parquet}")
    print_report(found.to_dict, lambda: panel_worth_page(found), as_json=as_json)
    return Exit.DONE
