"""Cases that are listed in a run and not judged: once their debates are opened, any server may judge them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from typing import NamedTuple

from jury_actors.clerk import Clerk, ClerkInterface
from jury_actors.messages import Job, RunContext
from jury_actors.runtime import Runtime
from jury_actors.store_retry import StoreRetry
from jury_debate.resolved_panel import ResolvedPanel
from jury_events.case import Case
from jury_events.ids import debate_stream, run_stream
from jury_events.run_facts import RunFacts, run_facts
from jury_judge.errors import OtherCase, RunRefused, SettingsRefused
from jury_judge.runs.cancelling import RunLog
from jury_judge.runs.case_stages import first_place
from jury_judge.runs.cases_once import CasesOnce, no_case
from jury_judge.runs.execution import CaseJobs
from jury_judge.runs.lister import CaseLister, is_judged_by
from jury_judge.runs.preflight import is_over, preflight
from jury_judge.runs.run import RunInput, RunProgress
from jury_judge.runs.session import LOCK_SECONDS, JudgingSession
from jury_judge.runs.supervision import RunSupervision
from jury_judge.store_access.stores import open_writer
from jury_store.event_store import EventStore


async def list_cases(
    run: RunInput, store: EventStore, clerk: Callable[[], Awaitable[ClerkInterface]], log: RunLog
) -> None:
    """Open those debates of a submitted run that are not opened; a cancelled run is gone on with.

    Args:
        run: with all cases, which are checked before one is listed.
        clerk: gives the writer of the log, where there is something to write.
        log: of the run; one call uses it at a time.
    """
    jobs, listed, size = await asyncio.to_thread(_checked, run, store, log)
    facts = log.facts
    is_open = facts is None or facts.cancelled_by is not None or (run.whole and not facts.complete)
    if len(listed) == len(jobs) and not is_open:
        return
    writer, state = await clerk(), RunProgress(len(jobs), size)
    lister = CaseLister(run=run, store=store, clerk=writer, state=state, stopping=asyncio.Event(), log=log)
    await log.reopen(writer.record, lister.by)
    opened = await asyncio.to_thread(lambda: sum(job.known is not None for job in lister.listed(iter(jobs))))
    if opened + len(listed) < len(jobs):  # another process listed some of them meanwhile, perhaps over other cases
        await asyncio.to_thread(_checked, run, store, log)


def _checked(run: RunInput, store: EventStore, log: RunLog) -> tuple[list[Job], frozenset[str], int | None]:
    """The debates of a run as jobs, the ids of those that the store has, and how many the run is to have.

    Refuses a run that is not as it was.
    """
    facts = log.look()
    _check_submitted(run, facts)
    if (new := _new_jobs(run, store, facts)) is not None:
        return new, frozenset(), len(new)
    checked = preflight(run, store, seconds=None)
    if (other := checked.changed.first) is not None:
        raise OtherCase(
            f"run {run.run_id!r} has another case under the id {other!r}: its content has changed since (or what the "
            "panel file redacts of it); use another run or id, or give the case its old content"
        )
    jobs = list(_jobs(run, checked.cases, checked.resolved(run.resolved)))
    streams = store.heads([debate_stream(job.debate_id) for job in jobs])
    listed = [job for job in jobs if debate_stream(job.debate_id) in streams]
    if checked.stored.row is None:
        for job in listed:
            _check_alone(run, job, store)
    return jobs, frozenset(job.debate_id for job in listed), checked.size


def _new_jobs(run: RunInput, store: EventStore, facts: RunFacts | None) -> list[Job] | None:
    """The debates where it is known at once that none of them is opened, and that the run is by this panel.

    Lists of a store that is written at this moment cost much more than its streams.
    """
    if run.ladder is not None or (facts is not None and (run.whole or not is_judged_by(facts.opened, run.resolved))):
        return None
    if facts is None and store.run(run.run_id) is not None:
        return None
    jobs = list(_jobs(run, CasesOnce(run, None), run.resolved))
    return None if store.heads([debate_stream(job.debate_id) for job in jobs]) else jobs


def _jobs(run: RunInput, cases: CasesOnce, resolved: ResolvedPanel) -> Iterator[Job]:
    context, place = RunContext(run.run_id, resolved, pictures=run.pictures), first_place(run.ladder)
    for found in cases.read(no_case, last=True):
        assert found.content is not None, "the case was read"
        for debate in run.debate_ids(found.case_id):
            yield Job(debate, found.content, context, run.submission_id, stage=place)


def _check_submitted(run: RunInput, facts: RunFacts | None) -> None:
    """Refuse to add to a run that servers do not go on with by themselves: what they acknowledge is to end."""
    if facts is not None and (facts.opened.submitted is None or facts.imports):
        how = "came in a cassette" if facts.imports else f"was begun by {facts.opened.by} without a server"
        raise RunRefused(
            f"run {run.run_id!r} {how}, so no server goes on with it; submit the cases under another run id"
        )


def _check_alone(run: RunInput, job: Job, store: EventStore) -> None:
    """Refuse a debate that the store has of no run of this id: it is of another run, or of none."""
    is_over(job.debate_id, Case.model_validate_json(job.case), run.resolved, store, run.adopt, stage=job.stage)
    raise RunRefused(f"debate {job.debate_id} is in the store, and of no run {run.run_id!r}; use another run id")


class ListingOutcome(NamedTuple):
    """How many debates the run has in its list, how many of them were listed now, and whether every case is."""

    listed: int
    now: int
    complete: bool


async def list_run(session: JudgingSession, stopping: asyncio.Event) -> ListingOutcome:
    """Open every debate of a run, and ask no model; the same call goes on where an earlier one stopped.

    Args:
        session: the run; its keys need not be there.
        stopping: once set, nothing more is listed; what is listed stays. Set too once the run is cancelled.
    """
    run, settings = session.planned.run, session.planned.settings
    before = _listed(session)
    writer = session.writer or open_writer(session.url, run=run.run_id, wait=LOCK_SECONDS, say=session.say)
    supervision = RunSupervision(
        session.url, run.run_id, detached=session.detached, reopens=session.reopens, say=session.say
    )
    with closing(Clerk(writer, StoreRetry(settings.store_patience))) as clerk:
        async with supervision.around(Runtime((), clerk), session.store, stopping):
            state = RunProgress(session.checked.total, session.checked.size)
            jobs = CaseJobs(run=run, checked=session.checked, store=session.store, state=state, stopping=stopping)
            lister = CaseLister(
                run=run, store=session.store, clerk=clerk, state=state, stopping=stopping, budget=settings.bounds
            )
            await asyncio.to_thread(lambda: sum(1 for _ in lister.listed(iter(jobs))))
        if state.unreadable is not None:
            raise state.unreadable
    after = _listed(session)
    if after is None:
        raise SettingsRefused(f"run {run.run_id} has no case: nothing was listed")
    return after._replace(now=after.listed - (0 if before is None else before.listed))


def _listed(session: JudgingSession) -> ListingOutcome | None:
    facts = run_facts(session.store.read_stream(run_stream(session.planned.run.run_id)))
    return None if facts is None else ListingOutcome(facts.listed, 0, facts.complete)
