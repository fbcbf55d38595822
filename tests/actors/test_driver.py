"""The driver: debates go in while there is room, and each comes out once.

`test_disturbed_debates.py` has what comes of coordinators that die.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack

from jury_actors import PROBE, Clerk, Delivery, Finished, Job, RequestRoom, RunContext, Runtime, drive
from jury_actors.runtime import MAX_BYTES
from jury_debate import PanelSpec, resolve
from jury_store import MemoryEventStore
from support.each_row import each_row

CONTEXT = RunContext("r", resolve(PanelSpec()))


class ScriptedCoordinator:
    """Runs every debate for one poll; where it has a script, polls finish so many of the oldest."""

    def __init__(self, *script: int) -> None:
        self.submitted: list[list[str]] = []
        self.acks: list[tuple[str, int]] = []
        self.running: list[str] = []
        self.most_running = 0
        self.left = 0
        self._script = deque(script)
        self._upto = 0
        self._stirred = asyncio.Event()

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        self.submitted.append([job.debate_id for job in jobs])
        self.running += self.submitted[-1]
        self.most_running = max(self.most_running, len(self.running))
        self._stirred.set()

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Finished]:
        if incarnation == PROBE:
            return Delivery("1", 0, [])
        while not self.running:
            self._stirred.clear()
            await self._stirred.wait()
        self.acks.append((incarnation, ack))
        count = self._script.popleft() if self._script else len(self.running)
        done, self.running = self.running[:count], self.running[count:]
        self._upto += len(done)
        return Delivery("1", self._upto, [Finished(debate, "completed") for debate in done])

    async def leave(self, client: str) -> None:
        self.left += 1


def jobs(count: int, size: int = 10) -> Iterator[Job]:
    return (Job(f"d{number}", bytes(size), CONTEXT) for number in range(count))


def runtime_of(coordinator: ScriptedCoordinator) -> Runtime:
    return Runtime([coordinator], Clerk(MemoryEventStore()))


async def driven_by(coordinator: ScriptedCoordinator, work: Iterator[Job], concurrency: int = 100) -> list[str]:
    async with asyncio.timeout(120):
        return [finished.debate_id async for finished in drive(runtime_of(coordinator), work, concurrency=concurrency)]


async def test_the_concurrency_is_never_exceeded() -> None:
    coordinator = ScriptedCoordinator(1, 2, 1, 3)
    given = await driven_by(coordinator, jobs(20), concurrency=3)

    assert [f"d{number}" for number in range(20)] == given, "each once, as it ends"
    assert 3 == coordinator.most_running


@each_row(
    ("count", "size", "submitted"),
    [(4, MAX_BYTES // 2, [["d0", "d1"], ["d2", "d3"]]), (2, MAX_BYTES + 1, [["d0"], ["d1"]])],
)
async def test_debates_whose_cases_are_large_wait_for_each_other(
    count: int, size: int, submitted: list[list[str]]
) -> None:
    coordinator = ScriptedCoordinator()
    await driven_by(coordinator, jobs(count, size=size))

    assert submitted == coordinator.submitted


async def test_no_debates_need_no_coordinator() -> None:
    coordinator = ScriptedCoordinator()

    assert await driven_by(coordinator, jobs(0)) == []
    assert not coordinator.acks


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


async def test_results_are_acknowledged_with_the_next_poll() -> None:
    coordinator = ScriptedCoordinator(1, 1)
    await driven_by(coordinator, jobs(2))

    assert coordinator.acks == [("", 0), ("1", 1)]


async def test_a_driver_leaves_the_coordinator_however_it_ends() -> None:
    coordinator = ScriptedCoordinator(1)
    await driven_by(coordinator, jobs(2))
    results = drive(runtime_of(coordinator), jobs(2), concurrency=1)
    await anext(results)
    await results.aclose()

    assert coordinator.left == 2


async def test_where_no_job_is_there_an_end_may_bring_one() -> None:
    """As by a ladder, where the next stage of a case follows the end of the one before."""
    further, running, ended = deque[Job](), {"d0", "d1"}, list[str]()

    def work() -> Iterator[Job | None]:
        yield from jobs(2)
        while running:
            yield further.popleft() if further else None

    coordinator = ScriptedCoordinator(1, 1, 1)
    async for finished in drive(runtime_of(coordinator), work(), concurrency=2):
        ended.append(finished.debate_id)
        running.discard(finished.debate_id)
        if finished.debate_id == "d0":
            further.append(Job("d0~s2", b"", CONTEXT))
            running.add("d0~s2")

    assert ["d0", "d1", "d0~s2"] == ended
    assert [["d0", "d1"], ["d0~s2"]] == coordinator.submitted


class Requests:
    """Asks for room, in order; `inside` are the names of those that have it."""

    def __init__(self, most: int) -> None:
        self.inside: list[str] = []
        self._room = RequestRoom(most)
        self._over: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, name: str, size: int) -> None:
        self._over[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(self._have(name, size))
        await asyncio.sleep(0)

    async def end(self, name: str) -> None:
        self._over[name].set()
        await self._tasks[name]
        await asyncio.sleep(0)

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.gather(self._tasks[name], return_exceptions=True)
        await asyncio.sleep(0)

    async def _have(self, name: str, size: int) -> None:
        async with self._room.taken(size), AsyncExitStack() as stack:
            self.inside.append(name)
            stack.callback(self.inside.remove, name)
            await self._over[name].wait()


async def test_requests_wait_in_order_until_their_bytes_have_room() -> None:
    requests = Requests(10)
    for name, size in (("a", 6), ("b", 4), ("c", 6), ("d", 1)):
        await requests.ask(name, size)
    first = [*requests.inside]
    await requests.end("b")
    with_less = [*requests.inside]
    await requests.end("a")

    assert ["a", "b"] == first
    assert ["a"] == with_less, "the small one waits behind the large one"
    assert ["c", "d"] == requests.inside


async def test_a_request_that_is_larger_than_all_room_is_admitted_alone() -> None:
    requests = Requests(10)
    await requests.ask("large", 50)
    await requests.ask("small", 1)
    first = [*requests.inside]
    await requests.end("large")

    assert ["large"] == first
    assert ["small"] == requests.inside


async def test_a_request_that_is_cancelled_takes_no_room() -> None:
    requests = Requests(10)
    for name, size in (("a", 6), ("b", 9), ("c", 4)):
        await requests.ask(name, size)
    await requests.cancel("b")
    behind_b = [*requests.inside]
    await requests.cancel("a")
    await requests.ask("d", 6)

    assert ["a", "c"] == behind_b
    assert ["c", "d"] == requests.inside
