"""A run continues past one debate's failure and stops where it must; records are fetched only for debates that run."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import date
from typing import Any
from unittest.mock import patch

import pytest

from jury_actors.admission.budget import Ceiling
from jury_actors.driver import drive
from jury_actors.mailbox import Delivery, Outbox
from jury_actors.messages import Finished, Job
from jury_actors.runtime import Runtime, RuntimeConfig, in_process_runtime
from jury_cases.omissions import OmissionReport
from jury_events.case import Case
from jury_events.transcript import Attachment, Transcript
from jury_judge.errors import RunRefused
from jury_judge.runs.allowance import Allowance
from jury_judge.runs.case_fit import CaseFit
from jury_judge.runs.estimate import estimate
from jury_judge.runs.preflight import PreflightReport, preflight
from jury_judge.runs.run import Run
from jury_judge.runs.run_execution import Driving, execute_run
from jury_judge.runs.run_lines import Line
from jury_providers.prices import Prices
from jury_store.debate_rows import DebateRow
from jury_store.errors import EventConflict, Fenced, StoreError, StoreFailed, WrongVersion
from jury_store.memory import MemoryEventStore
from support.debate_harness import a_case
from support.runtime_harness import a_resolved


class FailingActors:
    """A coordinator whose every debate ends with the same problem, and a clerk that takes run sizes."""

    def __init__(self, problem: Exception) -> None:
        self.submitted: list[str] = []
        self.sizes: list[int | None] = []
        self._problem = problem
        self._outbox: Outbox[Finished] = Outbox("one")

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.submitted.append(job.debate_id)
            self._outbox.put(Finished(job.debate_id, "unfinished", self._problem))

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Finished]:
        return await self._outbox.poll(incarnation, ack)

    async def leave(self, client: str) -> None: ...

    async def store_run_size(self, _run_id: str, cases: int | None) -> None:
        self.sizes.append(cases)


class Silent:
    """Progress without a display; `total` is the latest number."""

    total: int | None = None

    def begin(self, total: int | None, stored: int) -> None:
        self.total = total

    def total_known(self, total: int) -> None:
        self.total = total

    def ended(self, finished: Finished) -> None: ...


class Cases:
    """Three cases; counts those whose records were asked for."""

    def __init__(self) -> None:
        self.fetched = 0

    def __call__(self, fetch: Callable[[Case], bool]) -> Iterable[Case]:
        for number in range(3):
            case = a_case(f"c{number}")
            self.fetched += fetch(case)
            yield case


class Unreadable(MemoryEventStore):
    """A store whose debates cannot be read."""

    def event_histories(self, debate_ids: Sequence[str]) -> Any:
        raise StoreFailed(f"away: {debate_ids}")


async def lines_of(
    cases: Cases,
    actors: FailingActors,
    problems: list[Finished],
    *,
    stopped: bool = False,
    store: MemoryEventStore | None = None,
    driving: Driving = drive,
) -> list[Line]:
    @asynccontextmanager
    async def runtime() -> AsyncIterator[Runtime]:
        yield Runtime([actors], actors)

    stopping = asyncio.Event()
    if stopped:
        stopping.set()
    run = Run(run_id="r1", resolved=a_resolved(), cases=cases, concurrency=1)
    carried = execute_run(
        run,
        PreflightReport(
            read=3, read_cases=3, total=3, omissions=OmissionReport(images_seen=False), fit=CaseFit(a_resolved())
        ),
        store or MemoryEventStore(),
        runtime,
        progress=Silent(),
        stopping=stopping,
        problems=problems,
        driving=driving,
    )
    return [line async for line in carried]


@pytest.mark.parametrize("problem", [WrongVersion("no"), EventConflict("no"), RuntimeError("no")])
async def test_what_befalls_one_debate_stops_no_other(problem: Exception) -> None:
    actors, problems = FailingActors(problem), []

    lines = await lines_of(Cases(), actors, problems)

    assert ["r1~c0", "r1~c1", "r1~c2"] == actors.submitted
    assert ([], 3) == (lines, len(problems))


@pytest.mark.parametrize("problem", [StoreFailed("disk full"), Fenced("another took over")])
async def test_a_store_that_fails_or_another_writer_stops_the_run(problem: StoreError) -> None:
    actors, problems = FailingActors(problem), []

    await lines_of(Cases(), actors, problems)

    assert ["r1~c0"] == actors.submitted


async def test_a_log_that_cannot_be_read_ends_the_driving_of_debates_before_the_run() -> None:
    closed = []

    async def one_ends(_runtime: Runtime, jobs: Iterator[Job], **_options: object) -> AsyncGenerator[Finished, None]:
        job = next(jobs)
        try:
            yield Finished(job.debate_id, "completed", None)
        finally:
            closed.append(job.debate_id)

    with pytest.raises(StoreFailed, match="away"):
        await lines_of(Cases(), FailingActors(RuntimeError("never asked")), [], store=Unreadable(), driving=one_ends)

    assert ["r1~c0"] == closed


async def test_a_run_that_is_stopping_fetches_nothing_more() -> None:
    cases, actors = Cases(), FailingActors(RuntimeError("never asked"))

    await lines_of(cases, actors, [], stopped=True)

    assert (0, []) == (cases.fetched, actors.submitted)


async def executed(run: Run, store: MemoryEventStore, *, seconds: float | None) -> tuple[list[Line], Silent]:
    """The run's lines, with simulated jurors in this process, after a preflight of so many seconds."""
    progress = Silent()
    lines = execute_run(
        run,
        preflight(run, store, seconds=seconds),
        store,
        lambda: in_process_runtime(RuntimeConfig(run.resolved.panel, "", run.run_id), lambda: store),
        progress=progress,
        stopping=asyncio.Event(),
        problems=[],
    )
    return [line async for line in lines], progress


def a_run(*cases: Case) -> Run:
    return Run(run_id="r1", resolved=a_resolved(), cases=lambda _fetch: iter(cases), concurrency=2)


async def test_cases_that_the_survey_had_no_time_for_are_judged_and_counted_all_the_same() -> None:
    run = a_run(*(a_case(f"c{number}") for number in range(5)))

    assert preflight(run, MemoryEventStore(), seconds=0.0).total is None
    lines, progress = await executed(run, MemoryEventStore(), seconds=0.0)

    assert ([f"c{number}" for number in range(5)], 5) == ([line["case_id"] for line in lines], progress.total)


async def test_a_case_that_the_survey_had_no_time_for_is_compared_before_its_line_is_given() -> None:
    store = MemoryEventStore()
    cases = [a_case(f"c{number}") for number in range(3)]
    await executed(a_run(*cases), store, seconds=None)
    changed = cases[2].changed(scenarios=a_case("c2", scenarios=2).scenarios)

    with pytest.raises(RunRefused, match="judged another case under the id 'c2'"):
        await executed(a_run(*cases[:2], changed), store, seconds=0.0)


async def test_a_survey_that_reads_all_knows_how_many_there_are_and_what_is_not_shown() -> None:
    lost = a_case("lost").scenarios[0]
    picture = Attachment(origin="user", media_type="image/png", size=48_000, digest="0" * 64)
    execution = lost.execution.changed(transcript=Transcript(items=(picture,)))
    run = a_run(a_case("c0"), a_case("lost").changed(scenarios=(lost.changed(execution=execution),)))

    checked = preflight(run, MemoryEventStore(), seconds=None)

    assert (2, 2, True) == (checked.total, checked.read, checked.left)
    assert "not shown to any juror, in 1 of 2 cases: 1 image/png (48 KB)" == checked.omissions.line()


@pytest.mark.parametrize("seconds", [0.0, None])
async def test_a_run_notes_how_many_cases_it_has_however_long_it_takes_to_count_them(seconds: float | None) -> None:
    store = MemoryEventStore()
    with patch.object(store, "close"):
        await executed(a_run(*(a_case(f"c{n}") for n in range(2))), store, seconds=None)
        await executed(a_run(*(a_case(f"c{n}") for n in range(1, 7))), store, seconds=seconds)

    (run,) = store.runs()
    assert (7, 7, 7) == (run.cases, run.total, run.ended)


async def test_a_run_that_stopped_before_its_cases_were_counted_has_no_size() -> None:
    actors = FailingActors(StoreFailed("disk full"))
    run = a_run(*(a_case(f"c{n}") for n in range(9)))

    @asynccontextmanager
    async def runtime() -> AsyncIterator[Runtime]:
        yield Runtime([actors], actors)

    checked = preflight(run, MemoryEventStore(), seconds=0.0)
    stopping = asyncio.Event()
    lines = execute_run(run, checked, MemoryEventStore(), runtime, progress=Silent(), stopping=stopping, problems=[])
    async for _ in lines:
        pass

    assert [None] == actors.sizes


TODAY = date(2026, 11, 22)


class StoppingActors(FailingActors):
    """The first debate that is sent stops the run, and then ends."""

    def __init__(self, stopping: asyncio.Event) -> None:
        super().__init__(RuntimeError("no"))
        self._stopping = stopping

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        self._stopping.set()
        await super().submit(client, jobs)


async def test_a_debate_that_waits_for_what_another_leaves_of_the_budget_does_not_begin_after_a_stop() -> None:
    stopping = asyncio.Event()
    actors, store, run = StoppingActors(stopping), MemoryEventStore(), a_run(a_case("c0"), a_case("c1"))
    one = estimate(run.resolved, [a_case("c0")], debates=1, prices=Prices(), endpoints={}, on=TODAY)
    bounds = Ceiling(max_calls=int(one.calls.most))

    @asynccontextmanager
    async def runtime() -> AsyncIterator[Runtime]:
        yield Runtime([actors], actors)

    lines = execute_run(
        run,
        preflight(run, store, seconds=None),
        store,
        runtime,
        progress=Silent(),
        stopping=stopping,
        problems=[],
        allowance=Allowance(bounds, store, prices=Prices(), endpoints={}, on=TODAY),
    )
    async for _ in lines:
        pass

    assert ["r1~c0"] == actors.submitted


class Flapping(MemoryEventStore):
    """Every other look at a debate fails."""

    looks = 0

    def debate(self, debate_id: str) -> DebateRow | None:
        self.looks += 1
        if self.looks % 2:
            raise StoreFailed("the database is away")
        return super().debate(debate_id)


async def test_a_bounded_run_waits_for_a_store_that_cannot_be_read_for_a_moment() -> None:
    store, run = Flapping(), a_run(a_case("c0"), a_case("c1"))
    plan = RuntimeConfig(run.resolved.panel, "", "r1", ceiling=Ceiling(max_calls=1000))
    allowance = Allowance(plan.ceiling, store, prices=Prices(), endpoints={}, on=TODAY)
    lines = execute_run(
        run,
        preflight(run, store, seconds=None),
        store,
        lambda: in_process_runtime(plan, lambda: store),
        progress=Silent(),
        stopping=asyncio.Event(),
        problems=[],
        store_patience=60.0,
        allowance=allowance,
    )

    assert ["completed"] * 2 == [line["status"] async for line in lines]
    assert 8 == store.looks, "at each beginning and each end"


class LinesAway(MemoryEventStore):
    """The first look at the events of each debate that is over fails."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: set[str] = set()

    def event_histories(self, debate_ids: Sequence[str]) -> Any:
        over = {one for one in debate_ids if (row := self.debate(one)) is not None and row.has_ended}
        if not over <= self.refused:
            self.refused |= over
            raise StoreFailed("the database is away")
        return super().event_histories(debate_ids)


async def test_no_line_is_lost_where_the_store_is_away_when_it_is_read() -> None:
    store, run = LinesAway(), a_run(a_case("c0"), a_case("c1"), a_case("c2"))
    plan = RuntimeConfig(run.resolved.panel, "", "r1")
    lines = execute_run(
        run,
        preflight(run, store, seconds=None),
        store,
        lambda: in_process_runtime(plan, lambda: store),
        progress=Silent(),
        stopping=asyncio.Event(),
        problems=[],
        store_patience=60.0,
    )

    assert ["r1~c0", "r1~c1", "r1~c2"] == [line["debate_id"] async for line in lines]
    assert {"r1~c0", "r1~c1", "r1~c2"} == store.refused


class FullNow(MemoryEventStore):
    """How many cases a run has cannot be kept once, when they were counted."""

    refused = False

    def store_run_size(self, run_id: str, cases: int | None) -> None:
        if cases is not None and not self.refused:
            self.refused = True
            raise StoreFailed("the disk is full")
        super().store_run_size(run_id, cases)


async def test_a_run_waits_for_a_store_that_cannot_write_its_size() -> None:
    store, run = FullNow(), a_run(a_case("c0"), a_case("c1"))
    plan = RuntimeConfig(run.resolved.panel, "", "r1")
    lines = execute_run(
        run,
        preflight(run, store, seconds=0.0),
        store,
        lambda: in_process_runtime(plan, lambda: store),
        progress=Silent(),
        stopping=asyncio.Event(),
        problems=[],
        store_patience=60.0,
    )
    with patch.object(store, "close"):
        ended = [line["status"] async for line in lines]

    assert (["completed"] * 2, [2]) == (ended, [run.cases for run in store.runs()])
