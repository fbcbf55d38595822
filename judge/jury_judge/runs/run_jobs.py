"""The jobs of a run: its debates that are not over, drawn one by one in a thread."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jury_actors.messages import Job, RunContext
from jury_cases.errors import CaseFileError
from jury_events.case import Case
from jury_events.ids import debate_stream
from jury_events.stages import StagePlace
from jury_judge.errors import RunRefused
from jury_judge.runs.preflight import PreflightReport, check_case
from jury_judge.runs.run import Run
from jury_judge.runs.run_index import DebateIndex, RunIndex
from jury_judge.runs.run_progress import ProgressListener, RunProgress
from jury_store.debate_rows import CaseRow
from jury_store.event_store import EventStore

_PAGE = 1000


@dataclass(frozen=True, kw_only=True)
class RunJobs:
    """Iterates the debates that are left. Cases whose debates are over are passed by their ids alone.

    Attributes:
        run: the input.
        context: of every job.
        checked: the report of the preflight.
        state: takes which cases were passed and which debates run.
        stopping: once set, no more jobs are drawn.
        store: open for reading.
        index: of the store.
        progress: takes how many debates there are, if the preflight did not count them.
        begun_first: debates of earlier sessions that are not over come before all others.
    """

    run: Run
    context: RunContext
    checked: PreflightReport
    state: RunProgress
    stopping: asyncio.Event
    store: EventStore
    index: DebateIndex
    progress: ProgressListener
    begun_first: bool

    def __iter__(self) -> Iterator[Job]:
        """A case that cannot be read ends the iteration; its error is raised after the running debates have ended."""
        try:
            yield from self._readable()
        except (CaseFileError, RunRefused) as error:
            self.state.unreadable = self.state.unreadable or error
        self.state.begun = self.state.begun or not self.state.running
        self.state.moved()

    def _readable(self) -> Iterator[Job]:
        run, checked, state = self.run, self.checked, self.state
        index = RunIndex(run, None if checked.recorded is None else self.index, brief=True)
        if self.begun_first and checked.recorded is not None:
            yield from self._begun(index)
        number = there = 0
        for found in self._cases(index):
            if self.stopping.is_set() or state.unreadable is not None:
                return
            debates = run.debate_ids(found)
            number += len(debates)
            for debate in debates:
                position = index.position(debate)
                there += position is not None and position <= checked.position
            if isinstance(found, str):
                state.passed()
                continue
            jobs = self._jobs_of(found, index)
            state.passed(job.debate_id for job in jobs)
            for job in jobs:
                if not self.stopping.is_set():
                    yield self._drawn(job)
        if checked.total is None:
            self.progress.total_known(number)
            others = max(0, checked.opened - there)
            state.cases = number + others

    def _cases(self, index: RunIndex) -> Iterator[Case | str]:
        """The cases, and the ids of those whose debates are over; `index` has their recorded debates."""

        def judged(case_ids: Sequence[str]) -> frozenset[str]:
            found = index.load(case_ids)
            self.state.moved()
            return found

        if self.checked.recorded is None:
            yield from self.run.cases(self._is_wanted)
        else:
            yield from self.run.outline(judged, self._is_wanted)

    def _jobs_of(self, case: Case, index: RunIndex) -> list[Job]:
        """The jobs of a case that begin at its place in the order of the cases."""
        jobs = []
        for debate, place in self.run.debates(case):
            row = index.row(debate)
            if row is not None and not self._may_go_on(case, debate, row):
                continue
            if not index.has_ended(debate) and debate not in self.state.early:
                adopted = row is not None and row.imported is not None
                jobs.append(self._job(case, debate, place, adopted=adopted))
        return jobs

    def _begun(self, index: RunIndex) -> Iterator[Job]:
        """Debates of earlier sessions that are not over; those that run at once are as many, so all are remembered."""
        left: set[str] = set()
        after = 0
        while rows := self.store.debates(run_id=self.run.run_id, unfinished=True, limit=_PAGE, after=after):
            left.update(row.debate_id for row in rows)
            after = rows[-1].position

        def others(case_ids: Sequence[str]) -> set[str]:
            index.load(case_ids)
            return {case_id for case_id in case_ids if left.isdisjoint(self.run.debate_ids(case_id))}

        for found in self.run.outline(others, lambda _case: False) if left else ():
            if self.stopping.is_set() or not left:
                return
            if isinstance(found, str):
                continue
            for debate, place in self.run.debates(found):
                if debate not in left:
                    continue
                left.discard(debate)
                row = index.row(debate)
                if row is not None and self._may_go_on(found, debate, row):
                    self.state.early.add(debate)
                    self.state.running.add(debate)
                    yield self._drawn(self._job(found, debate, place, adopted=row.imported is not None))

    def _may_go_on(self, case: Case, debate: str, row: CaseRow) -> bool:
        """Compare a recorded debate with its case."""
        if debate in self.state.failed:
            return False
        self.checked.later_labels.add(case, row)
        check_case(self.run, case, debate, row, self.store)
        return True

    def _drawn(self, job: Job) -> Job:
        self.state.moved()
        return job

    def _job(self, case: Case, debate: str, place: StagePlace | None, *, adopted: bool) -> Job:
        content, name = case.model_dump_json().encode(), self.run.submission_id(case)
        return Job(debate, content, self.context, name, adopted=adopted, stage=place)

    def _is_wanted(self, case: Case) -> bool:
        """Whether the records behind the URIs of a case are needed: a debate of it is new."""
        if self.stopping.is_set() or (case.security_gate_uri is None and case.agent_card_uri is None):
            return not self.stopping.is_set()
        debates = [debate_stream(one) for one in self.run.debate_ids(case)]
        return self.checked.recorded is None or len(self.store.heads(debates)) < len(debates)
