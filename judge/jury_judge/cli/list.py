"""`jury list`: the debates of a store."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import group_option, resolved_store, store_option, where_option
from jury_judge.cli.options import run_id as run_id_form
from jury_judge.views.moments import moment

if TYPE_CHECKING:
    from jury_events.conditions import Condition
    from jury_store.debate_rows import DebateRow
    from jury_store.event_store import EventStore

_PAGE = 1000


@click.command("list")
@click.option("--run", "run_id", metavar="ID", callback=run_id_form, help="Only the debates of this run.")
@where_option
@click.option("--unfinished", is_flag=True, help="Only debates that are not over.")
@click.option("--quarantined", is_flag=True, help="Only debates in quarantine, which are left out else.")
@group_option
@click.option("--runs", "of_runs", is_flag=True, help="List the runs instead.")
@click.option("--limit", type=click.IntRange(min=1), help="At most N lines. [default: all]")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects; with --group-by one object.")
def command(
    run_id: str | None,
    *,
    where: "tuple[Condition, ...]",
    unfinished: bool,
    quarantined: bool,
    group_by: str | None,
    of_runs: bool,
    limit: int | None,
    store_url: str | None,
    as_json: bool,
) -> int:
    """List debates in the order in which they were opened, or count them by a field of their cases."""
    from jury_judge.cli.terminal import note
    from jury_store.opening import open_store

    if of_runs and (run_id or unfinished or quarantined or where or group_by):
        raise click.UsageError("--runs goes with none of --run, --where, --unfinished, --quarantined and --group-by")
    if group_by and limit:
        raise click.UsageError("--group-by counts all debates: leave --limit out, or choose with --run and --where")
    store = open_store(resolved_store(store_url), write=False)
    try:
        if of_runs:
            found = _print_runs(store, limit, as_json=as_json)
        else:
            rows = _first(_pages(store, run_id, where, limit, unfinished=unfinished, quarantined=quarantined), limit)
            found = _print_groups(rows, group_by, as_json=as_json) if group_by else _print(rows, as_json=as_json)
            if not quarantined and store.debates(run_id=run_id, where=where, quarantined=True, limit=1):
                note("debates in quarantine are left out: jury list --quarantined shows them")
    finally:
        store.close()
    if not found and not as_json:
        of_run = f" of a run {run_id}" if run_id else ""
        such = f" with {' and '.join(map(str, where))}" if where else ""
        note(f"no {'unfinished ' if unfinished else ''}debates{of_run}{such} in this store")
    return Exit.DONE


def _pages(
    store: "EventStore",
    run_id: str | None,
    where: "tuple[Condition, ...]",
    limit: int | None,
    **chosen: bool,
) -> "Iterator[DebateRow]":
    after = 0
    page = min(_PAGE, limit) if limit is not None else _PAGE
    while rows := store.debates(run_id=run_id, where=where, limit=page, after=after, **chosen):
        yield from rows
        after = rows[-1].position


def _first(rows: Iterator[Any], limit: int | None) -> Iterator[Any]:
    numbers = iter(range(limit if limit is not None else 2**62))
    return (row for row, _ in zip(rows, numbers, strict=False))


def _print(rows: "Iterator[DebateRow]", *, as_json: bool) -> bool:
    """A line a debate; whether there was any."""
    from jury_judge.views.visible_text import visible_line

    if as_json:
        return _print_json(rows)
    row = None
    for row in rows:
        verdict = row.final_verdict if row.status == "completed" else row.status
        score = "" if row.final_score is None else row.final_score
        case = visible_line(row.case_id, 60)
        line = f"{moment(row.opened_at)}  {verdict:<12} {score:>3}  {row.debate_id}  {case}"
        print("  ".join((line, *_marks(row))))
    return row is not None


def _marks(row: "DebateRow") -> Iterator[str]:
    """What a reader must know of a debate beside what it came to."""
    from jury_judge.views.visible_text import visible_line

    if row.imported == "unsealed":
        yield "[imported, unsealed]"
    elif row.imported is not None:
        checked = "" if row.imported == "vouched" else ", not checked"
        yield f"[imported, sealed by {visible_line(row.imported_from or '?', 80)}{checked}]"
    if row.quarantined is not None:
        yield f"[in quarantine: {visible_line(row.quarantined, 80)}]"
    if row.problem is not None:
        aside = f"jury db quarantine {row.debate_id} --by WHO --reason WHY sets it aside"
        yield f"[{visible_line(row.problem, 200)}; {aside}]"


def _print_runs(store: "EventStore", limit: int | None, *, as_json: bool) -> bool:
    rows = _first(iter(store.runs()), limit)
    if as_json:
        return _print_json(rows)
    row = None
    for row in rows:
        verdicts = f"{row.safe_pass} safe_pass, {row.needs_review} needs_review, {row.unsafe_fail} unsafe_fail"
        print(f"{row.run_id}  {row.completed}/{row.debates} completed: {verdicts}")
    return row is not None


def _print_groups(rows: "Iterator[DebateRow]", group_by: str, *, as_json: bool) -> bool:
    from jury_judge.cli.terminal import page_console
    from jury_judge.groups import grouped
    from jury_judge.views.group_view import groups_object, groups_page

    groups = grouped(rows, group_by)
    if as_json:
        print(json.dumps(groups_object(group_by, groups), ensure_ascii=False, indent=2))
    elif groups:
        groups_page(group_by, groups).print(page_console())
    return bool(groups)


def _print_json(rows: Iterator[Any]) -> bool:
    """A list, an object a line, however long it is."""
    print("[", end="")
    separator = "\n"
    for row in rows:
        print(separator + json.dumps(_plain(asdict(row)), ensure_ascii=False), end="")
        separator = ",\n"
    print("\n]")
    return True


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Times as ISO 8601; digests as hexadecimal."""
    plain: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("_at") and isinstance(value, int):
            plain[name] = moment(value)
        else:
            plain[name] = value.hex() if isinstance(value, bytes) else value
    return plain
