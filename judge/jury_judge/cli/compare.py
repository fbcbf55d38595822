"""`jury compare`: two debates, or two runs, side by side."""

import json
from typing import TYPE_CHECKING, Any

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import resolved_store, store_option

if TYPE_CHECKING:
    from jury_judge.kinds import Kind
    from jury_store.event_store import EventStore


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
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(a: str, b: str, *, kind: "Kind | None", everything: bool, store_url: str | None, as_json: bool) -> int:
    """Put two debates, or two runs, of one store side by side.

    Debates: case, panel, result, and each seat's position in each round. Runs: joined by case, with the verdicts of
    both, agreement, flips, calls and cost. What differs is marked.
    """
    from jury_judge.kinds import kind_of
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=False)
    try:
        if kind_of(store, a, b, kind) == "debates":
            return _debates(store, a, b, everything=everything, as_json=as_json)
        return _runs(store, a, b, everything=everything, as_json=as_json)
    finally:
        store.close()


def _debates(store: "EventStore", a: str, b: str, *, everything: bool, as_json: bool) -> Exit:
    from jury_judge.cli.terminal import page_console
    from jury_judge.comparison import compare_debates
    from jury_judge.debates import read_debate
    from jury_judge.views.comparison_object import debates_object
    from jury_judge.views.comparison_view import debates_page

    compared = compare_debates(read_debate(store, a), read_debate(store, b))
    if as_json:
        _print(debates_object(compared))
    else:
        debates_page(compared, everything=everything).print(page_console())
    return Exit.DONE


def _runs(store: "EventStore", a: str, b: str, *, everything: bool, as_json: bool) -> Exit:
    from jury_debate.recorded_panel import panel_differences
    from jury_judge.cli.terminal import page_console
    from jury_judge.debates import panel_of, rows_of_run, same_case
    from jury_judge.run_comparison import compare_runs
    from jury_judge.views.comparison_object import runs_object
    from jury_judge.views.comparison_view import SHOWN, runs_page

    firsts = [store.debates(run_id=run_id, limit=1)[0].debate_id for run_id in (a, b)]
    panel = panel_differences(*(panel_of(store, debate) for debate in firsts))
    compared = compare_runs(a, rows_of_run(store, a), b, rows_of_run(store, b))
    listed = compared.flips if everything or as_json else compared.flips[:SHOWN]
    flips = [(flip, same_case(store, flip.a.debate_id, flip.b.debate_id)) for flip in listed]
    if not as_json:
        runs_page(compared, panel, flips, everything=everything).print(page_console())
        return Exit.DONE
    _print(runs_object(compared, panel, flips))
    return Exit.DONE


def _print(compared: dict[str, Any]) -> None:
    print(json.dumps(compared, ensure_ascii=False, indent=2))
