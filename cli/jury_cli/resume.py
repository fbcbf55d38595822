"""`jury resume`: go on with a run from its store, without its files."""

import sys
from typing import Any, Literal

import click

from jury_cli.case_options import close_with_command
from jury_cli.observation_options import LOG_LINES, METRICS
from jury_cli.option_groups import grouped, options
from jury_cli.options import fields, option
from jury_cli.run import DISPLAY, JSON_LINES, Shown


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
def command(*, run_id: str, again: Literal["no_evaluation"] | None, handed: bool, **given: Any) -> int:
    """Judge what is listed in the store and not over, under the panel that the run was opened with.

    Needs the store and the keys of the providers alone: no file, and not the machine where the run began. Prints the
    results of the run, as the command that began it does.
    """
    from jury_cli.results import Results, end_run
    from jury_cli.run import judge_or_follow
    from jury_judge.runs.resumed_run import resumed_run
    from jury_judge.settings.run import RunSettings

    if handed:
        return _judge_handed()
    shown = Shown(**{name: given.pop(name) for name in Shown._fields if name in given})
    form = shown.form
    settings = RunSettings.of(run_id=run_id, **given)
    planned = resumed_run(settings, again=again)
    close_with_command(planned.cases)
    results = Results(form, keep=False)
    with results:
        outcome = judge_or_follow(planned, shown, results)
    return end_run(run_id, results, outcome, settings)


def _judge_handed() -> int:
    """Judge a run for a command that listed it and ended."""
    from jury_cli.results import Results, end_run
    from jury_cli.run import judge_run
    from jury_judge.runs.resumed_run import Handed

    found = Handed.of(sys.stdin.buffer.read())
    planned, settings = found.planned(), found.settings
    close_with_command(planned.cases)
    results = Results("none", keep=settings.reports, reasons=settings.reasons == "on")
    with results:
        outcome = judge_run(planned, Shown(**found.shown), results, detached=True)
    return end_run(planned.run.run_id, results, outcome, settings)
