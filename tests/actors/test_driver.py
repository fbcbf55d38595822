"""The driver: debates go in while there is room, and each comes out once."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence

from jury_actors import PROBE, Clerk, Delivery, Finished, IncarnationLost, Job, RunContext, Runtime, drive
from jury_actors.driver import MAX_BYTES
from jury_debate import PanelSpec, resolve
from jury_store import MemoryEventStore

CONTEXT = RunContext("r", resolve(PanelSpec()))


class ScriptedCoordinator:
    """Runs every debate for one poll, unless its script says otherwise.

    Args:
        script: what the next polls do: finish this many of the oldest, or fail so, or be another incarnation (None).
    """

    def __init__(self, *script: int | Exception | None) -> None:
        self.submitted: list[list[str]] = []
        self.acks: list[tuple[str, int]] = []
        self.running: list[str] = []
        self.most_running = 0
        self.left = 0
        self.refuses: deque[Exception] = deque()
        self._script = deque(script)
        self._incarnation = 1
        self._upto = 0
        self._repeat: list[Finished] = []
        self._stirred = asyncio.Event()

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        if self.refuses:
            self._be_reborn()
            raise self.refuses.popleft()
        self.submitted.append([job.debate_id for job in jobs])
        self.running += [job.debate_id for job in jobs if job.debate_id not in self.running]
        self.most_running = max(self.most_running, len(self.running))
        self._stirred.set()

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Finished]:
        if incarnation == PROBE:
            return Delivery(str(self._incarnation), 0, [])
        while not self.running:
            self._stirred.clear()
            await self._stirred.wait()
        self.acks.append((incarnation, ack))
        act = self._script.popleft() if self._script else len(self.running)
        if isinstance(act, Exception):
            self._be_reborn()
            raise act
        if act is None:
            self._be_reborn()
            return Delivery(str(self._incarnation), 0, [])
        done, self.running = self.running[:act], self.running[act:]
        self._upto += len(done)
        finished = [Finished(debate, "completed") for debate in done]
        delivery = Delivery(str(self._incarnation), self._upto, [*self._repeat, *finished])
        self._repeat = finished
        return delivery

    async def leave(self, client: str) -> None:
        self.left += 1

    def _be_reborn(self) -> None:
        self._incarnation += 1
        self._upto = 0
        self.running, self._repeat = [], []


def jobs(count: int, size: int = 10) -> Iterator[Job]:
    return (Job(f"d{number}", bytes(size), CONTEXT) for number in range(count))


def runtime_of(coordinator: ScriptedCoordinator) -> Runtime:
    return Runtime([coordinator], Clerk(MemoryEventStore()))


async def driven_by(coordinator: ScriptedCoordinator, work: Iterator[Job], concurrency: int = 100) -> list[str]:
    async with asyncio.timeout(120):
        return [finished.debate_id async for finished in drive(runtime_of(coordinator), work, concurrency=concurrency)]


async def test_every_debate_is_yielded_once_as_it_ends() -> None:
    assert await driven_by(ScriptedCoordinator(), jobs(3)) == ["d0", "d1", "d2"]


async def test_no_debates_need_no_coordinator() -> None:
    coordinator = ScriptedCoordinator()

    assert await driven_by(coordinator, jobs(0)) == []
    assert not coordinator.acks


async def test_the_concurrency_is_never_exceeded() -> None:
    coordinator = ScriptedCoordinator(1, 2, 1, 3)
    await driven_by(coordinator, jobs(20), concurrency=3)

    assert coordinator.most_running == 3


async def test_a_job_is_drawn_only_when_there_is_room_for_it() -> None:
    drawn: list[int] = []

    def work() -> Iterator[Job]:
        for number, job in enumerate(jobs(10)):
            drawn.append(number)
            yield job

    results = drive(runtime_of(ScriptedCoordinator(1)), work(), concurrency=2)
    await anext(results)
    await results.aclose()

    assert drawn == [0, 1]


async def test_debates_whose_cases_are_large_wait_for_each_other() -> None:
    coordinator = ScriptedCoordinator()
    await driven_by(coordinator, jobs(4, size=MAX_BYTES // 2))

    assert coordinator.submitted == [["d0", "d1"], ["d2", "d3"]]


async def test_one_huge_case_is_admitted() -> None:
    coordinator = ScriptedCoordinator()
    await driven_by(coordinator, jobs(2, size=MAX_BYTES + 1))

    assert coordinator.submitted == [["d0"], ["d1"]]


async def test_results_are_acknowledged_with_the_next_poll() -> None:
    coordinator = ScriptedCoordinator(1, 1)
    await driven_by(coordinator, jobs(2))

    assert coordinator.acks == [("", 0), ("1", 1)]


async def test_a_result_delivered_twice_is_yielded_once() -> None:
    assert await driven_by(ScriptedCoordinator(1, 1, 1), jobs(3)) == ["d0", "d1", "d2"]


async def test_a_coordinator_that_takes_over_is_sent_everything_that_is_not_over() -> None:
    coordinator = ScriptedCoordinator(1, IncarnationLost())
    given = await driven_by(coordinator, jobs(3))

    assert coordinator.submitted == [["d0", "d1", "d2"], ["d1", "d2"]]
    assert given == ["d0", "d1", "d2"]


async def test_nothing_is_acknowledged_to_a_coordinator_that_takes_over() -> None:
    coordinator = ScriptedCoordinator(1, IncarnationLost())
    await driven_by(coordinator, jobs(3))

    assert coordinator.acks == [("", 0), ("1", 1), ("2", 0)]


async def test_a_coordinator_that_dies_while_it_is_sent_everything_is_followed_by_the_next() -> None:
    coordinator = ScriptedCoordinator(IncarnationLost())
    coordinator.refuses.extend([IncarnationLost(), IncarnationLost()])
    given = await driven_by(coordinator, jobs(2))

    assert given == ["d0", "d1"]


async def test_a_coordinator_replaced_between_two_polls_is_noticed_by_its_incarnation() -> None:
    coordinator = ScriptedCoordinator(1, None)
    given = await driven_by(coordinator, jobs(3))

    assert given == ["d0", "d1", "d2"]


async def test_debates_that_stop_make_room_for_others() -> None:
    coordinator = ScriptedCoordinator()
    results = drive(runtime_of(coordinator), jobs(5), concurrency=1)

    assert [finished.debate_id async for finished in results] == ["d0", "d1", "d2", "d3", "d4"]


async def test_a_driver_leaves_the_coordinator_however_it_ends() -> None:
    coordinator = ScriptedCoordinator(1)
    await driven_by(coordinator, jobs(2))
    results = drive(runtime_of(coordinator), jobs(2), concurrency=1)
    await anext(results)
    await results.aclose()

    assert coordinator.left == 2
