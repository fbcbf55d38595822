"""`jury list`: the debates of a store."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import resolved_store, store_option
from jury_judge.cli.options import run_id as run_id_form
from jury_judge.views.moments import moment

_PAGE = 1000


@click.command("list")
@click.option("--run", "run_id", metavar="ID", callback=run_id_form, help="Only the debates of this run.")
@click.option("--unfinished", is_flag=True, help="Only debates that are not over.")
@click.option("--runs", "of_runs", is_flag=True, help="List the runs instead.")
@click.option("--limit", type=click.IntRange(min=1), help="At most N lines. [default: all]")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects.")
def command(
    run_id: str | None, *, unfinished: bool, of_runs: bool, limit: int | None, store_url: str | None, as_json: bool
) -> int:
    """List debates in the order in which they were opened."""
    from jury_judge.cli.terminal import note
    from jury_judge.views.visible_text import visible_line
    from jury_store.opening import open_store

    if of_runs and (run_id or unfinished):
        raise click.UsageError("--runs goes with neither --run nor --unfinished")
    store = open_store(resolved_store(store_url), write=False)
    try:
        rows: Iterator[Any] = iter(store.runs()) if of_runs else _pages(store, run_id, unfinished, limit)
        if as_json:
            _print_json(row for row, _ in zip(rows, _numbers(limit), strict=False))
            return Exit.DONE
        empty = True
        for row, _ in zip(rows, _numbers(limit), strict=False):
            empty = False
            if of_runs:
                verdicts = f"{row.safe_pass} safe_pass, {row.needs_review} needs_review, {row.unsafe_fail} unsafe_fail"
                print(f"{row.run_id}  {row.completed}/{row.debates} completed: {verdicts}")
            else:
                verdict = row.final_verdict if row.status == "completed" else row.status
                score = "" if row.final_score is None else row.final_score
                case = visible_line(row.case_id, 60)
                print(f"{moment(row.opened_at)}  {verdict:<12} {score:>3}  {row.debate_id}  {case}")
        if empty:
            of_run = f" of a run {run_id}" if run_id else ""
            note(f"no {'unfinished ' if unfinished else ''}debates{of_run} in this store")
    finally:
        store.close()
    return Exit.DONE


def _numbers(limit: int | None) -> Iterator[int]:
    return iter(range(limit if limit is not None else 2**62))


def _pages(store: Any, run_id: str | None, unfinished: bool, limit: int | None) -> Iterator[Any]:
    after = 0
    page = min(_PAGE, limit) if limit is not None else _PAGE
    while rows := store.debates(run_id=run_id, unfinished=unfinished, limit=page, after=after):
        yield from rows
        after = rows[-1].position


def _print_json(rows: Iterator[Any]) -> None:
    """A list, an object a line, however long it is."""
    print("[", end="")
    separator = "\n"
    for row in rows:
        print(separator + json.dumps(_plain(asdict(row)), ensure_ascii=False), end="")
        separator = ",\n"
    print("\n]")


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Times as ISO 8601; digests as hexadecimal."""
    plain: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("_at") and isinstance(value, int):
            plain[name] = moment(value)
        else:
            plain[name] = value.hex() if isinstance(value, bytes) else value
    return plain
