"""The results of a run that a detached process executes, printed as they come, as if this command executed it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from jury_actors.messages import Finished
from jury_cli.interrupts import run_interruptibly
from jury_cli.judging import note_line
from jury_cli.streams import check_stdout
from jury_cli.terminal import ProgressDisplay
from jury_judge.run_session import RunOutcome, RunSession
from jury_judge.running.detaching import log_file
from jury_judge.runs.preflight import PreflightReport, preflight
from jury_judge.runs.run import Run
from jury_store.debate_rows import ENDED
from jury_store.event_store import EventStore
from jury_store.opening import open_store
from jury_store.run_registry import RunHolder, RunRegistry, open_registry
from jury_views.result_lines import line_of

if TYPE_CHECKING:
    from jury_cli.results import Results
    from jury_judge.runs.run_lines import Line

_EVERY = 0.5
"""Seconds between two looks at a debate that is not over."""


def follow_run(run: Run, url: str, holder: RunHolder, results: "Results", display: str) -> RunOutcome:
    """Print the results of all debates of a run, in the order of the cases, until the process ends.

    Ctrl-C ends the printing, and leaves the run going.

    Args:
        run: the input, as of the command that began it.
        url: of the store.
        holder: the process that executes it.
        results: takes the line of each debate.
        display: how progress is shown.

    Raises:
        RunRefused, CaseFileError: as `preflight`: the input is not that of the run.
    """
    note_line(f"run {run.run_id} goes on in process {holder.process}; Ctrl-C leaves it going")
    with (
        closing(open_store(url, write=False)) as store,
        closing(open_registry(url)) as registry,
        closing(ProgressDisplay(run.run_id, display)) as progress,
    ):
        checked = preflight(run, store)
        session = RunSession(run, checked, store, progress)
        session.begin(checked.total, checked.ended)

        async def print_results() -> None:
            async for line in _lines(run, checked, store, registry, session):
                results.take(line)
                check_stdout("the run goes on")

        run_interruptibly(print_results)
        outcome = session.outcome(interrupted=False, lines=results.taken)
    if results.taken != outcome.total:
        note_line(
            f"the process ended before the run did ({log_file(url, run.run_id)} says why, on its machine); "
            f"the same command with --run {run.run_id} goes on from here"
        )
    return outcome


async def _lines(
    run: Run, checked: PreflightReport, store: EventStore, registry: RunRegistry, session: RunSession
) -> AsyncIterator["Line"]:
    alive = True
    ids = _ids(run)
    while (debate_id := await asyncio.to_thread(next, ids, None)) is not None:
        while not (over := await asyncio.to_thread(_is_over, store, debate_id)) and alive:
            await asyncio.sleep(_EVERY)
            # Looked at before the debate is read once more: what it did last is not missed.
            alive = run.run_id in await asyncio.to_thread(registry.holders, [run.run_id])
        if over:
            (history,) = await asyncio.to_thread(store.event_histories, [debate_id])
            if history.stored_events[-1].position > checked.position:
                session.ended(Finished(debate_id, "over"))
            yield line_of(history)


def _ids(run: Run) -> Iterator[str]:
    for case in run.outline(set, lambda _case: False):
        yield from run.debate_ids(case)


def _is_over(store: EventStore, debate_id: str) -> bool:
    row = store.debate(debate_id)
    return row is not None and row.status in ENDED
