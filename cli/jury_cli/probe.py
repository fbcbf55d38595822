"""`jury probe`: judge twins of cases, and say what a fair jury would not do."""

import json
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call
from jury_cli.case_options import OPTIONAL_CASES, artifact_hosts, standard_input
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import (
    BUDGET,
    PANEL,
    PATIENCE,
    RUNTIME,
    SEALS,
    STORE,
    finite,
    new_run_id,
)
from jury_cli.settings_option import settings_option
from jury_cli.vote_options import LABELS
from jury_judge.settings.statistics import TOLERATED

if TYPE_CHECKING:
    from jury_judge.sessions.planned_probe import PlannedProbe
    from jury_judge.sessions.run_watch import RunOutcome
    from jury_judge.settings.run import ProbeSettings

_GROUPS = {
    "The probes": ("probes", "run_id", "store_url", "settings", "concurrency", "dry_run"),
    "The report": ("labels", "include_simulated", "tolerate", "as_json", "fail_on_finding"),
    "Jurors and rules": ("panel_name", "preset", "language", "max_rounds", "threshold", "method", "judge_model"),
    "What it may spend": ("max_cost", "max_calls", "prices"),
    "Which cases": ("limit", "case_ids", "where", "sample", "seed", "split"),
    "How case files are read": (
        *("fields", "mappings", "case_format", "rows", "question", "policy_file", "roles", "artifact_roots", "strict"),
    ),
    "Where debates run": (
        "in_process",
        "ray_address",
        "ray_open_cluster",
        "replicas",
        "coordinators",
        "simulate",
        "display",
    ),
    "Seals": ("seal_key", "seal_last", "seal_every"),
}
_RARE = (
    *(
        "preset",
        "prices",
        "seed",
        "split",
        "rows",
        "question",
        "policy_file",
        "roles",
        "artifact_roots",
        "strict",
        "store_patience",
    ),
    *("ray_open_cluster", "replicas", "coordinators", "simulate", "seal_key", "seal_last", "seal_every"),
)
"""Shown by `--help-all` alone, as of `jury run`."""

_OF_THE_COMMAND = ("display", "as_json", "dry_run", "fail_on_finding")
"""What is no setting of a probe."""

_ALL = "all"


def _probes(_context: click.Context, parameter: click.Parameter, text: Any) -> tuple[str, ...]:
    """Names of probes parted by commas; of a settings file a list."""
    from jury_events.nearest import did_you_mean
    from jury_judge.probes.registry import OF_ONE_MARKING, PROBES

    if text is None:
        return ()
    names = text if isinstance(text, tuple) else tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if names == (_ALL,):
        return OF_ONE_MARKING
    if _ALL in names:
        raise click.BadParameter(f"{_ALL} stands alone: it means every probe but marking", param=parameter)
    if unknown := [name for name in names if name not in PROBES]:
        hint = did_you_mean(unknown[0], [*PROBES, _ALL])
        raise click.BadParameter(
            f"{unknown[0]!r} is no probe{hint}; the probes are {', '.join(PROBES)}, or {_ALL}", param=parameter
        )
    return names


def _settings() -> "type[ProbeSettings]":
    from jury_judge.settings.run import ProbeSettings

    return ProbeSettings


@grouped("probe", _GROUPS, _RARE)
@options(OPTIONAL_CASES, settings_option(_settings, options_alone=True))
@click.option(
    "--probe",
    "probes",
    metavar="NAME,…",
    type=click.UNPROCESSED,
    callback=_probes,
    help="speakers, scenarios, records (their order), length, format, master-key (answers without content), injection, "
    "marking (injection, with judged text marked by lines and by words), identity (the agent's name); or all, "
    "without marking.",
)
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    callback=new_run_id,
    help="Names the run; the same id resumes it. Without files: report on this run.",
)
@click.option("--strict", is_flag=True, help="Refuse cases with parts that no juror would be shown.")
@options(PANEL, STORE)
@click.option("--concurrency", type=click.IntRange(1, 100_000), default=64, show_default=True, help="Debates at once.")
@options(LABELS)
@click.option("--include-simulated", is_flag=True, help="Count debates of simulated jurors too.")
@click.option(
    "--tolerate",
    type=click.FloatRange(0, 1, max_open=True),
    callback=finite,
    default=TOLERATED,
    show_default=True,
    help="Share of answers without content that a juror may pass before that is a finding.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option("--fail-on-finding", is_flag=True, help="Exit with 1 if a probe finds something.")
@click.option(
    "--display",
    type=click.Choice(["auto", "full", "plain", "none"]),
    default="auto",
    help="How progress is shown on stderr.",
)
@options(BUDGET, PATIENCE, SEALS)
@click.option("--dry-run", is_flag=True, help="Print an estimate of the run; run nothing.")
@options(RUNTIME)
def command(**given: Any) -> int:
    """Judge each case and a twin of it for each probe, and compare: a fair juror judges both alike.

    The twins are variants of a run like any other: it has the panel's rules, a budget, and resumes under its --run.
    The report says which verdicts changed, in which direction, and whether that is more than chance; and from the
    votes on the cases alone, whether seats favour their own model family, or long answers. docs/probes.md explains
    every probe, and what it does not prove.
    """
    from jury_cli.judging import note_line
    from jury_judge.extras import check_statistics
    from jury_judge.sessions.planned_probe import PlannedProbe
    from jury_judge.sessions.run_plan import loaded_panel
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
    from jury_cli.results import Results
    from jury_cli.run import Shown, judge_run
    from jury_cli.run_end import end_run

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
    from jury_cli.terminal import note, page_console
    from jury_judge.records.vote_reports import VoteReports
    from jury_views.terminal.probes import probes_page

    found = call(VoteReports(note, threads=False).probes(asked))
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        probes_page(found, asked.probes or found.absent).print(page_console())
    return Exit.FAILED_ON if fail_on_finding and found.found else Exit.DONE
