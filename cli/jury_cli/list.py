"""`jury list`: the debates of a store."""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import fields
from jury_cli.streams import note
from jury_cli.terminal import print_json, print_page

if TYPE_CHECKING:
    from jury_judge import DebateFilter, Records
    from jury_judge.records.reading import ListedDebate
    from jury_judge.settings.debates import ListSettings

    Rows = AsyncIterator[ListedDebate]


_ALIGNED = 500
"""Lines that are read before they are printed: their columns are as wide as the widest of them."""


@click.command("list")
@options(fields("ListSettings"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a list of objects, of --group-by and --totals one.")
def command(*, as_json: bool, **given: Any) -> int:
    """List debates, the newest first, or count them by a field of their cases."""
    from jury_cli.views.debate_list import parse_columns
    from jury_judge.settings.debates import ListSettings

    asked = ListSettings.of(**given)
    if asked.columns and as_json:
        raise click.UsageError("--json prints every column: leave --columns out")
    names = None if asked.columns is None else parse_columns(asked.columns)
    call(_list(asked, names, as_json=as_json))
    return Exit.DONE


async def _list(asked: "ListSettings", names: Sequence[str] | None, *, as_json: bool) -> None:
    async with stored(asked.store_url) as records:
        if asked.chosen.run_id is not None:
            await records.check_run(asked.chosen.run_id)
        if asked.of_runs:
            found = await _print_runs(records, asked.limit, as_json=as_json)
        elif asked.totals:
            found = await _print_totals(records, asked.chosen, as_json=as_json)
        elif asked.group_by:
            found = await _print_groups(records, asked.group_by, asked.chosen, as_json=as_json)
        else:
            rows = records.listed(asked.chosen, asked.sorted_by, limit=asked.limit, with_reasons=asked.why)
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
    from jury_cli.views.debate_list import DebateLines

    lines, some = DebateLines(get_terminal_size().columns if sys.stdout.isatty() else None), list["ListedDebate"]()
    listed = None
    async for listed in rows:
        some.append(listed)
        if len(some) == _ALIGNED:
            print(*lines.of(some), sep="\n")
            some.clear()
    if some:
        print(*lines.of(some), sep="\n")
    return listed is not None


async def _print_columns(rows: "Rows", names: Sequence[str]) -> bool:
    from jury_cli.views.debate_list import column_line

    print("\t".join(names))
    row = None
    async for listed in rows:
        row = listed.row
        print(column_line(row, names))
    return row is not None


async def _print_runs(records: "Records", limit: int | None, *, as_json: bool) -> bool:
    from jury_cli.views.debate_list import run_lines, run_object

    rows = (await records.run_rows())[:limit]
    if as_json:
        printed = _JsonList()
        for row in rows:
            printed.take(run_object(row))
        printed.end()
    else:
        for line in run_lines(rows):
            print(line)
    return bool(rows)


async def _print_totals(records: "Records", chosen: "DebateFilter", *, as_json: bool) -> bool:
    from jury_cli.views.debate_list import totals_lines

    found = await records.totals(chosen)
    if as_json:
        print(json.dumps(asdict(found), indent=2))
    elif found.debates:
        print("\n".join(totals_lines(found)))
    return bool(found.debates)


async def _print_groups(records: "Records", group_by: str, chosen: "DebateFilter", *, as_json: bool) -> bool:
    from jury_cli.views.debate_list import groups_object, groups_page

    groups = await records.groups(group_by, chosen)
    if as_json:
        print_json(groups_object(group_by, groups))
    elif groups:
        print_page(groups_page(group_by, groups))
    return bool(groups)


async def _print_json(rows: "Rows") -> bool:
    from jury_cli.views.debate_list import debate_object

    printed = _JsonList()
    async for listed in rows:
        printed.take(debate_object(listed))
    printed.end()
    return True


class _JsonList:
    """Prints a JSON list, one object a line, without building it whole."""

    def __init__(self) -> None:
        print("[", end="")
        self._separator = "\n"

    def take(self, row: dict[str, Any]) -> None:
        print(self._separator + json.dumps(row, ensure_ascii=False), end="")
        self._separator = ",\n"

    def end(self) -> None:
        print("\n]")


async def _note_what_is_left_out(records: "Records", chosen: "DebateFilter") -> None:
    if not chosen.quarantined and await records.has_debates(chosen._replace(quarantined=True)):
        note("debates in quarantine are left out: jury list --quarantined shows them")
    if chosen.waiting is False and await records.has_debates(chosen._replace(waiting=True)):
        note("debates that wait are left out: jury list --status waiting shows them")
    if chosen.search is not None and (behind := await records.search_lag()):
        note(
            f"what jurors wrote in the last {behind} events is not searched yet: a run that goes on sees to it, and so "
            "does jury db rebuild"
        )


async def _note_none(records: "Records", chosen: "DebateFilter", *, of_runs: bool) -> None:
    """Why the list is empty, and what to do."""
    from jury_judge import DebateFilter

    if not await records.has_debates() and not await records.has_debates(DebateFilter(quarantined=True)):
        if await records.has_debates(DebateFilter(waiting=True)):
            return  # what is left out is said
        if await records.has_debates(DebateFilter(counted=None)):
            note("no debate in this store counts for its case yet: jury list --stage N shows those of a stage")
            return
        note(f"no {'runs' if of_runs else 'debates'} in this store yet; jury demo records one, jury run CASES yours")
        return
    if of_runs:
        note("no runs in this store: its debates belong to none")
        return
    narrowed = [
        f"of a run {chosen.run_id}" if chosen.run_id else "",
        f"with {' and '.join(map(str, chosen.where))}" if chosen.where else "",
        f"in which {chosen.search!r} is found" if chosen.search else "",
        f"in which {chosen.model!r} sits" if chosen.model else "",
        "in which seats differ" if chosen.split else "",
    ]
    such = "".join(f" {one}" for one in narrowed if one)
    kind = "unfinished " if chosen.unfinished else "" if such or chosen == DebateFilter() else "such "
    note(f"no {kind}debates{such} in this store")
