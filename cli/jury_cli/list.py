"""`jury list`: the debates of a store."""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.list_options import CHOSEN, ORDERED, order, wanted
from jury_cli.option_groups import options
from jury_cli.options import GROUP, STORE
from jury_events.text.timestamps import moment

if TYPE_CHECKING:
    from jury_judge import DebateFilter, DebateRow, Records
    from jury_judge.records.listing import ListedDebate
    from jury_judge.settings.listing import Listing

    Rows = AsyncIterator[ListedDebate]


@click.command("list")
@options(CHOSEN, GROUP)
@click.option("--totals", is_flag=True, help="Print what all of them come to instead of the debates.")
@options(ORDERED)
@click.option("--columns", metavar="NAMES", help="Print these columns, parted by commas, with tabs and a heading.")
@click.option("--runs", "of_runs", is_flag=True, help="List the runs instead.")
@click.option("--limit", type=click.IntRange(min=1), help="At most N lines. [default: all]")
@options(STORE)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of objects, of --group-by and --totals one.")
def command(*, store_url: str | None, as_json: bool, **given: Any) -> int:
    """List debates, the newest first, or count them by a field of their cases."""
    from jury_cli.views.list_columns import parse_columns
    from jury_judge.settings.listing import Listing

    asked = Listing.of(chosen=wanted(given), sorted_by=order(given), **given)
    if asked.columns and as_json:
        raise click.UsageError("--json prints every column: leave --columns out")
    names = None if asked.columns is None else parse_columns(asked.columns)
    call(_list(store_url, asked, names, as_json=as_json))
    return Exit.DONE


async def _list(store_url: str | None, asked: "Listing", names: Sequence[str] | None, *, as_json: bool) -> None:
    async with stored(store_url) as records:
        if asked.of_runs:
            found = await _print_runs(records, asked.limit, as_json=as_json)
        elif asked.totals:
            found = await _print_totals(records, asked.chosen, as_json=as_json)
        elif asked.group_by:
            found = await _print_groups(records, asked.group_by, asked.chosen, as_json=as_json)
        else:
            rows = records.listed(asked.chosen, asked.sorted_by, limit=asked.limit)
            found = await _print(rows, names, as_json=as_json)
        if not asked.of_runs:
            await _note_what_is_left_out(records, asked.chosen)
        if not found and not as_json:
            await _note_none(records, asked.chosen, of_runs=asked.of_runs)


async def _print(rows: "Rows", names: Sequence[str] | None, *, as_json: bool) -> bool:
    """Print a line a debate; returns whether there was any."""
    if as_json:
        return await _print_json(rows)
    if names is not None:
        return await _print_columns(rows, names)
    return await _print_lines(rows)


async def _print_lines(rows: "Rows") -> bool:
    from jury_events.text.visible_text import visible_line

    row = None
    async for row, said in rows:
        verdict = row.final_verdict if row.status == "completed" else row.status
        score = "" if row.final_score is None else row.final_score
        case = visible_line(row.case_id, 60)
        line = f"{moment(row.opened_at)}  {verdict:<12} {score:>3}  {row.debate_id}  {case}"
        print("  ".join((line, *_marks(row))))
        if said is not None:
            print(f"    {visible_line(said.text, 300)}")
    return row is not None


async def _print_columns(rows: "Rows", names: Sequence[str]) -> bool:
    """Tabs between, whatever is in a value: a tab or a line's end in one would be shown as what it is."""
    from jury_cli.views.list_columns import COLUMNS
    from jury_events.text.visible_text import visible_line

    print("\t".join(names))
    row = None
    async for row, _ in rows:
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


async def _print_runs(records: "Records", limit: int | None, *, as_json: bool) -> bool:
    from jury_cli.views.run_progress import run_progress, run_verdicts

    rows = (await records.run_rows())[:limit]
    if as_json:
        printed = _JsonList()
        for row in rows:
            printed.take(asdict(row))
        printed.end()
    else:
        for row in rows:
            print(f"{row.run_id}  {run_progress(row)}: {run_verdicts(row)}")
    return bool(rows)


async def _print_totals(records: "Records", chosen: "DebateFilter", *, as_json: bool) -> bool:
    from jury_cli.views.totals import totals_lines

    found = await records.totals(chosen)
    if as_json:
        print(json.dumps(asdict(found), indent=2))
    elif found.debates:
        print("\n".join(totals_lines(found)))
    return bool(found.debates)


async def _print_groups(records: "Records", group_by: str, chosen: "DebateFilter", *, as_json: bool) -> bool:
    from jury_cli.terminal import page_console
    from jury_cli.views.groups import groups_object, groups_page

    groups = await records.groups(group_by, chosen)
    if as_json:
        print(json.dumps(groups_object(group_by, groups), ensure_ascii=False, indent=2))
    elif groups:
        groups_page(group_by, groups).print(page_console())
    return bool(groups)


async def _print_json(rows: "Rows") -> bool:
    printed = _JsonList()
    async for row, said in rows:
        printed.take({**_debate_object(row), **({"excerpt": said._asdict()} if said else {})})
    printed.end()
    return True


class _JsonList:
    """Prints a JSON list, one object a line, without building it whole."""

    def __init__(self) -> None:
        print("[", end="")
        self._separator = "\n"

    def take(self, row: dict[str, Any]) -> None:
        """Print the next object."""
        print(self._separator + json.dumps(_plain(row), ensure_ascii=False), end="")
        self._separator = ",\n"

    def end(self) -> None:
        """Print the end of the list."""
        print("\n]")


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


async def _note_what_is_left_out(records: "Records", chosen: "DebateFilter") -> None:
    from jury_cli.terminal import note

    if not chosen.quarantined and await records.has_debates(chosen._replace(quarantined=True)):
        note("debates in quarantine are left out: jury list --quarantined shows them")
    if chosen.search is not None and (behind := await records.search_lag()):
        note(
            f"what jurors wrote in the last {behind} events is not searched yet: a run that goes on sees to it, and so "
            "does jury db rebuild"
        )


async def _note_none(records: "Records", chosen: "DebateFilter", *, of_runs: bool) -> None:
    """Why the list is empty, and what to do."""
    from jury_cli.terminal import note
    from jury_judge import DebateFilter

    if not await records.has_debates() and not await records.has_debates(DebateFilter(quarantined=True)):
        note(f"no {'runs' if of_runs else 'debates'} in this store yet; jury demo records one, jury run CASES yours")
        return
    if of_runs:
        note("no runs in this store: its debates belong to none")
        return
    if chosen.run_id is not None and all(run.run_id != chosen.run_id for run in await records.run_rows()):
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
