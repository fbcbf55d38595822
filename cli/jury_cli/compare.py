"""`jury compare`: two debates, or two runs, side by side."""

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE
from jury_cli.streams import note
from jury_cli.terminal import print_json, print_page
from jury_events.text import pluralize, visible_line

if TYPE_CHECKING:
    from jury_judge.comparisons.comparing import ComparedDebates, ComparedRuns, Kind
    from jury_judge.settings.statistics import Count
    from jury_views.tally import Named


@click.command("compare")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--kind",
    type=click.Choice(("debates", "runs")),
    help="What A and B are, where an id is both a debate's and a run's.",
)
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@click.option("--full", is_flag=True, help="Print every table with all its rows, not the first 20, as --json does.")
@click.option(
    "--fail-on",
    type=click.Choice(("flips",)),
    help="Exit with 1 when a case ended otherwise in B than in A, and name the cases on stderr.",
)
@click.option(
    "--count",
    type=click.Choice(("labels", "outcomes")),
    help="Of panels with a scale of their own, count its labels, or what they come to. [default: labels of runs in one "
    "scale, with --fail-on outcomes]",
)
@options(STORE)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(
    a: str,
    b: str,
    *,
    tables: tuple[str, ...],
    kind: "Kind | None",
    full: bool,
    fail_on: str | None,
    count: "Count | None",
    store_url: str | None,
    as_json: bool,
) -> int:
    """Put two debates, or two runs, of one store side by side.

    Debates: case, panel, result, and each seat's position in each round. Runs: joined by case, with the verdicts of
    both, agreement, flips, calls and cost, and the paired table with its tests. What differs is marked. Of runs in one
    scale of the panels' own labels are counted; with --fail-on, outcomes.

    Tables by name: of debates results, panels, positions; of runs flips, verdicts, results, panels, tests.
    """
    from jury_cli.options import chosen_tables
    from jury_cli.views.comparison import SHOWN, TABLES_OF_DEBATES, TABLES_OF_RUNS
    from jury_judge.comparisons.comparing import ComparedDebates

    count = count or ("outcomes" if fail_on else None)
    found = call(_compared(store_url, a, b, kind, flips=None if full or as_json else SHOWN, count=count))
    known = TABLES_OF_DEBATES if isinstance(found, ComparedDebates) else TABLES_OF_RUNS
    chosen, others = chosen_tables(tables, known, full=full, as_json=as_json)
    if others:
        raise click.UsageError(f"{visible_line(others[0], 80)} is no table; the tables are {', '.join(known)}")
    form = _Printed(chosen, whole=full, as_json=as_json)
    flips = _debates(found, count, form) if isinstance(found, ComparedDebates) else _runs(found, form)
    if fail_on is None or not flips.count:
        return Exit.DONE
    note(f"jury: {pluralize(flips.count, 'case')} ended otherwise in {b} than in {a}: {flips.names}")
    return Exit.FAILED_ON


async def _compared(
    store_url: str | None, a: str, b: str, kind: "Kind | None", *, flips: int | None, count: "Count | None"
) -> "ComparedDebates | ComparedRuns":
    async with stored(store_url) as records:
        return await records.compare(a, b, kind, flips=flips, count=count)


class _Printed(NamedTuple):
    """How a comparison is printed: these tables, () those of a first look; all rows; as JSON."""

    tables: tuple[str, ...]
    whole: bool
    as_json: bool


def _debates(found: "ComparedDebates", count: "Count | None", form: _Printed) -> "Named":
    from jury_cli.views.comparison import debates_page
    from jury_events.judgment import Decider
    from jury_judge.comparisons.comparing import debates_object
    from jury_views.tally import Named

    compared = found.compared
    if form.as_json:
        _print(debates_object(compared))
    else:
        print_page(debates_page(compared, form.tables, whole=form.whole))
    flips = Named()
    named = [
        side.decided_by
        if side.decided_by == Decider.NO_EVALUATION
        else (side.label if count == "labels" else None) or side.verdict or side.status
        for side in (compared.a, compared.b)
    ]
    if len(set(named)) > 1:
        flips.take(f"{visible_line(compared.b.case_id, 80)} ({_change(*named)})")
    return flips


def _runs(found: "ComparedRuns", form: _Printed) -> "Named":
    from jury_cli.views.comparison import runs_page
    from jury_judge.comparisons.comparing import runs_object
    from jury_views.tally import Named

    compared, paired, chosen = found.compared, found.paired, found.chosen
    if chosen.mixed or chosen.counted:
        note(chosen.mixed or f"the {chosen.counted} are counted")
    if form.as_json:
        table = runs_object(compared, found.panel, found.flips, found.chosen)
        _print({**table, "paired": None if paired is None else paired.to_dict()})
    else:
        print_page(runs_page(found, form.tables, whole=form.whole))
    if found.unpaired is not None:
        note(f"no paired table: {found.unpaired}")
    named = Named()
    for flip in compared.flips:
        named.take(f"{visible_line(flip.case_id, 80)} ({_change(flip.a.ended_as, flip.b.ended_as)})")
    return named


def _change(before: str, after: str) -> str:
    return f"{before} → {after}"


def _print(compared: dict[str, Any]) -> None:
    print_json(compared)
