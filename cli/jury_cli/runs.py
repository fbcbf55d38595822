"""`jury runs`: the runs of a store, and which of them are being executed."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE
from jury_cli.terminal import note
from jury_events.text import moment

if TYPE_CHECKING:
    from jury_judge.runs.live_run import ListedRun


_CACHES = ("cached_input_tokens", "cache_write_tokens")


@click.command("runs")
@click.option("--limit", type=click.IntRange(min=1), help="At most N lines. [default: all]")
@options(STORE)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects.")
def command(*, limit: int | None, store_url: str | None, as_json: bool) -> int:
    """List the runs, the newest first: when they began, how far they are, verdicts, cost, and who executes them."""
    from jury_cli.views.debate_list import executed_run_lines

    found = call(_runs(store_url))[:limit]
    if as_json:
        objects = ",\n".join(json.dumps(_object(one), ensure_ascii=False) for one in found)
        print(f"[\n{objects}\n]")
    else:
        for line in executed_run_lines(found):
            print(line)
        if not found:
            note("no runs in this store yet; jury run CASES records one")
    return Exit.DONE


async def _runs(store_url: str | None) -> "list[ListedRun]":
    async with stored(store_url) as records:
        return await records.runs()


def _object(one: "ListedRun") -> dict[str, Any]:
    row, totals = one.row, one.totals
    plain = {
        name: moment(value) if name.endswith("_at") and value is not None else value
        for name, value in asdict(row).items()
    }
    del plain["calls_at_most"], plain["cost_at_most"]
    spent = ("calls", "input_tokens", "output_tokens", *_CACHES, "cost", "unknown_cost")
    return {
        **plain,
        "unfinished": row.debates - row.ended,
        **{name: 0 if totals is None else getattr(totals, name) for name in spent},
        "labels": {} if totals is None else dict(totals.labels),
        "unrecorded_calls": one.unrecorded.calls,
        "unrecorded_cost": one.unrecorded.cost,
        "batches": None if one.batches is None else asdict(one.batches),
        "state": one.state,
        "process": None if one.holder is None else one.holder._asdict(),
    }
