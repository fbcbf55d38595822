"""`jury watch`: a run or debates followed live in the terminal."""

import asyncio
import json
from collections.abc import Iterable
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from jury_cli.exits import Exit
from jury_cli.options import resolved_store, selection_options, store_option

if TYPE_CHECKING:
    from jury_events.conditions import Condition
    from jury_judge.live.feed import Feed, Opening
    from jury_store.event_store import EventStore

_PROGRESS_SECONDS = 2.0
"""Seconds between two progress lines of a run."""

_MOST = 1_000_000
"""Most debates that are followed at once; each takes memory, but no connection."""


@click.command("watch")
@selection_options
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a live event, as docs/live-events.md has.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Of a run: print its figures as one JSON object a second.")
def command(
    debate_ids: tuple[str, ...],
    *,
    run_id: str | None,
    everything: bool,
    where: "tuple[Condition, ...]",
    store_url: str | None,
    as_json: bool,
    as_jsonl: bool,
) -> int:
    """Follow a run, or debates, live, whichever process executes them.

    `jury watch RUN` shows the figures of a run until it ends; Ctrl-C leaves the run going. Named debates are shown from
    their beginning to their end. With --run, --all and --where, debates that are not over are shown, and those that
    open later, until Ctrl-C.
    """
    from jury_cli.errors import OutputClosed
    from jury_cli.interrupts import run_interruptibly
    from jury_cli.options import selected
    from jury_cli.terminal import note
    from jury_judge.live.feed import Feed
    from jury_store.opening import open_store

    selection = selected(debate_ids, run_id, everything=everything, where=where)
    url = resolved_store(store_url)
    store = open_store(url, write=False)
    try:
        run = _run_of(store, url, debate_ids)
        if as_jsonl and run is None:
            raise click.UsageError("--jsonl prints the figures of one run: name it, as `jury runs` does")
        if run is not None:
            from jury_cli.run_watch import watch_run

            if as_json:
                raise click.UsageError(f"--json is about events of debates: --run {run} follows those of the run")
            run_interruptibly(partial(watch_run, store, url, run, as_jsonl=as_jsonl))
            return Exit.DONE
        if selection.debate_ids is not None:
            _must_exist(store, selection.debate_ids)
        else:
            note("following what is not over and what opens from now on; Ctrl-C ends it")

        async def follow() -> bool:
            feed = Feed(store, most=_MOST)
            watching = _Watching(feed, as_json=as_json, named=len(selection.debate_ids or ()) != 1)
            # The reader of stdout is gone: there is nothing left to do.
            with suppress(OutputClosed):
                if selection.debate_ids is not None:
                    await watching.follow_all(selection.debate_ids)
                else:
                    await watching.follow_open(store, selection.run_id, where)
            return watching.damaged

        return Exit.INTEGRITY if run_interruptibly(follow) else Exit.DONE
    finally:
        store.close()


def _run_of(store: "EventStore", url: str, names: tuple[str, ...]) -> str | None:
    """The one name, if it is a run's and no debate has it; a run whose first debate is not open yet counts too."""
    from jury_events.ids import debate_stream, is_run_id
    from jury_judge.running.cancelling import run_row
    from jury_store.run_registry import open_registry

    if len(names) != 1 or not is_run_id(names[0]) or store.heads([debate_stream(names[0])]):
        return None
    if run_row(store, names[0]) is not None:
        return names[0]
    with closing(open_registry(url)) as registry:
        return names[0] if registry.holders(names) else None


def _must_exist(store: "EventStore", debate_ids: Iterable[str]) -> None:
    from jury_events.errors import DebateNotFound
    from jury_events.ids import debate_stream

    for one in debate_ids:
        if not store.heads([debate_stream(one)]):
            raise DebateNotFound.named(one)


class _Watching:
    """Prints the lines of debates; `named`: after the debate's id. `damaged`: a debate could not be read."""

    def __init__(self, feed: "Feed", *, as_json: bool, named: bool) -> None:
        self._feed = feed
        self.damaged = False
        self._as_json = as_json
        self._named = named
        self._said = ""

    async def follow_all(self, debate_ids: Iterable[str]) -> None:
        """Follow each to its end."""
        await asyncio.gather(*map(self._follow, debate_ids))

    async def say_progress(self, store: "EventStore", run_id: str) -> None:
        """Print the progress of the run every few seconds, if it changed."""
        from jury_cli.terminal import note
        from jury_cli.views.run_progress import run_progress

        while True:
            run = next((one for one in await asyncio.to_thread(store.runs) if one.run_id == run_id), None)
            line = "" if run is None else f"run {run_id}: {run_progress(run)}"
            if line != self._said:
                self._said = line
                note(line)
            await asyncio.sleep(_PROGRESS_SECONDS)

    async def follow_open(self, store: "EventStore", run_id: str | None, where: "tuple[Condition, ...]") -> None:
        """Follow the debates that are not over, and every one that opens."""
        from jury_events.conditions import admitted

        tasks: dict[str, asyncio.Task[None]] = {}
        progress = None if run_id is None else asyncio.create_task(self.say_progress(store, run_id))
        broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def ended(task: asyncio.Task[None]) -> None:
            problem = None if task.cancelled() else task.exception()
            if problem is not None and not broken.done():
                broken.set_exception(problem)

        def begin(debate_id: str) -> None:
            if debate_id not in tasks:
                tasks[debate_id] = asyncio.create_task(self._follow(debate_id))
                tasks[debate_id].add_done_callback(ended)

        def opens(opening: "Opening") -> None:
            if run_id in {None, opening.run_id} and admitted(where, opening.values):
                begin(opening.debate_id)

        if progress is not None:
            progress.add_done_callback(ended)
        async with self._feed.openings(opens):
            after = 0
            open_ones = partial(store.debates, run_id=run_id, unfinished=True, where=where)
            while rows := await asyncio.to_thread(open_ones, after=after):
                for row in rows:
                    begin(row.debate_id)
                after = rows[-1].position
            await broken

    async def _follow(self, debate_id: str) -> None:
        from jury_cli.terminal import note
        from jury_events.errors import EventError

        try:
            await self._print_events(debate_id)
        except EventError as error:
            self.damaged = True
            note(f"debate {debate_id} cannot be read: {error}")

    async def _print_events(self, debate_id: str) -> None:
        from jury_events.text.visible_text import visible_line
        from jury_views.live.encodings import LIVE_EVENTS, LOG_EVENTS
        from jury_views.terminal.live_lines import LiveLines

        if self._as_json:
            async with self._feed.follow(debate_id, LIVE_EVENTS) as cursor:
                async for live in cursor:
                    self._print(json.dumps({"debate_id": debate_id, **live._asdict()}, ensure_ascii=False))
            return
        lines = LiveLines()
        head = f"{debate_id}  " if self._named else ""
        async with self._feed.follow(debate_id, LOG_EVENTS) as events:
            async for event in events:
                for line in lines.lines(event):
                    self._print(head + visible_line(line, 1000))

    def _print(self, line: str) -> None:
        from jury_cli.streams import check_stdout

        print(line, flush=True)
        check_stdout("jury watch can be started again at any time")
