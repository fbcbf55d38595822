"""The debates of a call in the order of its cases: those that are left as jobs, all of them as an order of lines."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from jury_actors.messages import Job, RunContext
from jury_cases.errors import CaseFileError
from jury_debate.resolved_panel import without_seats
from jury_events.case import Case
from jury_events.ids import first_stage_of, stage_id
from jury_events.ladder import StagePlace
from jury_judge.errors import RunRefused
from jury_judge.panels.own_family import seats_left_out
from jury_judge.runs.case_stages import OpenStage, first_place
from jury_judge.runs.cases_once import Read, ReadCase, RecordedDebates
from jury_judge.runs.preflight import PreflightReport, check_case, records_wanted
from jury_judge.runs.progress import ProgressListener, RunProgress
from jury_judge.runs.run import Run
from jury_store.debate_rows import CaseRow
from jury_store.event_store import EventStore

_PAGE = 1000


@dataclass(kw_only=True)
class CaseJobs:
    """Iterates the debates that are left: of each case the next one. Cases that are over are passed by their ids alone.

    Attributes:
        run: the input.
        watched: see `RunContext`.
        checked: the report of the preflight, with the cases; takes the order of the debates.
        state: takes which debates run.
        stopping: once set, no more jobs are drawn.
        store: open for reading.
        read: reads the store.
        progress: takes how many debates there are, if the preflight did not count them.
        begun_first: debates of earlier sessions that are not over come before all others.
    """

    run: Run
    watched: bool
    checked: PreflightReport
    state: RunProgress
    stopping: asyncio.Event
    store: EventStore
    read: Read
    progress: ProgressListener
    begun_first: bool

    def __post_init__(self) -> None:
        self._there = None if self.checked.stored.row is None else self.store
        self._index = RecordedDebates(self.run, self._there, brief=True, read=self.read)
        self._contexts: dict[tuple[int, tuple[str, ...]], RunContext] = {}
        self._cases = self.checked.cases.taken(self._judged, self._is_wanted)
        self._early: set[str] = set()
        """Debates of earlier sessions that were drawn before their place."""
        self._number = self._before = 0
        self._size = self.checked.size
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Job]:
        """A case that cannot be read ends the iteration; its error is raised after the running debates have ended."""
        try:
            if self.begun_first and self.checked.stored.row is not None:
                yield from self._begun()
            while not self._ends and (jobs := self._next()) is not None:
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

    def size(self) -> int | None:
        """How many debates the run is to have, with those of earlier calls; None: its cases are not all counted."""
        return self._size

    @property
    def _ends(self) -> bool:
        return self.stopping.is_set() or self.state.unreadable is not None

    def _next(self) -> list[Job] | None:
        """Pass a case; returns the jobs of those of its debates that are left, None after the last case."""
        with self._lock:
            found = next(self._cases, None)
            if found is None:
                self._count()
                return None
            jobs = [] if found.content is None or self.state.over else self._jobs_of(found)
            for job in jobs:
                self.state.draw(job)
            for debate in self.run.debate_ids(found.case_id):
                position = self._index.position(debate)
                there = position is not None and position <= self.checked.stored.position
                self._number += 1
                self._before += there
                over = there and self._index.is_over(debate)
                if (there and self._index.has_verdict(debate)) or debate in self._early or not self.state.over:
                    self.checked.order.add(debate, over=over)
        return jobs

    def _judged(self, case_ids: Sequence[str]) -> frozenset[str]:
        found = self._index.load(case_ids)
        self.state.moved()
        return found

    def _is_wanted(self, case: Case) -> bool:
        return not self.stopping.is_set() and records_wanted(self.run, self._there, case)

    def _jobs_of(self, found: ReadCase) -> list[Job]:
        jobs = []
        for first in self.run.debate_ids(found.case_id):
            row = self._index.row(first)
            counts = self.run.counts(first)
            if first in self._early or (row is not None and not self._may_go_on(found, counts, row)):
                continue
            place = None if self.run.ladder is None else first_place(self.run.ladder)
            if (further := self._index.further(first)) is not None:
                if self._may_go_further(found, first, further):
                    adopted = further.row is not None and further.row.imported is not None
                    jobs.append(self._job(found, further.debate_id, further.place, adopted=adopted))
            elif not self._index.is_over(first):
                jobs.append(self._job(found, counts, place, adopted=row is not None and row.imported is not None))
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

        for found in self.checked.cases.ahead(others, self._is_wanted) if left else ():
            if self._ends or not left:
                return
            for debate in () if found.content is None else left.intersection(self._every_stage(found.case_id)):
                left.discard(debate)
                row = self.read(partial(self.store.cases_of, [debate])).get(debate)
                if row is not None and self._may_go_on(found, debate, row):
                    first = first_stage_of(debate)
                    further = self._index.further(first)
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
        context = self.context(place, found.case)
        return Job(debate, found.content, context, found.submission_id, adopted=adopted, stage=place)

    def context(self, place: StagePlace | None, case: Case | None) -> RunContext:
        """What debates of a stage share whose cases seat the same jurors.

        Args:
            place: None: of the run, which has no ladder.
            case: None: of a further stage, which leaves out none.

        Raises:
            RunRefused: the panel refuses the case for a seat of its agent's family.
        """
        run, number = self.run, 1 if place is None else place.number
        resolved = run.resolved if run.ladder is None else run.ladder.stages[number - 1].resolved
        key = number, () if case is None else seats_left_out(resolved.panel, case)
        if key not in self._contexts:
            self._contexts[key] = RunContext(
                run.run_id,
                self.checked.resolved(without_seats(resolved, key[1]) if key[1] else resolved),
                watched=self.watched,
                operator_policy=run.operator_policy,
                pictures=run.pictures,
            )
        return self._contexts[key]

    def _count(self) -> None:
        if self.checked.total is None and not self.state.over:
            self._size = self._number + max(0, self.checked.stored.opened - self._before)
            self.progress.total_known(self._number)
