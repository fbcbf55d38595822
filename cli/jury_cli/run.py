"""`jury run` and `jury resume`: judge the cases of files, or what a store lists; here, or in a process of its own."""

import asyncio
import logging
import os
import sys
from collections.abc import Mapping
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from jury_cli.exits import Exit
from jury_cli.observation_options import LOG_LINES, LOOPBACK, METRICS, TOKEN, MetricsServer
from jury_cli.option_groups import Options, grouped, options
from jury_cli.options import (
    asked,
    close_with_command,
    fields,
    format_names,
    one_form,
    option,
    settings_of_file,
    standard_input,
)
from jury_cli.streams import LOG, check_stdout, note
from jury_cli.terminal import ProgressDisplay
from jury_events.text import pluralize
from jury_judge.log_lines import log_line

if TYPE_CHECKING:
    from jury_cli.results import Results
    from jury_judge.runs.plan import RunPlan
    from jury_judge.runs.run import RunOutcome
    from jury_judge.runs.session import JudgingSession
    from jury_judge.runs.supervision import EndedEarly


class Shown(NamedTuple):
    """How a run is shown while it is judged: what the command does, and no other door."""

    as_json: bool = False
    as_jsonl: bool = False
    display: str = "auto"
    verbose: bool = False
    metrics_port: int | None = None
    metrics_host: str = LOOPBACK


DISPLAY: Options = (
    option(
        "--display",
        group="Results",
        rare=True,
        type=click.Choice(["auto", "full", "plain", "none"]),
        default="auto",
        help="How progress is shown on stderr.",
    ),
)
"""`--display`."""
JSON_LINES: Options = (
    option(
        "--jsonl",
        "as_jsonl",
        group="Results",
        is_flag=True,
        help="Print one JSON result a line, in the order of the cases.",
    ),
    option("--json", "as_json", group="Results", rare=True, is_flag=True, help="Print one JSON list of results."),
)
"""`--jsonl`, `--json`."""


@grouped(
    "run",
    *("The run", "What it may spend", "Jurors and rules", "Results", "Calls in batches", "Which cases"),
    *("How case files are read", "Where debates run", "When the store fails", "What can be observed", "Seals"),
    ending=format_names,
)
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=str))
@options(fields("RunSettings"), JSON_LINES, DISPLAY, LOG_LINES, METRICS, settings_of_file("RunSettings", "The run"))
@option(
    "--verbose",
    group="Results",
    rare=True,
    is_flag=True,
    help="List for each case the parts that jurors are not shown.",
)
@option(
    "--detach",
    group="The run",
    is_flag=True,
    help="Go on without the terminal, and print the id of the run.",
)
@option("--dry-run", group="The run", is_flag=True, help="Print an estimate of the run; run nothing.")
@option("--list-only", group="The run", is_flag=True, help="Record the cases; `jury resume` judges them.")
def command(
    *,
    paths: tuple[str, ...],
    detach: bool,
    dry_run: bool,
    list_only: bool,
    **given: Any,
) -> int:
    """Judge the cases of files, folders, standard input (-), or a run (run:ID).

    The same --run again goes on with the run. `jury cases FILE` shows what jurors would be shown.
    """
    from jury_cli.results import Results, end_run
    from jury_judge.runs.plan import RunPlan, cases_of, panel_of_run
    from jury_judge.settings.run import RunSettings

    shown = Shown(**{name: given.pop(name) for name in Shown._fields})
    form = one_form(as_json=shown.as_json, as_jsonl=shown.as_jsonl)
    if form == "jsonl" and dry_run:
        raise click.UsageError("--dry-run prints no result lines: use --json instead of --jsonl")
    if list_only + detach + dry_run > 1:
        raise click.UsageError("--detach, --list-only and --dry-run exclude each other")
    settings = RunSettings.of(**asked(given))
    loaded = panel_of_run(settings)
    settings.check(loaded.panel.scale)
    cases = cases_of(settings, paths, stdin=standard_input(paths), scale=loaded.panel.scale)
    close_with_command(cases)
    planned = RunPlan(cases, settings, loaded=loaded)
    if detach:
        return _detach(planned, shown)
    if list_only:
        return _list(planned, keys=False, says_how=True)
    if dry_run:
        from jury_cli.dry_run import dry_run as print_estimate

        return print_estimate(planned, as_json=shown.as_json)
    results = Results(form, keep=settings.reports, reasons=settings.reasons == "on")
    with results:
        outcome = _judge_or_follow(planned, shown, results)
    return end_run(planned.run.run_id, results, outcome, settings)


def _judge_or_follow(planned: "RunPlan", shown: Shown, results: "Results") -> "RunOutcome":
    """Judge what is left of a run, or print its results as they come where a detached process does that."""
    from jury_judge.runs.supervision import detached_holder

    holder = None if planned.is_new else detached_holder(planned.store_url, planned.run.run_id)
    if holder is None:
        return judge_run(planned, shown, results)
    from jury_cli.results import follow_run

    return follow_run(planned, holder.process, results, shown.display)


def _detach(planned: "RunPlan", shown: Shown) -> int:
    """List a run to its end, and have another process judge it; returns once it does, or has ended."""
    from jury_judge.runs.resumed_run import check_for_cluster
    from jury_judge.runs.supervision import detached_holder

    run_id = planned.run.run_id
    if planned.settings.ray_address is not None:
        check_for_cluster(planned.settings)
    ways = (
        f"jury watch {run_id} shows it, jury cancel {run_id} ends it, jury resume {run_id} prints its results as they "
        "come"
    )
    if (holder := detached_holder(planned.store_url, run_id)) is not None:
        note(f"run {run_id} goes on in process {holder.process} already; {ways}")
        print(run_id)
        return Exit.DONE
    reopens = planned.cancellations()  # before it is listed: a later one counts
    if (code := _list(planned, keys=True)) != Exit.DONE:
        return code
    where, ended = _started(planned, shown._replace(display="plain")._asdict(), reopens)
    for line in [f"run {run_id} goes on in {where}", ways] if ended is None else ended.output.splitlines():
        note(line)
    code = Exit.DONE if ended is None else ended.code
    if code == Exit.DONE:
        print(run_id)
    for line in planned.cases.unreadable.lines():
        note(line)
    return Exit.STOPPED if code == Exit.DONE and planned.cases.unreadable.count else code


def _started(planned: "RunPlan", shown: Mapping[str, Any], reopens: int) -> "tuple[str, EndedEarly | None]":
    from jury_judge.runs.resumed_run import handed
    from jury_judge.runs.supervision import log_file, start_detached, start_on_cluster

    settings, url, run_id = planned.settings, planned.store_url, planned.run.run_id
    if settings.ray_address is None:
        pid, ended = start_detached(handed(planned, shown, reopens), url, run_id)
        return f"process {pid}, without this terminal; log: {log_file(url, run_id)}", ended
    from jury_cli.event_loops import ray_started

    with ray_started(settings.ray_address, open_cluster=settings.ray_open_cluster):
        ended = start_on_cluster(lambda address: handed(planned, shown, reopens, ray_address=address), url, run_id)
    return "a process of the cluster, without this terminal", ended


def _list(planned: "RunPlan", *, keys: bool, says_how: bool = False) -> int:
    """Record the cases of a run.

    Args:
        keys: the providers' keys have to be here.
        says_how: note how they are judged, and print the run's id.
    """
    from jury_cli.event_loops import event_loop, note_line, until_interrupted
    from jury_judge.runs.listed_run import list_run
    from jury_judge.runs.plan import remarks
    from jury_judge.runs.session import judging_session

    run_id = planned.run.run_id
    with judging_session(planned, note_line, keys=keys) as session, event_loop() as loop:
        for line in remarks(session.planned, session.checked):
            note_line(line)
        found, interrupted = loop.run(until_interrupted(lambda stopping: list_run(session, stopping)))
    if found is not None:
        more = "" if found.complete else "; the list is not complete, and the same command goes on with it"
        note_line(f"run {run_id}: {pluralize(found.listed, 'debate')} listed, {found.now:,} of them now{more}")
    if interrupted:
        return Exit.INTERRUPTED
    if says_how:
        note_line(f"jury resume {run_id} judges them, with the store and the providers' keys alone")
        print(run_id)
    return Exit.DONE


def judge_run(
    planned: "RunPlan", shown: Shown, results: "Results", *, detached: bool = False, again: str | None = None
) -> "RunOutcome":
    """Judge what is left of a run, and show it.

    Args:
        planned: the run.
        shown: how it is shown.
        results: takes the line of each debate.
        detached: this process belongs to no terminal.
        again: how the command goes on with it; None: with --run.
    """
    from jury_cli.event_loops import finishing, judging_loop, note_end, note_line, share_heap, until_interrupted
    from jury_judge.runs.plan import closing_remarks
    from jury_judge.runs.session import judging_session

    if planned.settings.batch:
        share_heap()
    run_id = planned.run.run_id
    resume_hint = again or f"the same command with --run {run_id} goes on from here"
    with (
        judging_session(planned, note_line, detached=detached) as session,
        closing(ProgressDisplay(run_id, shown.display)) as display,
        closing(MetricsServer(shown.metrics_port, shown.metrics_host, os.environ.get(TOKEN))) as metrics,
    ):
        checked = session.checked
        session.set_up(display, metrics.totals)
        _note_run(session, verbose=shown.verbose)
        log_line(
            LOG,
            logging.INFO,
            "run_started",
            f"run {run_id} begins",
            run=run_id,
            debates=checked.total,
            on_ray=not session.in_process,
        )

        async def judge(stopping: asyncio.Event) -> None:
            async with (
                metrics.serving(),
                aclosing(session.execute(stopping, on_usage=display.spent)) as lines,
            ):
                async for line in lines:
                    results.take(line)
                    # Printing stored results costs nothing; calls for results without a reader do.
                    if checked.left and results.taken != checked.total:
                        check_stdout(resume_hint)

        with judging_loop(planned.settings, on_ray=session.needs_ray, resume_hint=resume_hint) as loop:
            _, interrupted = loop.run(
                until_interrupted(judge, says=finishing(resume_hint), waits_for=session.waits_for)
            )
        for line in closing_remarks(planned, session.checked, whole=not interrupted):
            note_line(line)
        note_end(interrupted=interrupted, resume_hint=resume_hint, sealed=session.sealed)
        outcome = session.outcome(interrupted=interrupted, lines=results.taken)
        log_line(
            LOG,
            logging.INFO,
            "run_ended",
            f"run {run_id} ended: {outcome.now} judged now, {outcome.before} before",
            run=run_id,
            debates=outcome.total,
            judged=outcome.now,
            judged_before=outcome.before,
            unfinished=len(outcome.problems),
            interrupted=outcome.interrupted,
            seconds=round(outcome.seconds, 3),
        )
        return outcome


def _note_run(session: "JudgingSession", *, verbose: bool) -> None:
    """Whether models are called, the run's id where it was generated, and what is odd about the cases."""
    from jury_cli.event_loops import note_line
    from jury_judge.runs.plan import not_shown, remarks

    planned = session.planned
    if planned.loaded.is_simulated:
        note(
            "The jurors are simulated: rule-based readers. No model is called; their verdicts are no evaluation. For a "
            "real verdict set a provider's key, as ANTHROPIC_API_KEY, and give --model claude-haiku-5-5."
        )
    if planned.is_new:
        note(f"run {planned.run.run_id}")
    for line in remarks(session.planned, session.checked):
        note_line(line)
    for case_id, omissions in not_shown(session.checked) if verbose else ():
        note(f"case {case_id}: not shown: {omissions}")


@grouped(
    "resume",
    *("The run", "Results", "What it may spend", "Where debates run", "When the store fails", "What can be observed"),
    "Seals",
)
@click.argument("run_id", metavar="RUN")
@options(fields("RunSettings", "store_url"))
@option(
    "--panel",
    "panel_name",
    group="The run",
    metavar="FILE",
    help="The panel file of the run, where the log does not have all of how its models are reached.",
)
@option(
    "--again",
    group="The run",
    type=click.Choice(["no_evaluation"]),
    help="Judge again the cases whose debate ended without an evaluation; the first debate counts nowhere.",
)
@options(
    fields("RunSettings", "concurrency", "adopt", "trust", "store_patience", "otel", "require_drift_check"),
    JSON_LINES,
    DISPLAY,
    fields("Budget"),
    fields("SealSettings"),
    LOG_LINES,
    METRICS,
    fields("RuntimeSettings"),
)
@click.option(
    "--handed", is_flag=True, hidden=True, help="Read the settings from standard input, as `--detach` gives them."
)
def resume(*, run_id: str, again: Literal["no_evaluation"] | None, handed: bool, **given: Any) -> int:
    """Judge what is listed in the store and not over, under the panel that the run was opened with.

    Needs the store and the keys of the providers alone: no file, and not the machine where the run began. Prints the
    results of the run, as the command that began it does.
    """
    from jury_cli.results import Results, end_run
    from jury_judge.runs.resumed_run import resumed_run
    from jury_judge.settings.run import RunSettings

    if handed:
        return _judge_handed()
    shown = Shown(**{name: given.pop(name) for name in Shown._fields if name in given})
    form = one_form(as_json=shown.as_json, as_jsonl=shown.as_jsonl)
    settings = RunSettings.of(run_id=run_id, **given)
    planned = resumed_run(settings, again=again)
    close_with_command(planned.cases)
    results = Results(form, keep=False)
    with results:
        outcome = _judge_or_follow(planned, shown, results)
    return end_run(run_id, results, outcome, settings)


def _judge_handed() -> int:
    """Judge a run for a command that listed it and ended."""
    from jury_cli.results import Results, end_run
    from jury_judge.runs.resumed_run import Handed

    found = Handed.of(sys.stdin.buffer.read())
    planned, settings = found.planned(), found.settings
    close_with_command(planned.cases)
    results = Results("none", keep=settings.reports, reasons=settings.reasons == "on")
    with results:
        outcome = judge_run(planned, Shown(**found.shown), results, detached=True)
    return end_run(planned.run.run_id, results, outcome, settings)
