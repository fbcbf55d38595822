"""`jury probe`: judge twins of cases, and say what a fair jury would not do."""

import json
from dataclasses import replace
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
from jury_events.errors import SettingError
from jury_judge.settings.vote_defaults import TOLERATED

if TYPE_CHECKING:
    from jury_judge.runs.run import CaseSource, Run
    from jury_judge.sessions.planned_run import PlannedRun
    from jury_judge.sessions.run_session import RunOutcome
    from jury_judge.settings.probe import ProbeSettings
    from jury_judge.settings.run import RunSettings

_GROUPS = {
    "The probes": ("probes", "run_id", "store_url", "settings", "concurrency", "dry_run"),
    "The report": ("labels", "include_simulated", "tolerate", "as_json", "fail_on_finding"),
    "Jurors and rules": ("panel_name", "preset", "language", "max_rounds", "threshold", "method", "judge_model"),
    "What it may spend": ("max_cost", "max_calls", "prices"),
    "Which cases": ("limit", "case_ids", "where", "sample", "seed", "split"),
    "How case files are read": (
        *("fields", "mappings", "case_format", "rows", "policy_file", "artifact_roots", "strict"),
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
_ALL = "all"


def _probes(_context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Names of probes parted by commas."""
    from jury_events.nearest import did_you_mean
    from jury_judge.probes.registry import PROBES

    if text is None:
        return ()
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if names == (_ALL,):
        return tuple(PROBES)
    if _ALL in names:
        raise click.BadParameter(f"{_ALL} stands alone: it means every probe", param=parameter)
    if unknown := [name for name in names if name not in PROBES]:
        hint = did_you_mean(unknown[0], [*PROBES, _ALL])
        raise click.BadParameter(
            f"{unknown[0]!r} is no probe{hint}; the probes are {', '.join(PROBES)}, or {_ALL}", param=parameter
        )
    return names


def _settings() -> "type[RunSettings]":
    from jury_judge.settings.run import RunSettings

    return RunSettings


@grouped("probe", _GROUPS)
@options(OPTIONAL_CASES, settings_option(_settings, options_alone=True))
@click.option(
    "--probe",
    "probes",
    metavar="NAME,…",
    callback=_probes,
    help="speakers, scenarios, records (their order), length, format, master-key (answers without content), injection, "
    "identity (the agent's name); or all.",
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
    from jury_judge.extras import check_statistics
    from jury_judge.sessions.planned_run import PlannedRun
    from jury_judge.settings.probe import ProbeSettings
    from jury_judge.settings.run import RunSettings

    check_statistics("jury probe")
    fail_on_finding: bool = given.pop("fail_on_finding")
    wanted = {name: given.pop(name) for name in ("labels", "include_simulated", "tolerate", "probes")}
    asked_of = ProbeSettings.of(paths=given["paths"], run_id=given["run_id"], store_url=given["store_url"], **wanted)
    if not asked_of.paths:
        return _report(asked_of, as_json=given["as_json"], fail_on_finding=fail_on_finding)
    display, as_json, dry_run = (given.pop(name) for name in ("display", "as_json", "dry_run"))
    paths = given.pop("paths")
    settings = RunSettings.of(**given)
    planned = PlannedRun(settings.files(paths, artifact_hosts(), stdin=standard_input(paths)), settings)
    runs = _runs(planned, asked_of.probes)
    _check_twins(planned.run.cases, asked_of.probes)
    if dry_run:
        _dry_run(planned, runs, as_json=as_json)
        return Exit.DONE
    code = _judge_runs(planned, runs, display)
    if code not in {Exit.DONE, Exit.NO_VERDICT}:
        return code
    reported = asked_of.model_copy(update={"run_id": planned.run.run_id})
    return _report(reported, as_json=as_json, fail_on_finding=fail_on_finding) or code


def _check_twins(cases: "CaseSource", probes: tuple[str, ...]) -> None:
    """Note the probes without a twin before anything is judged; refuse if none has one."""
    from jury_cli.judging import note_line
    from jury_judge.probes.registry import absent_twins
    from jury_judge.runs.preflight import PREFLIGHT_SECONDS

    absent = absent_twins(cases, probes, seconds=PREFLIGHT_SECONDS)
    lines = absent.lines()
    if absent.probes == probes:
        raise SettingError(f"--probe: {'; '.join(lines)}; name other probes")
    for line in lines:
        note_line(line)


def _runs(planned: "PlannedRun", probes: tuple[str, ...]) -> "list[Run]":
    """The run of the cases and their twins; and that of the twins of `speakers`, whose panel is another."""
    from jury_judge.probes.registry import SPEAKERS, twins_alone, with_twins
    from jury_judge.probes.reversed_seats import reversed_seats
    from jury_judge.statistics.probe_reports import speakers_run

    run, others = planned.run, [probe for probe in probes if probe != SPEAKERS]
    first = replace(run, cases=with_twins(run.cases, others))
    if SPEAKERS not in probes:
        return [first]
    second = replace(
        first,
        run_id=_checked_id(speakers_run(run.run_id)),
        resolved=reversed_seats(run.resolved),
        cases=twins_alone(run.cases, SPEAKERS),
    )
    return [first, second]


def _checked_id(run_id: str) -> str:
    from jury_events.ids import is_run_id

    if not is_run_id(run_id):
        raise click.UsageError(f"--run: the run {run_id} of the speakers' twins would have too long an id; shorten it")
    return run_id


def _dry_run(planned: "PlannedRun", runs: "list[Run]", *, as_json: bool) -> None:
    from jury_cli.dry_run import dry_run

    if as_json and len(runs) > 1:
        raise click.UsageError("--dry-run --json: the twins of speakers are a run of their own; estimate them apart")
    for run in runs:
        dry_run(planned.over(run), as_json=as_json)


def _judge_runs(planned: "PlannedRun", runs: "list[Run]", display: str) -> int:
    """Judge the runs one after the other, until one does not come to its end."""
    from jury_cli.results import Results
    from jury_cli.run import Shown, judge_run
    from jury_cli.run_end import end_run

    code = Exit.DONE
    left = planned.settings
    for run in runs:
        results = Results("none")
        outcome = judge_run(planned.over(run, left), Shown(display=display), results)
        ended = end_run(run.run_id, results, outcome)
        if ended not in {Exit.DONE, Exit.NO_VERDICT}:
            return ended
        code = max(code, ended)
        left = _after(left, outcome)
    return code


def _after(asked: "RunSettings", outcome: "RunOutcome") -> "RunSettings":
    """The settings for the next run: its budget is what the first one left."""
    spent = [one for one in (outcome.spent, outcome.spent_before) if one is not None]
    calls, cost = sum(one.calls for one in spent), sum(one.cost for one in spent)
    return asked.changed(
        max_calls=None if asked.max_calls is None else max(0, asked.max_calls - calls),
        max_cost=None if asked.max_cost is None else max(0.0, asked.max_cost - cost),
    )


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
