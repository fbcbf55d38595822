"""A run that is listed to its end and not judged: any process may judge it later, without its files."""

import asyncio
from contextlib import closing
from typing import NamedTuple

from jury_actors.clerk import Clerk, ClerkInterface
from jury_actors.runtime import Runtime
from jury_actors.store_retry import StoreRetry
from jury_events.ids import run_stream
from jury_events.run_events import RunBudget
from jury_events.run_facts import run_facts
from jury_judge.errors import SettingsRefused
from jury_judge.running.supervision import RunSupervision
from jury_judge.runs.case_jobs import CaseJobs
from jury_judge.runs.lister import CaseLister
from jury_judge.runs.recorded_debates import read_once
from jury_judge.runs.run_progress import NoListener, RunProgress, moves
from jury_judge.sessions.run_executor import LOCK_SECONDS, RunExecutor
from jury_judge.stores.stores import open_writer


class ListingOutcome(NamedTuple):
    """How many debates the run has in its list, how many of them were listed now, and whether every case is."""

    listed: int
    now: int
    complete: bool


async def list_run(executor: RunExecutor, stopping: asyncio.Event) -> ListingOutcome:
    """Open every debate of a run, and ask no model; the same call goes on where an earlier one stopped.

    Args:
        executor: the run; its keys need not be there.
        stopping: once set, nothing more is listed; what is listed stays. Set too once the run is cancelled.
    """
    run, settings = executor.planned.run, executor.planned.settings
    before = _listed(executor)
    writer = executor.writer or open_writer(executor.url, run=run.run_id, wait=LOCK_SECONDS, say=executor.say)
    supervision = RunSupervision(
        executor.url, run.run_id, detached=executor.detached, reopens=executor.reopens, say=executor.say
    )
    with closing(Clerk(writer, StoreRetry(settings.store_patience))) as clerk:
        async with supervision.around(Runtime((), clerk), executor.store, stopping):
            found = await _listed_by(executor, clerk, stopping, settings.bounds)
        if found is not None:
            raise found
    after = _listed(executor)
    if after is None:
        raise SettingsRefused(f"run {run.run_id} has no case: nothing was listed")
    return after._replace(now=after.listed - (0 if before is None else before.listed))


async def _listed_by(
    executor: RunExecutor, clerk: ClerkInterface, stopping: asyncio.Event, bounds: RunBudget
) -> Exception | None:
    """List what is not listed; returns why cases after the last one cannot be read."""
    run, checked = executor.planned.run, executor.checked
    state = RunProgress(moved=moves(asyncio.Event()))
    jobs = CaseJobs(
        run=run,
        watched=False,
        checked=checked,
        state=state,
        stopping=stopping,
        store=executor.store,
        read=read_once,
        progress=NoListener(),
        begun_first=False,
    )
    lister = CaseLister.of(jobs, clerk, bounds)
    await asyncio.to_thread(lambda: sum(1 for _ in lister.listed(iter(jobs))))
    return state.unreadable


def _listed(executor: RunExecutor) -> ListingOutcome | None:
    facts = run_facts(executor.store.read_stream(run_stream(executor.planned.run.run_id)))
    return None if facts is None else ListingOutcome(facts.listed, 0, facts.complete)
