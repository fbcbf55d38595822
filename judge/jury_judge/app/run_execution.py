"""A run executed: debates are begun as places become free, and their result lines come in the order of the cases."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from jury_actors.driver import drive
from jury_actors.errors import ClusterLost, Halted
from jury_actors.messages import Chunk, Finished, Job, RunContext
from jury_actors.runtime import Runtime
from jury_actors.store_retry import StoreRetry
from jury_events.case import Case
from jury_judge.app.allowance import Allowance
from jury_judge.app.debates import events_gone
from jury_judge.app.preflight import PreflightReport, check_case
from jury_judge.app.run import Run
from jury_judge.errors import CaseFileError, RunRefused
from jury_judge.present.result_lines import line_of
from jury_store.errors import AppendRefused, Fenced, StoreError
from jury_store.event_store import EventStore

_LINES_AT_ONCE = 200

Line = dict[str, Any]

Driving = Callable[..., AsyncGenerator[Finished, None]]


class ProgressListener(Protocol):
    """Callbacks of a run."""

    def begin(self, total: int | None, stored: int) -> None:
        """`total` cases (None: not known yet), `stored` of them judged before."""
        ...

    def total_known(self, total: int) -> None:
        """The last case was read: the run has `total` cases."""
        ...

    def ended(self, finished: Finished) -> None:
        """A debate ended, or could not go on."""
        ...


class NoListener:
    """A `ProgressListener` that ignores everything."""

    def begin(self, total: int | None, stored: int) -> None:
        """Ignored."""

    def total_known(self, total: int) -> None:
        """Ignored."""

    def ended(self, finished: Finished) -> None:
        """Ignored."""


@dataclass(kw_only=True)
class RunProgress:
    """The state of a run.

    Attributes:
        order: debates whose lines are still to be yielded, in the order of the cases.
        over: debates of `order` that have ended.
        failed: debates that could not go on.
        unreadable: why no more cases were read.
        cases: how many cases the run has, until that is stored.
    """

    order: deque[str] = field(default_factory=deque)
    over: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    unreadable: CaseFileError | RunRefused | None = None
    cases: int | None = None


async def execute_run(
    run: Run,
    checked: PreflightReport,
    store: EventStore,
    open_runtime: Callable[[], AbstractAsyncContextManager[Runtime]],
    *,
    progress: ProgressListener,
    stopping: asyncio.Event,
    problems: list[Finished],
    on_chunk: Callable[[Chunk], None] | None = None,
    store_patience: float = 0.0,
    allowance: Allowance | None = None,
    driving: Driving = drive,
) -> AsyncGenerator[Line, None]:
    """Run the debates that are not over yet; yields the result line of every debate, in the order of the cases.

    Args:
        run: the input.
        checked: the report of its preflight.
        store: open for reading.
        open_runtime: sets up the actors; not called when no debate is left.
        progress: called for every debate that ends.
        stopping: once set, no new debate begins; those that run are finished.
        problems: takes the debates that could not go on; no line is yielded for them.
        on_chunk: called with each chunk that a final judge writes.
        store_patience: seconds for which a store that cannot be read is tried again.
        allowance: of a run with a budget. Debates that were begun before come first; others begin if it admits them.
        driving: `drive`, or what wraps it.

    Raises:
        CaseFileError: a case, or a record behind its URI, cannot be read any more; raised after the running debates
            have ended.
        RunRefused: a case that the preflight did not read differs from the one that was judged before; likewise.
    """
    state = RunProgress()
    patience = StoreRetry(store_patience)  # silent: the writer reports that the store is away
    progress.begin(checked.total, checked.ended)
    context = RunContext(run.run_id, run.resolved, watched=on_chunk is not None)
    jobs = iter(
        _Jobs(
            run=run,
            context=context,
            checked=checked,
            state=state,
            stopping=stopping,
            store=store,
            progress=progress,
            begun_first=allowance is not None,
        )
    )
    bounds = _Bounds(allowance, stopping, patience)
    if checked.left:
        async with open_runtime() as runtime:
            await runtime.clerk.store_run_size(run.run_id, checked.cases)
            ends = driving(
                runtime, jobs, concurrency=run.concurrency, on_chunk=on_chunk or _ignored, admits=bounds.admits
            )
            async for finished in ends:
                progress.ended(finished)
                await bounds.ended(finished)
                state.over.add(finished.debate_id)
                if finished.problem is not None:
                    problems.append(finished)
                    state.failed.add(finished.debate_id)
                    if _stops_the_run(finished.problem):
                        stopping.set()
                async for line in _lines(state, store, patience):
                    yield line
                await _note_counted(runtime, run, state, patience)
            await _note_counted(runtime, run, state, patience)
    if allowance is not None and allowance.short:
        stopping.set()
    await asyncio.to_thread(deque, jobs, 0)  # cases after the last job that were judged before
    state.order = deque(one for one in state.order if one in state.over)  # the last job may not have begun
    async for line in _lines(state, store, patience):
        yield line
    if state.unreadable is not None:
        raise state.unreadable


@dataclass(frozen=True)
class _Bounds:
    """The allowance of a run, if it has one; reads the store in a thread, and again while the store is away."""

    allowance: Allowance | None
    stopping: asyncio.Event
    patience: StoreRetry

    async def admits(self, job: Job) -> bool:
        """Whether a debate may begin now; none may once the run is stopping."""
        if self.allowance is None:
            return True
        if self.stopping.is_set():
            return False
        admitted, _ = await self.patience.run(partial(asyncio.to_thread, self.allowance.admits, job))
        return admitted

    async def ended(self, finished: Finished) -> None:
        """Release what was reserved for a debate."""
        if self.allowance is not None:
            ended = partial(self.allowance.ended, finished.debate_id, finished=finished.problem is None)
            await self.patience.run(partial(asyncio.to_thread, ended))


async def _note_counted(runtime: Runtime, run: Run, state: RunProgress, patience: StoreRetry) -> None:
    """Store how many cases the run has once all were read, if that took longer than the preflight."""
    if state.cases is not None:
        await patience.run(partial(runtime.clerk.store_run_size, run.run_id, state.cases))
        state.cases = None


def _stops_the_run(problem: BaseException) -> bool:
    """Whether a problem concerns every debate: a person must act, or the store or cluster failed or was taken over."""
    if isinstance(problem, Halted | ClusterLost):
        return True
    return isinstance(problem, StoreError) and (isinstance(problem, Fenced) or not isinstance(problem, AppendRefused))


def _ignored(_chunk: Chunk) -> None:
    """For a run whose chunks are not shown."""


@dataclass(frozen=True, kw_only=True)
class _Jobs:
    """The debates that are left; iterating also records the order of all lines."""

    run: Run
    context: RunContext
    checked: PreflightReport
    state: RunProgress
    stopping: asyncio.Event
    store: EventStore
    progress: ProgressListener
    begun_first: bool

    def __iter__(self) -> Iterator[Job]:
        """A case that cannot be read ends the iteration; its error is raised after the running debates have ended."""
        try:
            yield from self._readable()
        except (CaseFileError, RunRefused) as error:
            self.state.unreadable = error

    def _readable(self) -> Iterator[Job]:
        run, checked, state = self.run, self.checked, self.state
        ended = checked.ended
        number = there = 0
        early: set[str] = set()
        if self.begun_first:
            for job in self._begun():
                early.add(job.debate_id)
                yield job
        for number, case in enumerate(run.cases(self._is_wanted), start=1):
            debate = run.debate_id(case)
            row = checked.stored.get(debate)
            there += row is not None
            if row is not None and number > checked.read:
                check_case(run, case, row, self.store)
            if checked.is_over(debate):
                state.order.append(debate)
                state.over.add(debate)
                ended -= 1
            elif debate in early:
                state.order.append(debate)
            elif not self.stopping.is_set():
                state.order.append(debate)
                yield self._job(case)
            elif not ended and checked.total is None:
                return  # all lines of judged cases are yielded; the rest of a long file is not read
        if checked.total is None:
            self.progress.total_known(number)
            others = sum(row.quarantined is None for row in checked.stored.values()) - there
            state.cases = number + others

    def _begun(self) -> Iterator[Job]:
        """Debates of earlier sessions that are not over."""
        left = {debate for debate in self.checked.stored if not self.checked.is_over(debate)}
        for case in self.run.cases(lambda _case: False) if left else ():
            if self.stopping.is_set() or not left:
                return
            debate = self.run.debate_id(case)
            if debate in left:
                left.discard(debate)
                check_case(self.run, case, self.checked.stored[debate], self.store)
                yield self._job(case)

    def _job(self, case: Case) -> Job:
        debate = self.run.debate_id(case)
        content, taken_over = case.model_dump_json().encode(), debate in self.checked.adopted
        return Job(debate, content, self.context, self.run.submission_id(case), adopted=taken_over)

    def _is_wanted(self, case: Case) -> bool:
        """Whether the records behind its URIs are needed."""
        return not self.stopping.is_set() and self.run.debate_id(case) not in self.checked.stored


async def _lines(state: RunProgress, store: EventStore, patience: StoreRetry) -> AsyncIterator[Line]:
    """The lines of the debates at the head of `order` that are over."""
    while state.order and state.order[0] in state.over:
        ready: list[str] = []
        while state.order and state.order[0] in state.over and len(ready) < _LINES_AT_ONCE:
            debate = state.order.popleft()
            state.over.discard(debate)
            if debate not in state.failed:
                ready.append(debate)
        lines, _ = await patience.run(partial(asyncio.to_thread, _read_lines, store, ready))
        for line in lines:
            yield line


def _read_lines(store: EventStore, debates: list[str]) -> list[Line]:
    histories = store.event_histories(debates)
    gone = next((history.debate_id for history in histories if not history.stored_events), None)
    if gone is not None:
        raise events_gone(gone)
    return [line_of(history) for history in histories]
