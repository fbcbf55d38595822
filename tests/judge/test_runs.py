"""A run goes on past one debate's trouble, and stops where it must; what is not held is not fetched."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

import pytest

from jury_actors.holding import CoordinatorPort
from jury_actors.messages import Delivery, Finished, Job
from jury_actors.outbox import Outbox
from jury_events.case import Case
from jury_judge.runs import Line, Run, Survey, carry_out
from jury_store.errors import Fenced, Mismatch, StoreError, StoreFailed, WrongVersion
from jury_store.memory import MemoryEventStore
from support.courtroom import a_case
from support.courts import a_resolved


class RefusedPort:
    """A coordinator whose every debate ends in the same trouble."""

    def __init__(self, problem: Exception) -> None:
        self.held: list[str] = []
        self._problem = problem
        self._outbox: Outbox[Finished] = Outbox("one")

    async def submit(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self.held.append(job.debate_id)
            self._outbox.put(Finished(job.debate_id, "unfinished", self._problem))

    async def poll(self, life: str, ack: int) -> Delivery[Finished]:
        return await self._outbox.poll(life, ack)


class Silent:
    def begin(self, total: int, stored: int) -> None: ...

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


async def lines_of(cases: Cases, port: RefusedPort, problems: list[Finished], *, stopped: bool = False) -> list[Line]:
    @asynccontextmanager
    async def court() -> AsyncIterator[CoordinatorPort]:
        yield port

    stopping = asyncio.Event()
    if stopped:
        stopping.set()
    run = Run(run_id="r1", resolved=a_resolved(), cases=cases, concurrency=1)
    carried = carry_out(
        run,
        Survey(total=3, stored={}),
        MemoryEventStore(),
        court,
        progress=Silent(),
        stopping=stopping,
        problems=problems,
    )
    return [line async for line in carried]


@pytest.mark.parametrize("problem", [WrongVersion("no"), Mismatch("no"), RuntimeError("no")])
async def test_what_befalls_one_debate_stops_no_other(problem: Exception) -> None:
    port, problems = RefusedPort(problem), []

    lines = await lines_of(Cases(), port, problems)

    assert ["r1~c0", "r1~c1", "r1~c2"] == port.held
    assert ([], 3) == (lines, len(problems))


@pytest.mark.parametrize("problem", [StoreFailed("disk full"), Fenced("another took over")])
async def test_a_store_that_fails_or_another_writer_stops_the_run(problem: StoreError) -> None:
    port, problems = RefusedPort(problem), []

    await lines_of(Cases(), port, problems)

    assert ["r1~c0"] == port.held


async def test_a_run_that_is_stopping_fetches_nothing_more() -> None:
    cases, port = Cases(), RefusedPort(RuntimeError("never asked"))

    await lines_of(cases, port, [], stopped=True)

    assert (0, []) == (cases.fetched, port.held)
