"""The debates that are left of a run: drawn in the order of the cases, begun as places become free, and their result
lines given in that order again.
"""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, TypeGuard

from jury_actors.errors import ClusterLost, Halted
from jury_actors.messages import Chunk, Finished, Job, RunContext
from jury_actors.runtime import drive
from jury_actors.store_retry import StoreRetry
from jury_cases.errors import CaseFileError
from jury_debate.resolved_panel import without_seats
from jury_events.ids import first_stage_of, stage_id
from jury_events.ladder import StagePlace
from jury_events.run_events import BudgetBounds
from jury_judge.errors import RunRefused
from jury_judge.runs.case_fit import seats_left_out
from jury_judge.runs.case_stages import OpenStage, first_place, latest_stage, open_stages
from jury_judge.runs.cases_once import Read, ReadCase, RecordedDebates, read_once, recorded_cases
from jury_judge.runs.lister import MOST_AHEAD, CaseLister
from jury_judge.runs.panel_actors import RuntimePool
from jury_judge.runs.preflight import PreflightReport, check_case
from jury_judge.runs.run import RunInput, RunProgress
from jury_judge.runs.run_budget import DebateReservations
from jury_judge.runs.supervision import RunSupervision
from jury_judge.store_access.debates import events_gone, result_lines
from jury_store.debate_rows import CaseRow, DebateRow
from jury_store.errors import AppendRefused, Fenced, StoreError, StoreFailed, StoreUnreachable
from jury_store.event_store import EventStore

_PAGE = 1000


@dataclass(kw_only=True)
class CaseJobs:
    """Iterates the debates that are left: of each case the next one. Cases that are over are passed by their ids alone.

    Attributes:
        run: the input.
        checked: the report of the preflight, with the cases; takes the order of the debates.
        store: open for reading.
        state: takes which debates run, and how many there are, if the preflight did not count them.
        stopping: once set, no more jobs are drawn.
        watched: see `RunContext`.
        read: reads the store.
        begun_first: debates of earlier sessions that are not over come before all others.
    """

    run: RunInput
    checked: PreflightReport
    store: EventStore
    state: RunProgress
    stopping: asyncio.Event
    watched: bool = False
    read: Read = read_once
    begun_first: bool = False

    def __post_init__(self) -> None:
        self._there = None if self.checked.stored.row is None else self.store
        self._index = RecordedDebates(self.run, self._there, brief=True, read=self.read)
        self._contexts: dict[tuple[int, tuple[str, ...]], RunContext] = {}
        self._cases = self.checked.cases.read(self._judged, self.stopping, last=True)
        self._early: set[str] = set()
        """Debates of earlier sessions that were drawn before their place."""
        self._number = self._before = 0
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Job]:
        """A case that cannot be read ends the iteration; its error is raised after the running debates have ended."""
        try:
            if self.begun_first and self._there is not None:
                yield from self._begun()
            while not self._ends() and (jobs := self._next()) is not None:
                for job in jobs:
                    if not self.stopping.is_set():
                        yield job
        except (CaseFileError, RunRefused) as error:
            self.state.unreadable = self.state.unreadable or error
        self.state.begun = self.state.begun or not self.state.running
        self.state.moved()

    def pass_case(self) -> bool:
        """After the last job: add the next case to the order; False where there is none, or it cannot be read."""
        try:
            return self._next() is not None
        except (CaseFileError, RunRefused) as error:
            self.state.unreadable = self.state.unreadable or error
            return False

    def _ends(self) -> bool:
        return self.stopping.is_set() or self.state.unreadable is not None

    def _next(self) -> list[Job] | None:
        """Pass a case; returns the jobs of those of its debates that are left, None after the last case."""
        with self._lock:
            found = next(self._cases, None)
            if found is None:
                if self.checked.total is None and not self.state.over:
                    elsewhere = max(0, self.checked.stored.opened - self._before)
                    self.state.count(self._number, self._number + elsewhere)
                return None
            jobs = [] if found.content is None or self.state.over else self._jobs_of(found)
            for job in jobs:
                self.state.draw(job)
            for debate in self.run.debate_ids(found.case_id):
                known = self._index.found.get(debate)
                if known is not None and known.position > self.checked.stored.position:
                    known = None  # it was opened in this call
                self._number += 1
                self._before += known is not None
                if (known is not None and known.has_verdict) or debate in self._early or not self.state.over:
                    self.checked.order.add(debate, over=known is not None and known.over)
        return jobs

    def _judged(self, case_ids: Sequence[str]) -> frozenset[str]:
        found = self._index.load(case_ids)
        self.state.moved()
        return found

    def _jobs_of(self, found: ReadCase) -> list[Job]:
        jobs = []
        for first in self.run.debate_ids(found.case_id):
            known, counts = self._index.found.get(first), self.run.counts(first)
            row = None if known is None else known.row
            if first in self._early or (row is not None and not self._may_go_on(found, counts, row)):
                continue
            if known is None or not known.ended:
                place = None if self.run.ladder is None else first_place(self.run.ladder)
                jobs.append(self._job(found, counts, place, adopted=row is not None and row.imported is not None))
            elif known.further is not None and self._may_go_further(found, first, known.further):
                further = known.further
                adopted = further.row is not None and further.row.imported is not None
                jobs.append(self._job(found, further.debate_id, further.place, adopted=adopted))
        return jobs

    def _begun(self) -> Iterator[Job]:
        """Debates of earlier sessions that are not over; those that run at once are as many, so all are remembered."""
        left: set[str] = set()
        after = 0
        while rows := self.store.debates(run_id=self.run.run_id, unfinished=True, limit=_PAGE, after=after):
            left.update(row.debate_id for row in rows)
            after = rows[-1].position

        def others(case_ids: Sequence[str]) -> set[str]:
            judged = self._index.load(case_ids)
            return {one for one in case_ids if one in judged and left.isdisjoint(self._every_stage(one))}

        for found in self.checked.cases.read(others, self.stopping) if left else ():
            if self._ends() or not left:
                return
            for debate in () if found.content is None else left.intersection(self._every_stage(found.case_id)):
                left.discard(debate)
                row = self.read(partial(self.store.cases_of, [debate])).get(debate)
                if row is not None and self._may_go_on(found, debate, row):
                    first = first_stage_of(debate)
                    known = self._index.found.get(first)
                    further = None if known is None else known.further
                    place = first_place(self.run.ladder) if further is None else further.place
                    self._early.add(first)
                    job = self._job(found, debate, place, adopted=row.imported is not None)
                    self.state.draw(job)
                    yield job

    def _every_stage(self, case_id: str) -> list[str]:
        stages = 1 if self.run.ladder is None else len(self.run.ladder.stages)
        return [
            self.run.counts(stage_id(one, number))
            for one in self.run.debate_ids(case_id)
            for number in range(1, stages + 1)
        ]

    def _may_go_further(self, found: ReadCase, first: str, further: OpenStage) -> bool:
        if first in self.state.failed:
            return False
        if further.row is None:
            return True
        row = self.read(partial(self.store.cases_of, [further.debate_id])).get(further.debate_id)
        return row is None or self._may_go_on(found, further.debate_id, row)

    def _may_go_on(self, found: ReadCase, debate: str, row: CaseRow) -> bool:
        if first_stage_of(debate) in self.state.failed:
            return False
        check_case(self.run, found.case, debate, row, self.store, changed=self.checked.changed)
        return True

    def _job(self, found: ReadCase, debate: str, place: StagePlace | None, *, adopted: bool) -> Job:
        assert found.content is not None, "the case was read"
        self.state.moved()
        context = self.context(place, found)
        return Job(debate, found.content, context, self.run.submission_id, adopted=adopted, stage=place)

    def context(self, place: StagePlace | None, found: ReadCase | None) -> RunContext:
        """What debates of a stage share whose cases seat the same jurors.

        Args:
            place: None: of the run, which has no ladder.
            found: None: of a further stage, which leaves out none.

        Raises:
            RunRefused: the panel refuses the case for a seat of its agent's family.
        """
        run, number = self.run, 1 if place is None else place.number
        resolved = run.resolved if run.ladder is None else run.ladder.stages[number - 1].resolved
        left_out: tuple[str, ...] = ()
        if found is not None and resolved.panel.own_family is not None:
            left_out = seats_left_out(resolved.panel, found.case)
        key = number, left_out
        if key not in self._contexts:
            self._contexts[key] = RunContext(
                run.run_id,
                self.checked.resolved(without_seats(resolved, left_out) if left_out else resolved),
                watched=self.watched,
                operator_policy=run.operator_policy,
                pictures=run.pictures,
            )
        return self._contexts[key]


Line = dict[str, Any]

_LINES_AT_ONCE = 200
_FIRST_LINES = 16


class OrderedLines:
    """Gives the line of each debate at its place, once it is over.

    By a ladder it is the line of the debate that counts for the case.
    """

    def __init__(self, jobs: CaseJobs, patience: StoreRetry) -> None:
        self._jobs = jobs
        self._patience = patience
        self._before = jobs.checked.ended
        self._ready: list[str] = []
        self._most = _FIRST_LINES
        self.done = False
        self.given = 0
        """How many lines were given of debates that were left."""

    async def take(self) -> list[Line]:
        """The next lines that are ready; none where a debate before them is not over, or at the end (`done`)."""
        if self.done or self._waits():
            return []
        lines, _ = await self._patience.run(partial(asyncio.to_thread, self._lines), reads=True)
        self._most = _LINES_AT_ONCE
        return lines

    def _waits(self) -> bool:
        """Whether the next debate has not ended, or is not known yet; of debates that are over, none delays a call."""
        state, checked = self._jobs.state, self._jobs.checked
        if state.over:
            return False
        if not state.begun and checked.expected != 0:
            return True
        first = checked.order.first()
        return first is None or first.debate_id in state.running

    def _lines(self) -> list[Line]:
        run, store, state, order = self._jobs.run, self._jobs.store, self._jobs.state, self._jobs.checked.order
        while len(self._ready) < self._most and not self.done and not self._waits():
            first = order.first()
            if first is None:
                # A long file is not read to its end for debates that did not begin.
                behind = self._jobs.checked.total is None and self._before <= 0
                self.done = behind or state.unreadable is not None or not self._jobs.pass_case()
                continue
            order.remove()
            self._before -= first.over
            self.given += not first.over
            if first.debate_id not in state.failed and first.debate_id not in state.running:
                self._ready.append(first.debate_id)
        ready = [run.counts(one) for one in self._ready]
        if run.ladder is not None:
            ready = [row.debate_id for one in ready if _counts(row := latest_stage(store, first_stage_of(one)))]
        lines = _read_lines(store, ready) if ready else []
        # Only now: where the store is away, the same debates are read again.
        self._ready = []
        return lines


def _counts(row: DebateRow | None) -> TypeGuard[DebateRow]:
    return row is not None and row.has_ended and row.aside is None


def _read_lines(store: EventStore, debates: list[str]) -> list[Line]:
    histories = store.event_histories(debates)
    gone = next((history.debate_id for history in histories if not history.stored_events), None)
    if gone is not None:
        raise events_gone(gone)
    return result_lines(store, histories)


Driving = Callable[..., AsyncGenerator[Finished, None]]


@dataclass(kw_only=True)
class RunExecution:
    """Runs the debates of a run that are not over yet, once.

    Attributes:
        run: the input.
        checked: the report of its preflight.
        store: open for reading.
        actors: set up where a debate is left.
        state: how far it is.
        stopping: once set, no new debate begins; those that run are finished.
        on_chunk: called with each chunk that a final judge writes.
        store_patience: seconds for which a store that cannot be read is tried again.
        reservations: of a run with a budget. Debates that were begun before come first; others begin if it admits them.
        driving: `drive`, or what wraps it.
        supervision: shows the run to other processes, which may cancel it; None: they do not see it.
    """

    run: RunInput
    checked: PreflightReport
    store: EventStore
    actors: RuntimePool
    state: RunProgress
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    on_chunk: Callable[[Chunk], None] | None = None
    store_patience: float = 0.0
    reservations: DebateReservations | None = None
    driving: Driving = drive
    supervision: RunSupervision | None = None

    def __post_init__(self) -> None:
        self._patience = StoreRetry(self.store_patience)  # silent: the writer reports that the store is away
        self._reads = asyncio.Event()
        """The reader of the lines waits for one."""
        self._further: deque[Job] = deque()
        """Of cases that go on to another stage of their ladder."""
        self._jobs = CaseJobs(
            run=self.run,
            checked=self.checked,
            store=self.store,
            state=self.state,
            stopping=self.stopping,
            watched=self.on_chunk is not None,
            read=self._patiently,
            begun_first=self.reservations is not None,
        )
        self._lines = OrderedLines(self._jobs, self._patience)

    async def lines(self) -> AsyncGenerator[Line, None]:
        """The result line of every debate, in the order of the cases; none of those that could not go on.

        No debate begins while their reader has `MOST_AHEAD` of them to take.

        Lines of debates that are over come while others are looked for; where debates are left, their first calls come
        before the lines.
        """
        state, lines = self.state, self._lines
        self._reads.set()
        state.follow(self.checked.ended)
        driven = asyncio.create_task(self._drive())
        driven.add_done_callback(lambda _: state.changed.set())
        try:
            while not driven.done():
                state.changed.clear()
                ready = await lines.take()
                for line in ready:
                    self._reads.clear()
                    yield line
                    self._reads.set()
                if not ready and not driven.done():
                    await state.changed.wait()
            driven.result()
        finally:
            driven.cancel()
            await asyncio.gather(driven, return_exceptions=True)
        if self.reservations is not None and self.reservations.short:
            self.stopping.set()
        state.over = True
        while not lines.done:
            for line in await lines.take():
                yield line
        if state.unreadable is not None:
            raise state.unreadable

    async def _drive(self) -> None:
        """Run the debates that are left. Where none is expected, the actors are set up once one is found."""
        run, checked, jobs = self.run, self.checked, iter(self._jobs)
        if not checked.left:
            return
        if checked.expected == 0 and not checked.stored.followed:
            first = await asyncio.to_thread(next, jobs, None)
            if first is None:
                return
            jobs = chain([first], jobs)
        runtime = await self.actors.runtime()
        watch = self.supervision and self.supervision.around(runtime, self.store, self.stopping)
        async with watch or nullcontext():
            lister = CaseLister(
                run=run,
                store=self.store,
                clerk=runtime.clerk,
                state=self.state,
                stopping=self.stopping,
                budget=BudgetBounds() if self.reservations is None else self.reservations.bounds,
            )
            listed = lister.listed(jobs)
            ends = self.driving(
                runtime,
                listed if run.ladder is None else self._with_further(listed, lister),
                concurrency=run.concurrency,
                on_chunk=self.on_chunk or (lambda _chunk: None),
                admits=self._admits,
            )
            try:
                async with aclosing(ends):
                    async for finished in ends:
                        await self._end(finished)
                cancelled = self.supervision is not None and self.supervision.cancelled_by is not None
                if not cancelled and lister.exhausted and run.whole:
                    await asyncio.to_thread(lister.ended, await runtime.clerk.next_epoch())
            finally:
                await lister.close()

    def _with_further(self, jobs: Iterator[Job], lister: CaseLister) -> Iterator[Job | None]:
        """The jobs, and as soon as a case goes on to another stage of its ladder, that of its next debate.

        None: no more are there now, and a debate that runs may bring another.
        """
        for job in jobs:
            yield from self._opened_further(lister)
            if self.stopping.is_set():
                return
            yield job
        while not self.stopping.is_set() and (self._further or self.state.running or self.state.auditing):
            ready = self._opened_further(lister)
            yield from ready
            if not ready:
                yield None

    def _opened_further(self, lister: CaseLister) -> list[Job]:
        drawn = [self._further.popleft() for _ in range(len(self._further))]
        return lister.page(drawn, later=True)

    async def _admits(self, job: Job) -> bool:
        """Whether a debate may begin now, within the budget of the run; none may once the run is stopping."""
        if self.state.ended - self._lines.given >= MOST_AHEAD and not self._reads.is_set():
            waiting = [asyncio.ensure_future(one.wait()) for one in (self._reads, self.stopping)]
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for one in waiting:
                    one.cancel()
            if self.stopping.is_set():
                return False
        if self.reservations is None:
            return True
        if self.stopping.is_set():
            return False
        admitted, _ = await self._patience.run(partial(asyncio.to_thread, self.reservations.admits, job))
        return admitted

    async def _end(self, finished: Finished) -> None:
        """A debate ended, or could not go on; its line may be ready."""
        if self.reservations is not None:
            released = partial(self.reservations.ended, finished.debate_id, finished=finished.problem is None)
            await self._patience.run(partial(asyncio.to_thread, released))
        following = await self._following(finished)
        if finished.problem is not None and _stops_the_run(finished.problem):
            self.stopping.set()
        if following is not None and not self.stopping.is_set():
            self._further.append(following)
        self.state.end(finished, following, begins=not self.stopping.is_set())

    async def _following(self, finished: Finished) -> Job | None:
        """The debate of the next stage of a case; None: the case is over, or its texts were erased."""
        ladder, first = self.run.ladder, first_stage_of(finished.debate_id)
        if ladder is None or finished.problem is not None:
            return None

        def following() -> Job | None:
            found = open_stages(self.store, [first], ladder, self.run.successors).get(first)
            case = None if found is None else recorded_cases(self.store, [first]).get(first)
            if found is None or case is None:
                return None
            content = case.model_dump_json().encode()
            return Job(found.debate_id, content, self._jobs.context(found.place, None), stage=found.place)

        job, _ = await self._patience.run(partial(asyncio.to_thread, following), reads=True)
        return job

    def _patiently(self, read: Callable[[], Any]) -> Any:
        """Read the store in the thread of the caller, again while it is away."""

        async def attempt() -> Any:
            return read()

        try:
            return read()
        except (StoreFailed, StoreUnreachable):
            # In a loop of this thread: one that the caller's loop awaits would need a second thread of the pool, and
            # with many runs at once all threads of the pool may be here.
            found, _ = asyncio.run(self._patience.run(attempt, reads=True))
            return found


def _stops_the_run(problem: BaseException) -> bool:
    """Whether a problem concerns every debate: a person must act, or the store or cluster failed or was taken over."""
    if isinstance(problem, Halted | ClusterLost):
        return True
    return isinstance(problem, StoreError) and (isinstance(problem, Fenced) or not isinstance(problem, AppendRefused))
