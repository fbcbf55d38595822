"""`jury compare`: two debates, or two runs, side by side."""

import json
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.options import resolved_store, store_option
from jury_events.text.visible_text import visible_line

if TYPE_CHECKING:
    from jury_analysis.paired import Paired
    from jury_judge.comparisons.comparison_target import Kind
    from jury_store.event_store import EventStore
    from jury_views.reports.tally import Named


@click.command("compare")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--kind",
    type=click.Choice(("debates", "runs")),
    help="What A and B are, where an id is both a debate's and a run's.",
)
@click.option(
    "--all", "everything", is_flag=True, help="List every flip, case and difference, not the first 20, as --json does."
)
@click.option(
    "--fail-on",
    type=click.Choice(("flips",)),
    help="Exit with 1 when a case ended otherwise in B than in A, and name the cases on stderr.",
)
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(
    a: str,
    b: str,
    *,
    kind: "Kind | None",
    everything: bool,
    fail_on: str | None,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Put two debates, or two runs, of one store side by side.

    Debates: case, panel, result, and each seat's position in each round. Runs: joined by case, with the verdicts of
    both, agreement, flips, calls and cost, and the paired table with its tests. What differs is marked.
    """
    from jury_cli.terminal import note
    from jury_events.text.pluralize import pluralize
    from jury_judge.comparisons.comparison_target import kind_of
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=False)
    try:
        side_by_side = _debates if kind_of(store, a, b, kind) == "debates" else _runs
        flips = side_by_side(store, a, b, everything=everything, as_json=as_json)
    finally:
        store.close()
    if fail_on is None or not flips.count:
        return Exit.DONE
    note(f"jury: {pluralize(flips.count, 'case')} ended otherwise in {b} than in {a}: {flips.names}")
    return Exit.FAILED_ON


def _debates(store: "EventStore", a: str, b: str, *, everything: bool, as_json: bool) -> "Named":
    """Print two debates; returns the case if their ends differ."""
    from jury_cli.terminal import page_console
    from jury_cli.views.comparison import debates_page
    from jury_judge.comparisons.comparison import compare_debates
    from jury_judge.comparisons.comparison_object import debates_object
    from jury_judge.stores.debates import read_debate
    from jury_views.reports.tally import Named

    compared = compare_debates(read_debate(store, a), read_debate(store, b))
    if as_json:
        _print(debates_object(compared))
    else:
        debates_page(compared, everything=everything).print(page_console())
    flips = Named()
    sides = (compared.a, compared.b)
    if len({side.verdict or side.status for side in sides}) > 1:
        flips.take(
            f"{visible_line(compared.b.case_id, 80)} ({_change(*(side.verdict or side.status for side in sides))})"
        )
    return flips


def _runs(store: "EventStore", a: str, b: str, *, everything: bool, as_json: bool) -> "Named":
    """Print two runs; returns the cases whose ends differ."""
    from jury_cli.terminal import note, page_console
    from jury_cli.views.comparison import SHOWN, runs_page
    from jury_debate.recorded_panel import panel_differences
    from jury_judge.comparisons.comparison_object import runs_object
    from jury_judge.comparisons.run_comparison import compare_runs
    from jury_judge.stores.debates import panel_of, rows_of_run, same_case
    from jury_views.reports.tally import Named
    from jury_views.terminal.paired_runs import paired_section

    firsts = [store.debates(run_id=run_id, limit=1)[0].debate_id for run_id in (a, b)]
    panel = panel_differences(*(panel_of(store, debate) for debate in firsts))
    compared = compare_runs(a, rows_of_run(store, a), b, rows_of_run(store, b))
    listed = compared.flips if everything or as_json else compared.flips[:SHOWN]
    flips = [(flip, same_case(store, flip.a.debate_id, flip.b.debate_id)) for flip in listed]
    paired, reason = _paired(store, a, b)
    if as_json:
        _print({**runs_object(compared, panel, flips), "paired": None if paired is None else paired.to_dict()})
    else:
        page = runs_page(compared, panel, flips, everything=everything)
        if paired is not None:
            paired_section(page, paired)
        page.print(page_console())
    if paired is None:
        note(f"no paired table: {reason}")
    named = Named()
    for flip in compared.flips:
        named.take(f"{visible_line(flip.case_id, 80)} ({_change(flip.a.ended_as, flip.b.ended_as)})")
    return named


def _paired(store: "EventStore", a: str, b: str) -> "tuple[Paired | None, str]":
    """The paired table, or why there is none. Simulated debates count, with a warning."""
    from jury_analysis.errors import AnalysisError
    from jury_events.errors import DebateNotFound
    from jury_judge.errors import ExtraMissing
    from jury_judge.extras import check_statistics
    from jury_judge.statistics.run_reports import computed_gate

    try:
        check_statistics("the paired table of two runs")
        return computed_gate(store, a, b).paired, ""
    except (AnalysisError, DebateNotFound, ExtraMissing) as error:
        return None, str(error)


def _change(before: str, after: str) -> str:
    return f"{before} → {after}"


def _print(compared: dict[str, Any]) -> None:
    print(json.dumps(compared, ensure_ascii=False, indent=2))
