"""`jury drift`: has the judge changed? Labelled cases judged again and again."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import read_from
from jury_cli.case_options import OPTIONAL_CASES, artifact_hosts, standard_input
from jury_cli.exits import Exit
from jury_cli.option_groups import GroupedCommand, options
from jury_cli.options import BUDGET, PANEL, PATIENCE, RUNTIME, SEALS, STORE, finite
from jury_cli.settings_option import settings_option
from jury_events.ids import RUN_ID
from jury_judge.settings.drift import ALPHA, DRAWS

if TYPE_CHECKING:
    from jury_events.drift_facts import DriftCheck, DriftFacts
    from jury_judge.drift.baseline import DriftBaseline
    from jury_judge.drift.check import DriftCheckRun
    from jury_judge.sessions.run_plan import RunPlan
    from jury_judge.settings.drift import DriftBaselineSettings, DriftCheckSettings, DriftPlanSettings

_READING = ("fields", "mappings", "case_format", "rows", "question", "policy_file", "roles", "artifact_roots")
_PLACE = ("in_process", "ray", "ray_address", "ray_open_cluster", "replicas", "coordinators", "simulate", "display")
_SEALS = ("seal_key", "seal_last", "seal_every")
_RULES = ("panel_name", "seat_models", "preset", "language", "max_rounds", "threshold", "method", "judge_model")
_CASES = ("limit", "case_ids", "where", "sample", "seed", "split", "skip_unreadable")
_SPENT = ("max_cost", "max_calls", "prices")
_RARE = (*_READING, *_PLACE[1:], *_SEALS, "prices", "seed", "split", "skip_unreadable", "store_patience", "toss")


def _drift_id(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    from jury_judge.settings.drift import checked_drift_id

    try:
        return None if value is None else checked_drift_id(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} {error}", param=parameter) from None


def _run_name(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    import re

    if value is not None and not re.fullmatch(RUN_ID, value):
        raise click.BadParameter(f"{value!r} is not the id of a run; `jury runs` lists them", param=parameter)
    return value


def _name(help_: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option("--id", "drift_id", metavar="ID", required=True, callback=_drift_id, help=help_)


_ID = click.argument("drift_id", metavar="ID", callback=_drift_id)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_ALPHA = click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=ALPHA,
    show_default=True,
    callback=finite,
    help="Chance of a false alarm over the life of the baseline.",
)
_BALANCED = click.option(
    "--balanced/--not-balanced",
    default=True,
    show_default=True,
    help="Look for changes that balance too: each later judging then uses up two draws.",
)
_REPLENISH = click.option(
    "--replenish",
    type=click.IntRange(0, 99),
    default=0,
    show_default=True,
    help="Judge each anchor so many more times, for the end of the queue of draws.",
)
_CONCURRENCY = click.option(
    "--concurrency", type=click.IntRange(1, 100_000), default=64, show_default=True, help="Debates at once."
)
_DISPLAY = click.option(
    "--display",
    type=click.Choice(["auto", "full", "plain", "none"]),
    default="auto",
    help="How progress is shown on stderr.",
)


@click.group("drift")
def command() -> None:
    """Find out whether the judge has changed, and not the agent: labelled cases are judged again and again.

    Cases with known labels (anchors) are judged several times under one panel: the baseline. A check judges them again:
    only a change of the judge can move them. The chance of a false alarm holds over all checks of a baseline together,
    however often one looks (docs/watch-for-drift.md).
    """


def _baseline_settings() -> "type[DriftBaselineSettings]":
    from jury_judge.settings.drift import DriftBaselineSettings

    return DriftBaselineSettings


def _check_settings() -> "type[DriftCheckSettings]":
    from jury_judge.settings.drift import DriftCheckSettings

    return DriftCheckSettings


def _plan_settings() -> "type[DriftPlanSettings]":
    from jury_judge.settings.drift import DriftPlanSettings

    return DriftPlanSettings


def _grouped(
    name: str, groups: dict[str, tuple[str, ...]], short: str
) -> Callable[[Callable[..., Any]], click.Command]:
    return command.command(name, cls=GroupedCommand, groups=groups, rare=frozenset(_RARE), short_help=short)


@_grouped(
    "plan",
    {
        "The plan": ("anchors", "draws", "pairs", "replenish", "balanced", "alpha", "every", "as_json"),
        "Jurors and rules": _RULES,
        "Which cases": _CASES,
        "How case files are read": _READING,
    },
    "What would be found how soon, how long draws last, dollars.",
)
@options(OPTIONAL_CASES, settings_option(_plan_settings, options_alone=True))
@click.option("--anchors", type=click.IntRange(1, 10_000), help="How many. [default: as many as FILE has, else 100]")
@click.option("--draws", type=click.IntRange(1, 1000), default=DRAWS, show_default=True, help="Judgings of each.")
@click.option("--pairs", type=click.IntRange(1, 10_000), help="Anchors that a check judges. [default: all]")
@options((_REPLENISH, _BALANCED, _ALPHA))
@click.option(
    "--every",
    type=click.FloatRange(0, 366, min_open=True),
    callback=finite,
    default=7.0,
    show_default=True,
    metavar="DAYS",
    help="Days between checks.",
)
@options(PANEL)
@click.option("--prices", metavar="FILE", help="Prices of models (TOML), before the list prices. [$JURY_PRICES]")
@options((_JSON,))
def plan(*, paths: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Say what a baseline would find how soon, how long its draws last, and what it costs. Nothing is judged.

    How soon is computed with simulated judges and the bets of a check. FILE has the anchors, for the dollars.
    """
    from jury_cli.terminal import page_console
    from jury_judge.drift.planning import plan_drift
    from jury_judge.sessions.run_plan import loaded_panel
    from jury_judge.settings.drift import DriftPlanSettings
    from jury_views.terminal.drift import plan_page

    asked = DriftPlanSettings.of(paths=paths, **given)
    cases = None
    if paths:
        scale = loaded_panel(asked.run).panel.scale
        cases = asked.files(paths, artifact_hosts(), stdin=standard_input(paths), scale=scale)
    found = plan_drift(asked, cases)
    if as_json:
        delays = [{**one._asdict(), "change": one.change._asdict()} for one in found.plan.delays]
        print(json.dumps({**found.plan._asdict(), "delays": delays, "cost_a_judging": found.cost}, indent=2))
    else:
        plan_page(found.plan, every=asked.every, cost=found.cost, priced_by=found.priced_by).print(page_console())
    return Exit.DONE


@_grouped(
    "baseline",
    {
        "The baseline": ("drift_id", "store_url", "settings", "draws", "daily", "concurrency", "as_json"),
        "What counts": ("balanced", "toss", "alpha", "stream_run", "stratum"),
        "Jurors and rules": _RULES,
        "What it may spend": _SPENT,
        "Which cases": _CASES,
        "How case files are read": _READING,
        "Where debates run": _PLACE,
        "Seals": _SEALS,
    },
    "Judge labelled cases several times, to compare with later.",
)
@options(OPTIONAL_CASES, settings_option(_baseline_settings, options_alone=True))
@_name("Names the baseline; the same id goes on with it, and needs no files then.")
@click.option(
    "--draws",
    type=click.IntRange(1, 1000),
    help=f"Judgings of each anchor; a larger number adds some. [default: {DRAWS}]",
)
@click.option("--daily", is_flag=True, help="One draw a day: each call judges the one that is due.")
@options((_BALANCED,))
@click.option(
    "--toss",
    type=click.Choice(["pair", "check"]),
    default="pair",
    show_default=True,
    help="What counts once: each pair; or each check by its majority, where judges vary from day to day.",
)
@options((_ALPHA,))
@click.option(
    "--run",
    "stream_run",
    metavar="RUN",
    callback=_run_name,
    help="A run of the agent's own cases: later runs are compared with it.",
)
@click.option("--stratum", metavar="FIELD", help="Pair its cases within a field, as cluster or metadata.intent.")
@options(PANEL, STORE, (_CONCURRENCY, _JSON, _DISPLAY), BUDGET, PATIENCE, SEALS, RUNTIME)
def baseline(*, as_json: bool, display: str, **given: Any) -> int:
    """Judge labelled cases, the anchors, several times: what a check compares with.

    Anchors, draws and rules are recorded before the first judging. With --daily a scheduler calls it once a day.
    """
    from jury_judge.drift.baseline import DriftBaseline
    from jury_judge.sessions.run_plan import loaded_panel
    from jury_judge.settings.drift import DriftBaselineSettings

    asked = DriftBaselineSettings.of(**given)
    paths, cases, loaded = asked.paths, None, None
    if paths:
        loaded = loaded_panel(asked.of_run(f"{asked.drift_id}.draws", 1))
        cases = asked.files(paths, artifact_hosts(), stdin=standard_input(paths), scale=loaded.panel.scale)
    return _judge_baseline(DriftBaseline(asked, cases, loaded), display, as_json=as_json)


def _judge_baseline(made: "DriftBaseline", display: str, *, as_json: bool) -> int:
    from jury_cli.terminal import note, page_console
    from jury_views.drift_view import drift_object
    from jury_views.terminal.drift import drift_page

    facts = made.open()
    name = facts.opened.drift_id
    again = f"jury drift baseline --id {name} goes on from here"
    while (planned := made.session(facts)) is not None:
        note(f"draw {facts.sessions + 1} of {facts.planned}")
        code = _judge(planned, display, again)
        if code != Exit.DONE:
            return code
        facts = made.record(facts)
    if (day := made.waits_until(facts)) is not None:
        note(f"the next draw is due on {day}: {again}")
    if as_json:
        print(json.dumps(drift_object(facts, checks=False), ensure_ascii=False, indent=2))
    else:
        drift_page(facts).print(page_console())
    return Exit.DONE


@_grouped(
    "check",
    {
        "The check": ("store_url", "settings", "pairs", "replenish", "stream_run", "concurrency", "as_json"),
        "Jurors": ("panel_name",),
        "What it may spend": _SPENT,
        "Where debates run": _PLACE,
        "Seals": _SEALS,
    },
    "Judge the anchors again: has the judge changed?",
)
@options((_ID,), settings_option(_check_settings, options_alone=True))
@click.option("--pairs", type=click.IntRange(1, 10_000), help="So many anchors, judged least often. [default: all]")
@options((_REPLENISH,))
@click.option(
    "--run",
    "stream_run",
    metavar="RUN",
    callback=_run_name,
    help="A run of the agent's own cases, judged by the same panel: did the agent change, or its judge?",
)
@click.option(
    "--panel",
    "panel_name",
    metavar="FILE",
    help="The panel file, where the log does not have all of how its models are reached.",
)
@options(STORE, (_CONCURRENCY, _JSON, _DISPLAY), BUDGET, PATIENCE, SEALS, RUNTIME)
def check(*, as_json: bool, display: str, **given: Any) -> int:
    """Judge the anchors again, and say who drifted: none, the judge, agent or traffic, or not decided yet.

    The pairs are recorded before the first call, and looked at once all of them have ended; a stopped check goes on
    with the same pairs. Exits with 0 where nothing was found, with 1 otherwise. Needs the store and the keys alone.
    """
    from jury_judge.drift.check import DriftCheckRun
    from jury_judge.settings.drift import DriftCheckSettings

    return _judge_check(DriftCheckRun(DriftCheckSettings.of(**given)), display, as_json=as_json)


def _judge_check(made: "DriftCheckRun", display: str, *, as_json: bool) -> int:
    from jury_cli.terminal import note
    from jury_views.drift_view import fact_words

    facts = made.begin()
    for fact in made.first_facts(facts):
        note(f"jury: {fact_words(fact)}")
    code = _judge(made.plan(facts), display, f"jury drift check {facts.opened.drift_id} goes on with the same pairs")
    if code != Exit.DONE:
        return code
    made.end()
    facts = made.facts()
    return _print_check(facts, facts.checks[-1], as_json=as_json)


def _print_check(facts: "DriftFacts", ended: "DriftCheck", *, as_json: bool) -> int:
    from jury_cli.terminal import page_console
    from jury_views.drift_view import check_object
    from jury_views.terminal.drift import check_page

    if as_json:
        print(json.dumps(check_object(facts, ended), ensure_ascii=False, indent=2))
    else:
        check_page(facts, ended).print(page_console())
    if ended.ended is None:
        return Exit.STOPPED
    return Exit.FAILED_ON if ended.ended.decision.found else Exit.DONE


def _judge(planned: "RunPlan", display: str, again: str) -> int:
    """Judge a run to its end; its code is 0 where every debate is over, also without a verdict."""
    from jury_cli.case_options import close_with_command
    from jury_cli.results import Results
    from jury_cli.run import Shown, judge_run
    from jury_cli.run_end import end_run

    close_with_command(planned.cases)
    results = Results("none")
    outcome = judge_run(planned, Shown(display=display), results, again=again)
    ended = end_run(planned.run.run_id, results, outcome)
    return Exit.DONE if outcome.whole else ended or Exit.STOPPED


@command.command("show", short_help="Show a baseline and its checks.")
@options((_ID, *STORE, _JSON))
@click.option("--check", "number", type=click.IntRange(1), metavar="N", help="This check alone.")
def show(*, drift_id: str, store_url: str | None, as_json: bool, number: int | None) -> int:
    """Show a baseline and its checks, or one check. Every decision is computed again from the recorded votes."""
    from jury_cli.terminal import page_console
    from jury_views.drift_view import drift_object
    from jury_views.terminal.drift import drift_page

    facts = read_from(store_url, lambda records: records.drift(drift_id))
    if number is not None:
        if number > len(facts.checks):
            raise click.BadParameter(f"{number}: the baseline has {len(facts.checks)} checks", param_hint="--check")
        _print_check(facts, facts.checks[number - 1], as_json=as_json)
    elif as_json:
        print(json.dumps(drift_object(facts), ensure_ascii=False, indent=2))
    else:
        drift_page(facts).print(page_console())
    return Exit.DONE


@command.command("list", short_help="List the baselines, and what their last checks found.")
@options((*STORE, _JSON))
def list_(*, store_url: str | None, as_json: bool) -> int:
    """List the baselines of a store, and what their last checks found."""
    from jury_cli.terminal import note, page_console
    from jury_views.drift_view import drift_object
    from jury_views.terminal.drift import list_page

    found = read_from(store_url, lambda records: records.drifts())
    if as_json:
        print(json.dumps([drift_object(one, checks=False) for one in found], ensure_ascii=False, indent=2))
    elif found:
        list_page(found).print(page_console())
    else:
        note("no baseline is in this store: jury drift baseline FILE... --id ID makes one")
    return Exit.DONE
