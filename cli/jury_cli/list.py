"""`jury list`: the debates of a store."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.list_options import chosen_options, order, ordered_options, wanted
from jury_cli.options import group_option, resolved_store, store_option
from jury_events.text.timestamps import moment

if TYPE_CHECKING:
    from jury_judge.comparisons.excerpts import Excerpt
    from jury_store.debate_rows import DebateFilter, DebateRow
    from jury_store.event_store import EventStore
    from jury_store.list_order import PageCursor, SortOrder

    Lines = Iterator[tuple[DebateRow, Excerpt | None]]

_PAGE = 1000


@click.command("list")
@chosen_options
@group_option
@click.option("--totals", is_flag=True, help="Print what all of them come to instead of the debates.")
@ordered_options
@click.option("--columns", metavar="NAMES", help="Print these columns, parted by commas, with tabs and a heading.")
@click.option("--runs", "of_runs", is_flag=True, help="List the runs instead.")
@click.option("--limit", type=click.IntRange(min=1), help="At most N lines. [default: all]")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of objects, of --group-by and --totals one.")
def command(**options: Any) -> int:
    """List debates, the newest first, or count them by a field of their cases."""
    return _list(wanted(options), order(options), **options)


def _list(
    chosen: "DebateFilter",
    sorted_by: "SortOrder",
    *,
    group_by: str | None,
    totals: bool,
    columns: str | None,
    of_runs: bool,
    limit: int | None,
    store_url: str | None,
    as_json: bool,
) -> int:
    from jury_cli.views.list_columns import parse_columns
    from jury_store.opening import open_store

    _check_together(chosen, group_by, totals=totals, columns=columns, of_runs=of_runs, limit=limit, as_json=as_json)
    names = None if columns is None else parse_columns(columns)
    store = open_store(resolved_store(store_url), write=False)
    try:
        if of_runs:
            found = _print_runs(store, limit, as_json=as_json)
        elif totals:
            found = _print_totals(store, chosen, as_json=as_json)
        elif group_by:
            found = _print_groups((row for row, _ in _rows(store, chosen, sorted_by, None)), group_by, as_json=as_json)
        else:
            found = _print(_rows(store, chosen, sorted_by, limit), names, as_json=as_json)
        _note_what_is_left_out(store, chosen, of_runs=of_runs)
        if not found and not as_json:
            _note_none(store, chosen, of_runs=of_runs)
    finally:
        store.close()
    return Exit.DONE


def _check_together(
    chosen: "DebateFilter",
    group_by: str | None,
    *,
    totals: bool,
    columns: str | None,
    of_runs: bool,
    limit: int | None,
    as_json: bool,
) -> None:
    from jury_store.debate_rows import EVERY_DEBATE

    if of_runs and (chosen != EVERY_DEBATE or group_by or totals or columns):
        raise click.UsageError("--runs lists all runs: it goes with --limit and --json, and with no other choice")
    if (group_by or totals) and (limit or columns):
        which = "--group-by counts" if group_by else "--totals adds up"
        raise click.UsageError(
            f"{which} all debates: leave --limit and --columns out, or choose with --run and --where"
        )
    if group_by and totals:
        raise click.UsageError("give --group-by or --totals, not both")
    if columns and as_json:
        raise click.UsageError("--json prints every column: leave --columns out")


def _rows(store: "EventStore", chosen: "DebateFilter", sorted_by: "SortOrder", limit: int | None) -> "Lines":
    """Rows page by page, with the excerpts of a search."""
    from jury_judge.comparisons.excerpts import excerpts

    left = limit if limit is not None else 2**62
    place: PageCursor | None = None
    while left and (rows := store.list_debates(chosen, sorted_by, limit=min(_PAGE, left), after=place)):
        for start in range(0, len(rows), 50):
            some = rows[start : start + 50]
            said = excerpts(store, [row.debate_id for row in some], chosen.search) if chosen.search else {}
            yield from ((row, said.get(row.debate_id)) for row in some)
        left -= len(rows)
        place = sorted_by.cursor(asdict(rows[-1]))


def _print(rows: "Lines", names: Sequence[str] | None, *, as_json: bool) -> bool:
    """Print a line a debate; returns whether there was any."""
    if as_json:
        return _print_json(
            {**_debate_object(row), **({"excerpt": said._asdict()} if said else {})} for row, said in rows
        )
    if names is not None:
        return _print_columns((row for row, _ in rows), names)
    return _print_lines(rows)


def _print_lines(rows: "Lines") -> bool:
    from jury_events.text.visible_text import visible_line

    row = None
    for row, said in rows:
        verdict = row.final_verdict if row.status == "completed" else row.status
        score = "" if row.final_score is None else row.final_score
        case = visible_line(row.case_id, 60)
        line = f"{moment(row.opened_at)}  {verdict:<12} {score:>3}  {row.debate_id}  {case}"
        print("  ".join((line, *_marks(row))))
        if said is not None:
            print(f"    {visible_line(said.text, 300)}")
    return row is not None


def _print_columns(rows: "Iterator[DebateRow]", names: Sequence[str]) -> bool:
    """Tabs between, whatever is in a value: a tab or a line's end in one would be shown as what it is."""
    from jury_cli.views.list_columns import COLUMNS
    from jury_events.text.visible_text import visible_line

    print("\t".join(names))
    row = None
    for row in rows:
        values = (COLUMNS[name](row) for name in names)
        print("\t".join("" if value is None else visible_line(str(value), 1000) for value in values))
    return row is not None


def _marks(row: "DebateRow") -> Iterator[str]:
    """Remarks beside the result of a debate."""
    from jury_events.text.visible_text import visible_line

    if row.imported == "unsealed":
        yield "[imported, unsealed]"
    elif row.imported is not None:
        checked = "" if row.imported == "verified" else ", not checked"
        yield f"[imported, sealed by {visible_line(row.imported_from or '?', 80)}{checked}]"
    if row.review_facts.standing:
        people = ", ".join(f"{one.reviewer}: {one.verdict}" for one in row.review_facts.standing)
        yield f"[{visible_line(people, 200)}]"
    if row.quarantined is not None:
        yield f"[in quarantine: {visible_line(row.quarantined, 80)}]"
    if row.problem is not None:
        aside = f"jury db quarantine {row.debate_id} --by WHO --reason WHY sets it aside"
        yield f"[{visible_line(row.problem, 200)}; {aside}]"


def _print_runs(store: "EventStore", limit: int | None, *, as_json: bool) -> bool:
    from jury_cli.views.run_progress import run_progress, run_verdicts

    rows = islice(reversed(store.runs()), limit)
    if as_json:
        return _print_json(map(asdict, rows))
    row = None
    for row in rows:
        print(f"{row.run_id}  {run_progress(row)}: {run_verdicts(row)}")
    return row is not None


def _print_totals(store: "EventStore", chosen: "DebateFilter", *, as_json: bool) -> bool:
    from jury_cli.views.totals import totals_lines

    found = store.totals(chosen)
    if as_json:
        print(json.dumps(asdict(found), indent=2))
    elif found.debates:
        print("\n".join(totals_lines(found)))
    return bool(found.debates)


def _print_groups(rows: "Iterator[DebateRow]", group_by: str, *, as_json: bool) -> bool:
    from jury_cli.terminal import page_console
    from jury_cli.views.groups import groups_object, groups_page
    from jury_judge.comparisons.groups import grouped

    groups = grouped(rows, group_by)
    if as_json:
        print(json.dumps(groups_object(group_by, groups), ensure_ascii=False, indent=2))
    elif groups:
        groups_page(group_by, groups).print(page_console())
    return bool(groups)


def _print_json(rows: "Iterator[dict[str, Any]]") -> bool:
    """Print a JSON list, one object a line, without building it whole."""
    print("[", end="")
    separator = "\n"
    for row in rows:
        print(separator + json.dumps(_plain(row), ensure_ascii=False), end="")
        separator = ",\n"
    print("\n]")
    return True


def _debate_object(row: "DebateRow") -> dict[str, Any]:
    """Its columns, and what follows from them."""
    from jury_views.review_objects import assignment_object, review_objects

    return {
        **asdict(row),
        "disposition": row.disposition,
        "reviews": review_objects(row.review_facts),
        "assignments": [assignment_object(one) for one in row.assignments],
    }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Times as ISO 8601; digests as hexadecimal."""
    plain: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("_at") and isinstance(value, int):
            plain[name] = moment(value)
        else:
            plain[name] = value.hex() if isinstance(value, bytes) else value
    return plain


def _note_what_is_left_out(store: "EventStore", chosen: "DebateFilter", *, of_runs: bool) -> None:
    from jury_cli.terminal import note

    if of_runs:
        return
    if not chosen.quarantined and store.list_debates(chosen._replace(quarantined=True), limit=1):
        note("debates in quarantine are left out: jury list --quarantined shows them")
    if chosen.search is not None and (behind := store.search_lag()):
        note(
            f"what jurors wrote in the last {behind} events is not searched yet: a run that goes on sees to it, and so "
            "does jury db rebuild"
        )


def _note_none(store: "EventStore", chosen: "DebateFilter", *, of_runs: bool) -> None:
    """Why the list is empty, and what to do."""
    from jury_cli.terminal import note
    from jury_store.debate_rows import EVERY_DEBATE

    if not store.list_debates(limit=1) and not store.list_debates(EVERY_DEBATE._replace(quarantined=True), limit=1):
        note(f"no {'runs' if of_runs else 'debates'} in this store yet; jury demo records one, jury run CASES yours")
        return
    if of_runs:
        note("no runs in this store: its debates belong to none")
        return
    if chosen.run_id is not None and all(run.run_id != chosen.run_id for run in store.runs()):
        note(f"no debates of a run {chosen.run_id} in this store; jury list --runs lists the runs")
        return
    narrowed = [
        f"of a run {chosen.run_id}" if chosen.run_id else "",
        f"with {' and '.join(map(str, chosen.where))}" if chosen.where else "",
        f"in which {chosen.search!r} is found" if chosen.search else "",
        f"in which {chosen.model!r} sits" if chosen.model else "",
    ]
    such = "".join(f" {one}" for one in narrowed if one)
    note(f"no {'unfinished ' if chosen.unfinished else ''}debates{such} in this store")
