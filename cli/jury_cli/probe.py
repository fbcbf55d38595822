"""`jury probe`: judge twins of cases, and say what a fair jury would not do."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import (
    artifact_hosts,
    fields,
    json_option,
    option,
    schema_option,
    settings_of_file,
    standard_input,
)
from jury_cli.run import DISPLAY, Shown
from jury_cli.streams import note
from jury_cli.terminal import print_report

if TYPE_CHECKING:
    from jury_judge.probing import PlannedProbe
    from jury_judge.runs.run import RunOutcome
    from jury_judge.settings.run import ProbeSettings

_OF_THE_COMMAND = ("display", "as_json", "dry_run", "fail_on_finding")
"""What is no setting of a probe."""


@grouped(
    "probe",
    *("The probes", "The run", "The report", "Jurors and rules", "What it may spend", "Which cases"),
    *("How case files are read", "Where debates run", "When the store fails", "Results", "Seals"),
)
@click.argument("paths", metavar="FILE...", nargs=-1, type=click.Path(path_type=str))
@options(fields("ProbeSettings"), DISPLAY, settings_of_file("ProbeSettings", "The run"))
@schema_option("The report", "probe")
@options(json_option(group="The report"))
@option("--fail-on-finding", group="The report", is_flag=True, help="Exit with 1 if a probe finds something.")
@option("--dry-run", group="The run", is_flag=True, help="Print an estimate of the run; run nothing.")
def command(**given: Any) -> int:
    """Judge each case and a twin of it for each probe, and compare: a fair juror judges both alike.

    The twins are variants of a run like any other: it has the panel's rules, a budget, and resumes under its --run.
    The report says which verdicts changed, in which direction, and whether that is more than chance; and from the
    votes on the cases alone, whether seats favour their own model family, or long answers. docs/probes.md explains
    every probe, and what it does not prove.
    """
    from jury_cli.event_loops import note_line
    from jury_judge.extras import check_statistics
    from jury_judge.probing import PlannedProbe
    from jury_judge.runs.plan import loaded_panel
    from jury_judge.settings.run import ProbeSettings

    check_statistics("jury probe")
    display, as_json, dry_run, fail_on_finding = (given.pop(name) for name in _OF_THE_COMMAND)
    asked = ProbeSettings.of(**given)
    if not asked.paths:
        return _report(asked, as_json=as_json, fail_on_finding=fail_on_finding)
    loaded = loaded_panel(asked.run)
    stdin = standard_input(asked.paths)
    files = asked.files(asked.paths, artifact_hosts(), stdin=stdin, scale=loaded.panel.scale)
    probe = PlannedProbe(files, asked, loaded)
    for line in probe.check_twins():
        note_line(line)
    if dry_run:
        _dry_run(probe, as_json=as_json)
        return Exit.STOPPED if probe.unreadable.count else Exit.DONE
    probe.check_report()
    code = _judge_runs(probe, display)
    if code not in {Exit.DONE, Exit.NO_VERDICT}:
        return code
    reported = _report(probe.asked, as_json=as_json, fail_on_finding=fail_on_finding) or code
    for line in probe.unreadable.lines():
        note_line(line)
    return Exit.STOPPED if probe.unreadable.count else reported


def _dry_run(probe: "PlannedProbe", *, as_json: bool) -> None:
    from jury_cli.dry_run import dry_run

    if as_json and len(probe.runs) > 1:
        raise click.UsageError("--dry-run --json: speakers and marking have runs of their own; estimate them apart")
    for run in probe.runs:
        dry_run(probe.planned(run), as_json=as_json)


def _judge_runs(probe: "PlannedProbe", display: str) -> int:
    """Judge the runs one after the other, until one does not come to its end."""
    from jury_cli.results import Results, end_run
    from jury_cli.run import judge_run

    code = Exit.DONE
    outcomes: list[RunOutcome] = []
    for run in probe.runs:
        results = Results("none")
        outcome = judge_run(probe.planned(run, outcomes), Shown(display=display), results)
        # The rows of the files that were left out are named once, after the report.
        ended = end_run(run.run_id, results, outcome._replace(unreadable=None))
        if ended not in {Exit.DONE, Exit.NO_VERDICT}:
            return ended
        code = max(code, ended)
        outcomes.append(outcome)
    return code


def _report(asked: "ProbeSettings", *, as_json: bool, fail_on_finding: bool) -> int:
    """Print the report on the probes that were asked for; on all if none is named."""
    from jury_judge.records.votes import VoteReports
    from jury_views.probe_sections import probe_sections
    from jury_views.terminal.report_page import whole_page

    found = call(VoteReports(note, threads=False).probes(asked))
    sections = partial(probe_sections, found, asked.probes or found.absent)
    print_report(found.to_dict, lambda: whole_page(found.warnings, sections()), as_json=as_json)
    return Exit.FAILED_ON if fail_on_finding and found.found else Exit.DONE
