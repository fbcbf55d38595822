"""`jury runs`, `jury cancel`, `jury watch`: which runs a store has and who executes them, their end, their course."""

import asyncio
import json
from collections.abc import Coroutine, Iterable
from contextlib import aclosing, suppress
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call, opened, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE, fields, run_id
from jury_cli.options import debate_ids as debate_ids_of
from jury_cli.streams import note
from jury_events.text import moment, pluralize, visible_line

if TYPE_CHECKING:
    from jury_events.conditions import Condition
    from jury_judge import Records
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


@click.command("cancel")
@click.argument("run", metavar="RUN", callback=run_id)
@click.option(
    "--by", metavar="WHO", help="Who cancels it, for the record; at most 30 bytes. [default: your login name]"
)
@options(STORE)
def cancel(run: str, *, by: str | None, store_url: str | None) -> int:
    """Cancel every debate of a run that is not over, also while another process executes the run.

    Debates that were begun end as cancelled, for good; answers of calls in flight are still recorded. Debates that were
    not begun stay listed, and wait: jury resume RUN, or jury run with the same --run, reopens the run and judges them.
    Ctrl-C ends the waiting alone where the request is recorded already.
    """
    from jury_cli.event_loops import note_line, run_interruptibly
    from jury_judge.runs.cancelling import canceller

    who = canceller(by)
    with opened(store_url) as records:
        done = run_interruptibly(lambda: records.cancel(run, by=who, say=note_line))
    none = "no debate was left to cancel" if done.by is None else "cancelled; no debate was going on"
    what = f"{pluralize(done.debates, 'debate')} cancelled" if done.debates else none
    ahead = f"; {pluralize(done.ahead, 'case')} not begun" if done.ahead else ""
    reopen = (
        f" (jury resume {run} goes on with {'it' if done.ahead == 1 else 'them'})" if done.ahead and done.by else ""
    )
    note(f"run {run}: {what}{ahead}{reopen}")
    return Exit.DONE


_PROGRESS_SECONDS = 2.0
"""Seconds between two progress lines of a run."""

_MOST = 1_000_000
"""Most debates that are followed at once; each takes memory, but no connection."""


@click.command("watch")
@click.argument("debate_ids", metavar="[DEBATE]...", nargs=-1, callback=debate_ids_of)
@options(fields("Selection", "run_id", "everything"), fields("CaseChoice"), STORE)
@click.option("--json", "as_json", is_flag=True, help="Print each live event (docs/reference/live-events.md) as JSON.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Of a run: print its figures as one JSON object a second.")
def watch(
    debate_ids: tuple[str, ...],
    *,
    where: tuple[str, ...],
    store_url: str | None,
    as_json: bool,
    as_jsonl: bool,
    **given: Any,
) -> int:
    """Follow a run, or debates, live, whichever process executes them.

    `jury watch RUN` shows the figures of a run until it ends; Ctrl-C leaves the run going. Named debates are shown from
    their beginning to their end. With --run, --all and --where, debates that are not over are shown, and those that
    open later, until Ctrl-C.
    """
    from jury_cli.event_loops import run_interruptibly
    from jury_judge.settings.debates import CaseChoice, Selection

    conditions = CaseChoice.of(where=where).where
    selection = Selection.of(debate_ids=debate_ids, where=conditions, **given).debates
    with opened(store_url, readers=_MOST) as records:
        run = call(_run_of(records, debate_ids))
        if as_jsonl and run is None:
            raise click.UsageError("--jsonl prints the figures of one run: name it, as `jury runs` does")
        if run is not None:
            from jury_cli.run_watch import watch_run

            if as_json:
                raise click.UsageError(f"--json is about events of debates: --run {run} follows those of the run")
            run_interruptibly(partial(watch_run, records, run, as_jsonl=as_jsonl))
            return Exit.DONE
        if selection.debate_ids is not None:
            call(_must_exist(records, selection.debate_ids))
        else:
            note("following what is not over and what opens from now on; Ctrl-C ends it")
        watching = _Watching(records, as_json=as_json, named=len(selection.debate_ids or ()) != 1)
        run_interruptibly(partial(watching.follow, selection.debate_ids, selection.run_id, conditions))
        return Exit.INTEGRITY if watching.damaged else Exit.DONE


async def _run_of(records: "Records", names: tuple[str, ...]) -> str | None:
    """The one name, if it is a run's and no debate has it."""
    if len(names) != 1 or not await records.missing_debates(names) or not await records.is_run(names[0]):
        return None
    return names[0]


async def _must_exist(records: "Records", debate_ids: tuple[str, ...]) -> None:
    from jury_events.errors import DebateNotFound

    if missing := await records.missing_debates(debate_ids):
        raise DebateNotFound.named(missing[0])


class _Watching:
    """Prints the lines of debates; `named`: after the debate's id. `damaged`: a debate could not be read."""

    def __init__(self, records: "Records", *, as_json: bool, named: bool) -> None:
        self._records = records
        self.damaged = False
        self._as_json = as_json
        self._named = named
        self._said = ""

    async def follow(
        self, debate_ids: Iterable[str] | None, run_id: str | None, where: "tuple[Condition, ...]"
    ) -> None:
        """Follow these debates to their ends, or those that are not over and every one that opens.

        Ends early when the reader of stdout is gone: there is nothing left to do.
        """
        from jury_cli.exits import OutputClosed

        with suppress(OutputClosed):
            if debate_ids is not None:
                await asyncio.gather(*map(self._follow, debate_ids))
            else:
                await self._follow_open(run_id, where)

    async def _say_progress(self, run_id: str) -> None:
        """Print the progress of the run every few seconds, if it changed."""
        from jury_cli.views.runs import run_progress

        while True:
            run = await self._records.run_counts(run_id)
            line = "" if run is None else f"run {run_id}: {run_progress(run)}"
            if line != self._said:
                self._said = line
                note(line)
            await asyncio.sleep(_PROGRESS_SECONDS)

    async def _follow_open(self, run_id: str | None, where: "tuple[Condition, ...]") -> None:
        """The first of these tasks that fails ends them all; their reader ends with the event loop."""
        broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        tasks: set[asyncio.Task[None]] = set()

        def ended(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            problem = None if task.cancelled() else task.exception()
            if problem is not None and not broken.done():
                broken.set_exception(problem)

        def begin(work: Coroutine[Any, Any, None]) -> None:
            task = asyncio.create_task(work)
            tasks.add(task)
            task.add_done_callback(ended)

        async def follow_each() -> None:
            async with aclosing(self._records.open_debates(run_id=run_id, where=where)) as opening:
                async for debate_id in opening:
                    begin(self._follow(debate_id))

        if run_id is not None:
            begin(self._say_progress(run_id))
        begin(follow_each())
        await broken

    async def _follow(self, debate_id: str) -> None:
        from jury_events.errors import EventError

        try:
            await self._print_events(debate_id)
        except EventError as error:
            self.damaged = True
            note(f"debate {debate_id} cannot be read: {error}")

    async def _print_events(self, debate_id: str) -> None:
        from jury_views.live_events import LIVE_EVENTS, LOG_EVENTS
        from jury_views.terminal.live_lines import LiveLines

        if self._as_json:
            async with self._records.feed.follow(debate_id, LIVE_EVENTS) as cursor:
                async for live in cursor:
                    self._print(json.dumps({"debate_id": debate_id, **live._asdict()}, ensure_ascii=False))
            return
        lines = LiveLines()
        head = f"{debate_id}  " if self._named else ""
        async with self._records.feed.follow(debate_id, LOG_EVENTS) as events:
            async for logged in events:
                for line in lines.lines(logged.event):
                    self._print(head + visible_line(line, 1000))

    def _print(self, line: str) -> None:
        from jury_cli.streams import check_stdout

        print(line, flush=True)
        check_stdout("jury watch can be started again at any time")
