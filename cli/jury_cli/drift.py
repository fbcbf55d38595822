"""`jury drift`: has the judge changed? Labelled cases judged again and again."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import read_from
from jury_cli.exits import Exit
from jury_cli.option_groups import GroupedCommand, options
from jury_cli.options import STORE, artifact_hosts, fields, option, settings_of_file, standard_input
from jury_cli.run import DISPLAY

if TYPE_CHECKING:
    from jury_events.drift_facts import DriftCheck, DriftFacts
    from jury_judge.drift.recorded_baseline import RecordedBaseline
    from jury_views.drift_view import DriftReport


def _drift_id(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    from jury_judge.settings.drift import checked_drift_id

    try:
        return None if value is None else checked_drift_id(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} {error}", param=parameter) from None


_ID = click.argument("drift_id", metavar="ID", callback=_drift_id)
_JSON = option("--json", "as_json", group="Results", is_flag=True, help="Print one JSON object.")
_FILES = click.argument("paths", metavar="FILE...", nargs=-1, type=click.Path(path_type=str))
_JUDGING = ("What it may spend", "Which cases", "How case files are read", "Where debates run", "When the store fails")


@click.group("drift")
def command() -> None:
    """Find out whether the judge has changed, and not the agent: labelled cases are judged again and again.

    Cases with known labels (anchors) are judged several times under one panel: the baseline. A check judges them again:
    only a change of the judge can move them. The chance of a false alarm holds over all checks of a baseline together,
    however often one looks (docs/watch-for-drift.md).
    """


def _grouped(name: str, *headings: str, short: str) -> Callable[[Callable[..., Any]], click.Command]:
    return command.command(name, cls=GroupedCommand, headings=headings, short_help=short)


@_grouped(
    "plan",
    *("The plan", "What counts", "Jurors and rules", *_JUDGING[:3], "Results"),
    short="What would be found how soon, how long draws last, dollars.",
)
@options(
    (_FILES,),
    fields("DriftPlanSettings"),
    settings_of_file("DriftPlanSettings", "The plan"),
    (_JSON,),
)
def plan(*, paths: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Say what a baseline would find how soon, how long its draws last, and what it costs. Nothing is judged.

    How soon is computed with simulated judges and the bets of a check. FILE has the anchors, for the dollars.
    """
    from jury_judge.drift.baseline import plan_drift
    from jury_judge.runs.plan import loaded_panel
    from jury_judge.settings.drift import DriftPlanSettings
    from jury_views.drift_view import plan_report

    asked = DriftPlanSettings.of(paths=paths, **given)
    cases = None
    if paths:
        scale = loaded_panel(asked.run).panel.scale
        cases = asked.files(paths, artifact_hosts(), stdin=standard_input(paths), scale=scale)
    found = plan_drift(asked, cases)
    delays = [{**one._asdict(), "change": one.change._asdict()} for one in found.plan.delays]
    said = {**found.plan._asdict(), "delays": delays, "cost_a_judging": found.cost}
    _print(plan_report(found.plan, every=asked.every, cost=found.cost, by=found.priced_by), said if as_json else None)
    return Exit.DONE


@_grouped(
    "baseline",
    *("The baseline", "What counts", "The run", "Jurors and rules", *_JUDGING, "Results", "Seals"),
    short="Judge labelled cases several times, to compare with later.",
)
@options(
    (_ID, _FILES),
    fields("DriftBaselineSettings"),
    settings_of_file("DriftBaselineSettings", "The run"),
    (_JSON,),
    DISPLAY,
)
def baseline(*, as_json: bool, display: str, **given: Any) -> int:
    """Judge labelled cases, the anchors, several times: what a check compares with.

    Anchors, draws and rules are recorded under ID before the first judging; the same ID goes on, and needs no files
    then. With --daily a scheduler calls it once a day.
    """
    from jury_cli.streams import note
    from jury_judge.drift.baseline import DriftBaseline
    from jury_judge.runs.plan import loaded_panel
    from jury_judge.settings.drift import DriftBaselineSettings
    from jury_views.drift_view import baseline_report, drift_object

    asked = DriftBaselineSettings.of(**given)
    cases = loaded = None
    if asked.paths or asked.panel_name:
        loaded = loaded_panel(asked.of_run(asked.draws_run, 1))
    if asked.paths and loaded is not None:
        scale = loaded.panel.scale
        cases = asked.files(asked.paths, artifact_hosts(), stdin=standard_input(asked.paths), scale=scale)
    made, again = DriftBaseline(asked, cases, loaded), f"jury drift baseline {asked.drift_id} goes on from here"
    facts, code = _judged(made, made.open(), display, again)
    if code != Exit.DONE:
        return code
    if (day := made.waits_until(facts)) is not None:
        note(f"the next draw is due on {day}: {again}")
    _print(baseline_report(facts), drift_object(facts, checks=False) if as_json else None)
    return Exit.DONE


@_grouped(
    "check",
    *("The check", "The run", "Jurors", "What it may spend", "Where debates run", "When the store fails", "Results"),
    "Seals",
    short="Judge the anchors again: has the judge changed?",
)
@options(
    (_ID,),
    fields("DriftCheckSettings"),
    settings_of_file("DriftCheckSettings", "The run"),
    (_JSON,),
    DISPLAY,
)
def check(*, as_json: bool, display: str, **given: Any) -> int:
    """Judge the anchors again, and say who drifted: none, the judge, agent or traffic, or not decided yet.

    The pairs are recorded before the first call, and looked at once all of them have ended; a stopped check goes on
    with the same pairs. Exits with 0 where nothing was found, with 1 otherwise. Needs the store and the keys alone.
    """
    from jury_cli.streams import note
    from jury_judge.drift.check import DriftCheckRun
    from jury_judge.settings.drift import DriftCheckSettings
    from jury_views.drift_view import facts_words

    made = DriftCheckRun(DriftCheckSettings.of(**given))
    facts = made.open()
    for said in facts_words(made.first_facts(facts)):
        note(f"jury: {said}")
    again = f"jury drift check {facts.opened.drift_id} goes on with the same pairs"
    facts, code = _judged(made, facts, display, again)
    return code if code != Exit.DONE else _print_check(facts, facts.checks[-1], as_json=as_json)


def _print_check(facts: "DriftFacts", ended: "DriftCheck", *, as_json: bool) -> int:
    from jury_views.drift_view import check_object, check_report

    _print(check_report(facts, ended), check_object(facts, ended) if as_json else None)
    if ended.ended is None:
        return Exit.STOPPED
    return Exit.FAILED_ON if ended.ended.decision.found else Exit.DONE


def _print(report: "DriftReport", said: object) -> None:
    from jury_cli.terminal import page_console
    from jury_views.terminal.report_page import drift_page

    if said is None:
        drift_page(report).print(page_console())
    else:
        print(json.dumps(said, ensure_ascii=False, indent=2))


def _judged(made: "RecordedBaseline", facts: "DriftFacts", display: str, again: str) -> "tuple[DriftFacts, int]":
    """Judge what is due; the code is 0 where every debate is over, also without a verdict."""
    from jury_cli.options import close_with_command
    from jury_cli.results import Results, end_run
    from jury_cli.run import Shown, judge_run
    from jury_cli.streams import note

    outcome = None
    while (planned := made.due(facts)) is not None:
        if not facts.complete:
            note(f"draw {facts.sessions + 1} of {facts.planned}")
        close_with_command(planned.cases)
        results = Results("none")
        outcome = judge_run(planned, Shown(display=display), results, again=again).after(outcome)
        ended = end_run(planned.run.run_id, results, outcome)
        if not outcome.whole:
            return facts, ended or Exit.STOPPED
        facts = made.record(facts)
    return facts, Exit.DONE


@command.command("show", short_help="Show a baseline and its checks.")
@options((_ID, *STORE, _JSON))
@click.option("--check", "number", type=click.IntRange(1), metavar="N", help="This check alone.")
def show(*, drift_id: str, store_url: str | None, as_json: bool, number: int | None) -> int:
    """Show a baseline and its checks, or one check. Every decision is computed again from the recorded votes."""
    from jury_views.drift_view import baseline_report, drift_object

    facts = read_from(store_url, lambda records: records.drift(drift_id))
    if number is None:
        _print(baseline_report(facts), drift_object(facts) if as_json else None)
        return Exit.DONE
    if number > len(facts.checks):
        raise click.BadParameter(f"{number}: the baseline has {len(facts.checks)} checks", param_hint="--check")
    return _print_check(facts, facts.checks[number - 1], as_json=as_json)


@command.command("list", short_help="List the baselines, and what their last checks found.")
@options((*STORE, _JSON))
def list_(*, store_url: str | None, as_json: bool) -> int:
    """List the baselines of a store, and what their last checks found."""
    from jury_cli.streams import note
    from jury_views.drift_view import drift_object, list_report

    found = read_from(store_url, lambda records: records.drifts())
    if found or as_json:
        _print(list_report(found), [drift_object(one, checks=False) for one in found] if as_json else None)
    else:
        note("no baseline is in this store: jury drift baseline ID FILE... makes one")
    return Exit.DONE
