"""A run continues past one debate's failure, stops where it must, waits for its store, and is never held whole."""

import asyncio
import gc
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager
from datetime import date
from typing import Any

import pytest

from jury_actors import Delivery, Finished, Job, Outbox, RunBudget, Runtime, RuntimeConfig, in_process_runtime
from jury_cases import CaseFileError, case_source
from jury_events import Attachment, BudgetBounds, Case, StoredEvent, Transcript
from jury_judge import (
    DebateReservations,
    JuryClosed,
    PreflightReport,
    RunExecution,
    RunInput,
    RunProgress,
    RuntimePool,
    estimate,
    preflight,
)
from jury_providers import Prices
from jury_store import (
    Append,
    Appended,
    CaseRow,
    DebateRow,
    EventConflict,
    Fenced,
    MemoryEventStore,
    StoreFailed,
    WrongVersion,
)
from support.debate_harness import a_case
from support.each_row import each_row
from support.runtime_harness import a_resolved

MANY = 60
TODAY = date(2026, 11, 22)


class KeptStore(MemoryEventStore):
    """Counts the streams that are read, and the debates that are looked up at once; outlives its runtime."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        self.looked_up: list[int] = []

    def read_streams(self, streams: Collection[str]) -> dict[str, list[StoredEvent]]:
        self.read += streams
        return super().read_streams(streams)

    def cases_of(self, debate_ids: Collection[str]) -> dict[str, CaseRow]:
        self.looked_up.append(len(debate_ids))
        return super().cases_of(debate_ids)

    def close(self) -> None:
        return


class Source:
    """Cases made as they are read; counts them, and those whose records were asked for."""

    def __init__(self, count: int = 3, *, first: int = 0, changed: int | None = None) -> None:
        self.numbers, self.changed, self.fetched, self.read = range(first, count), changed, 0, 0

    def __call__(self, fetch: Callable[[Case], bool]) -> Iterator[Case]:
        for number in self.numbers:
            self.read += 1
            case = a_case(f"c{number}", scenarios=2 if number == self.changed else 1)
            self.fetched += fetch(case)
            yield case


class OneBatch(Source):
    """Asks at once which of its cases are over."""

    def outline(
        self, skip: Callable[[Sequence[str]], Container[str]], fetch: Callable[[Case], bool]
    ) -> Iterator[Case | str]:
        cases = list(self(fetch))
        skipped = skip([case.case_id for case in cases])
        return (case.case_id if case.case_id in skipped else case for case in cases)


class FailingActors:
    """A coordinator whose every debate ends with the same problem, and a clerk that takes everything."""

    def __init__(self, problem: Exception, stopping: asyncio.Event | None = None) -> None:
        self.submitted: list[str] = []
        self._problem, self._stopping = problem, stopping
        self._outbox: Outbox[Finished] = Outbox("one")

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        if self._stopping is not None:
            self._stopping.set()
        for job in jobs:
            self.submitted.append(job.debate_id)
            self._outbox.put(Finished(job.debate_id, "unfinished", self._problem))

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Finished]:
        return await self._outbox.poll(incarnation, ack)

    async def leave(self, client: str) -> None: ...

    async def record(self, batch: Sequence[Append], *, atomic: bool) -> list[Appended]:
        assert atomic
        return [Appended(one.stream, len(one.events), 0) for one in batch]

    async def next_epoch(self) -> int:
        return 1


class Progress:
    """Progress without a display; `total` is the latest number."""

    total: int | None = None

    def begin(self, total: int | None, stored: int) -> None:
        self.total = total

    def total_known(self, total: int) -> None:
        self.total = total

    def ended(self, finished: Finished) -> None: ...


class Execution:
    """A run over a store: its runtimes are in this process, or the actors that are given."""

    def __init__(
        self,
        cases: Callable[..., Iterable[Case]],
        store: MemoryEventStore,
        actors: FailingActors | None = None,
        concurrency: int = 4,
    ) -> None:
        self.run = RunInput(run_id="r1", resolved=a_resolved(), cases=cases, concurrency=concurrency)
        self.store, self.actors = store, actors
        self.runtimes = 0
        self.problems: list[Finished] = []
        self.progress, self.stopping = Progress(), asyncio.Event()

    async def lines(
        self, *, seconds: float | None = None, max_calls: int | None = None, **options: Any
    ) -> AsyncIterator[dict[str, Any]]:
        """After a preflight of so many seconds, within so many calls."""
        budget = None if max_calls is None else RunBudget(BudgetBounds(max_calls=max_calls))
        if budget is not None:
            options["reservations"] = DebateReservations(budget, self.store, prices=Prices(), endpoints={}, on=TODAY)
        config = RuntimeConfig((self.run.resolved.panel,), "", "r1", **({} if budget is None else {"budget": budget}))

        def runtime() -> AbstractAsyncContextManager[Runtime]:
            self.runtimes += 1
            return self._of_actors() if self.actors else in_process_runtime(config, lambda: self.store)

        pool = RuntimePool(runtime)
        checked = preflight(self.run, self.store, seconds=seconds)
        execution = RunExecution(
            run=self.run,
            checked=checked,
            store=self.store,
            actors=pool,
            state=RunProgress(checked.total, checked.size, self.progress, problems=self.problems),
            stopping=self.stopping,
            **options,
        )
        try:
            async with aclosing(execution.lines()) as lines:
                async for line in lines:
                    yield line
        finally:
            await pool.close(JuryClosed("the run is over"))

    @asynccontextmanager
    async def _of_actors(self) -> AsyncIterator[Runtime]:
        yield Runtime([self.actors], self.actors)  # type: ignore[list-item, arg-type]  (they are asked for no more)

    async def to_the_end(self, **options: Any) -> list[str]:
        """The cases of its lines."""
        return [line["case_id"] async for line in self.lines(**options)]


def names(count: int, first: int = 0) -> list[str]:
    return [f"c{number}" for number in range(first, count)]


@each_row(
    ("problem", "submitted"),
    [
        (WrongVersion("no"), 3),
        (EventConflict("no"), 3),
        (RuntimeError("no"), 3),
        (StoreFailed("disk full"), 1),
        (Fenced("another took over"), 1),
    ],
)
async def test_what_befalls_one_debate_stops_no_other_and_a_store_that_fails_or_another_writer_stops_the_run(
    problem: Exception, submitted: int
) -> None:
    run = Execution(Source(), MemoryEventStore(), actors := FailingActors(problem), concurrency=1)

    assert [] == await run.to_the_end()
    assert [f"r1~{name}" for name in names(submitted)] == actors.submitted
    assert [*map(type, [problem] * submitted)] == [type(one.problem) for one in run.problems]


@pytest.mark.parametrize(("ahead", "begun"), [(3, 5), (1024, 12)])
async def test_debates_are_driven_ahead_of_who_reads_the_lines_as_far_as_they_are_listed_ahead(
    ahead: int, begun: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_judge.runs.execution.MOST_AHEAD", ahead)
    started: list[str] = []
    halted = asyncio.Event()

    async def at_once(
        _runtime: Runtime, jobs: Iterator[Job], *, admits: Callable[[Job], Awaitable[bool]], **_options: object
    ) -> AsyncGenerator[Finished, None]:
        while (job := await asyncio.to_thread(next, jobs, None)) is not None:
            admitted = asyncio.ensure_future(admits(job))
            await asyncio.wait([admitted], timeout=0)
            if not admitted.done():
                halted.set()
            assert await admitted
            started.append(job.debate_id)
            yield Finished(job.debate_id, "completed", None)
        halted.set()

    class Storing(FailingActors):
        async def record(self, batch: Sequence[Append], *, atomic: bool) -> Any:
            assert atomic
            return store.append(batch)

    store = MemoryEventStore()
    run = Execution(Source(12), store, Storing(RuntimeError("never asked")), concurrency=1)
    lines = run.lines(driving=at_once)
    first = await anext(lines)
    await halted.wait()
    ahead_of_first = len(started)
    others = [line["case_id"] async for line in lines]

    assert begun >= ahead_of_first >= min(begun, ahead)
    assert names(12) == [first["case_id"], *others]
    assert 12 == len(started)


async def test_a_log_that_cannot_be_read_ends_the_driving_of_debates_before_the_run() -> None:
    class Unreadable(MemoryEventStore):
        def event_histories(self, debate_ids: Sequence[str]) -> Any:
            raise StoreFailed(f"away: {debate_ids}")

    closed = []

    async def one_ends(_runtime: Runtime, jobs: Iterator[Job], **_options: object) -> AsyncGenerator[Finished, None]:
        job = await asyncio.to_thread(next, jobs)
        try:
            yield Finished(job.debate_id, "completed", None)
        finally:
            closed.append(job.debate_id)

    run = Execution(Source(), Unreadable(), FailingActors(RuntimeError("never asked")), concurrency=1)
    with pytest.raises(StoreFailed, match="away"):
        await run.to_the_end(driving=one_ends)

    assert ["r1~c0"] == closed


async def test_a_run_that_is_stopping_fetches_nothing_more() -> None:
    cases, actors = Source(), FailingActors(RuntimeError("never asked"))
    run = Execution(cases, MemoryEventStore(), actors)
    run.stopping.set()
    await run.to_the_end(seconds=0.0)

    assert (1, []) == (cases.fetched, actors.submitted), "that of the preflight"


async def test_a_debate_that_waits_for_what_another_leaves_of_the_budget_does_not_begin_after_a_stop() -> None:
    stopping = asyncio.Event()
    run = Execution(Source(2), MemoryEventStore(), actors := FailingActors(RuntimeError("no"), stopping), concurrency=2)
    run.stopping = stopping
    one = estimate(run.run.resolved, [a_case("c0")], debates=1, prices=Prices(), endpoints={}, on=TODAY)
    await run.to_the_end(max_calls=int(one.calls.most))

    assert ["r1~c0"] == actors.submitted


async def test_cases_that_the_survey_had_no_time_for_are_judged_and_counted_all_the_same() -> None:
    store = KeptStore()
    run = Execution(Source(5), store)

    assert preflight(run.run, store, seconds=0.0).total is None
    assert (names(5), 5) == (await run.to_the_end(seconds=0.0), run.progress.total)


async def test_a_survey_that_reads_all_knows_how_many_there_are_and_what_is_not_shown() -> None:
    lost = a_case("lost").scenarios[0]
    picture = Attachment(origin="user", media_type="image/png", size=48_000, digest="0" * 64)
    execution = lost.execution.changed(transcript=Transcript(items=(picture,)))
    cases = [a_case("c0"), a_case("lost").changed(scenarios=(lost.changed(execution=execution),))]

    checked = preflight(Execution(lambda _fetch: cases, MemoryEventStore()).run, MemoryEventStore(), seconds=None)

    assert (2, 2, True) == (checked.total, checked.read, checked.left)
    assert "not shown to any juror, in 1 of 2 cases: 1 image/png (48 KB)" == checked.omissions.line()


@each_row("seconds", [0.0, None])
async def test_a_run_notes_how_many_cases_it_has_however_long_it_takes_to_count_them(seconds: float | None) -> None:
    store = KeptStore()
    await Execution(Source(2), store).to_the_end()
    await Execution(Source(7, first=1), store).to_the_end(seconds=seconds)
    (run,) = store.runs()

    assert (7, 7, 7) == (run.cases, run.total, run.ended)


class Flapping(KeptStore):
    """Every other look at a debate fails."""

    looks = 0

    def debates_named(self, debate_ids: Collection[str]) -> dict[str, DebateRow]:
        self.looks += 1
        if self.looks % 2:
            raise StoreFailed("the database is away")
        return super().debates_named(debate_ids)


class LinesAway(KeptStore):
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


async def test_a_run_waits_for_a_store_that_fails_for_a_moment_and_loses_no_line() -> None:
    flapping, away = Flapping(), LinesAway()

    assert names(2) == await Execution(Source(2), flapping).to_the_end(store_patience=60.0, max_calls=1000)
    assert 8 == flapping.looks, "at each beginning and each end"
    assert names(3) == await Execution(Source(3), away).to_the_end(store_patience=60.0)
    assert {f"r1~{name}" for name in names(3)} == away.refused


async def judged(count: int) -> KeptStore:
    """A store with a finished run of so many debates."""
    store = KeptStore()
    assert names(count) == await Execution(Source(count), store).to_the_end()
    store.read.clear()
    store.looked_up.clear()
    return store


async def test_a_preflight_reads_the_opening_of_one_debate_and_looks_the_others_up_in_the_index() -> None:
    store = await judged(40)

    checked: PreflightReport = preflight(Execution(Source(40), store).run, store, seconds=None)

    assert (40, 40, False, 0) == (checked.total, checked.ended, checked.left, checked.expected)
    assert (["debate/r1~c0", "review/r1~c0"], 40) == (store.read, sum(store.looked_up))
    assert max(store.looked_up) < 10


async def test_nothing_of_a_finished_run_is_driven_again_where_its_preflight_stopped_within_a_batch() -> None:
    run = Execution(OneBatch(40), await judged(40))
    lines = await run.to_the_end(seconds=0.0)

    assert (names(40), 0) == (lines, run.runtimes)


async def test_a_finished_run_gives_its_lines_as_it_reads_its_cases_and_holds_neither() -> None:
    store = await judged(MANY)
    run, most, given = Execution(Source(MANY), store), 0, []
    with later_objects() as held:
        lines = run.lines(seconds=0.0)
        given.append((await anext(lines))["case_id"])
        read_then = len({one for one in store.read if one.startswith("debate/")})
        async for line in lines:
            given.append(line["case_id"])
            if len(given) % 20 == 0:
                most = max(most, sum(isinstance(one, Case) for one in held()))

    assert (names(MANY), 0) == (given, run.runtimes), "no actor is set up"
    assert read_then < MANY / 2
    assert most < MANY / 4


@contextmanager
def later_objects() -> Iterator[Callable[[], list[object]]]:
    """Lists the objects in use that were made within the context, without a look at those of earlier tests."""

    def held() -> list[object]:
        gc.collect()
        return gc.get_objects()

    gc.freeze()
    try:
        yield held
    finally:
        gc.unfreeze()


def test_an_estimate_fetches_no_records_and_keeps_no_case() -> None:
    cases = Source(5)
    run = Execution(cases, MemoryEventStore()).run

    checked = preflight(run, MemoryEventStore(), seconds=None, judged=False)

    assert (5, 0, []) == (checked.total, cases.fetched, [*checked.cases.kept()])


async def test_each_case_is_read_once_however_much_of_it_the_preflight_read() -> None:
    for seconds in (0.0, None):
        for before in (0, 20):
            cases, store = Source(40), await judged(before) if before else KeptStore()
            assert names(40) == await Execution(cases, store).to_the_end(seconds=seconds)
            assert 40 == cases.read


async def test_a_half_done_run_judges_the_rest_and_gives_every_line_in_order() -> None:
    run = Execution(Source(40), await judged(20))

    assert (names(40), 1) == (await run.to_the_end(seconds=0.0), run.runtimes)
    assert [(40, 40)] == [(one.cases, one.ended) for one in run.store.runs()]


def test_a_fault_of_an_iterator_is_raised_to_each_of_its_readers_after_the_cases_before_it() -> None:
    source = case_source(iter([a_case("a"), a_case("b"), a_case("a")]), frozenset())

    for _ in range(2):
        cases = iter(source(lambda _case: False))
        assert ["a", "b"] == [next(cases).case_id, next(cases).case_id]
        with pytest.raises(CaseFileError, match="case 3: its id 'a' is also the id of case 1"):
            next(cases)
