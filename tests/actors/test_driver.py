"""The driver's end of a coordinator."""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence

from jury_actors.driver import MAX_BYTES, CoordinatorLost, hold
from jury_actors.messages import Delivery, Finished, Job, RunContext
from jury_debate.panel_spec import PanelSpec, resolve

DOCKET = RunContext("r", resolve(PanelSpec()))


class ScriptedCoordinator:
    """Holds every debate for one poll, unless its script says otherwise.

    Args:
        script: what the next polls do: finish this many of the oldest, or fail so, or be another life (None).
    """

    def __init__(self, *script: int | Exception | None) -> None:
        self.submitted: list[list[str]] = []
        self.acks: list[tuple[str, int]] = []
        self.held: list[str] = []
        self.most_held = 0
        self.refuses: deque[Exception] = deque()
        self._script = deque(script)
        self._life = 1
        self._upto = 0
        self._repeat: list[Finished] = []

    async def submit(self, jobs: Sequence[Job]) -> None:
        if self.refuses:
            raise self.refuses.popleft()
        self.submitted.append([job.debate_id for job in jobs])
        self.held += [job.debate_id for job in jobs if job.debate_id not in self.held]
        self.most_held = max(self.most_held, len(self.held))

    async def poll(self, life: str, ack: int) -> Delivery[Finished]:
        self.acks.append((life, ack))
        act = self._script.popleft() if self._script else len(self.held)
        if isinstance(act, Exception):
            self._be_reborn()
            raise act
        if act is None:
            self._be_reborn()
            return Delivery(str(self._life), 0, [])
        done, self.held = self.held[:act], self.held[act:]
        self._upto += len(done)
        finished = [Finished(debate, "completed") for debate in done]
        delivery = Delivery(str(self._life), self._upto, [*self._repeat, *finished])
        self._repeat = finished
        return delivery

    def _be_reborn(self) -> None:
        self._life += 1
        self._upto = 0
        self.held, self._repeat = [], []


def jobs(count: int, size: int = 10) -> Iterator[Job]:
    return (Job(f"d{number}", bytes(size), DOCKET) for number in range(count))


async def held_by(port: ScriptedCoordinator, work: Iterator[Job], concurrency: int = 100) -> list[str]:
    async with asyncio.timeout(5):
        return [finished.debate_id async for finished in hold(port, work, concurrency=concurrency)]


async def test_every_debate_is_given_once_as_it_ends() -> None:
    assert await held_by(ScriptedCoordinator(), jobs(3)) == ["d0", "d1", "d2"]


async def test_no_debates_need_no_coordinator() -> None:
    port = ScriptedCoordinator()

    assert await held_by(port, jobs(0)) == []
    assert not port.acks


async def test_never_more_debates_than_there_are_places() -> None:
    port = ScriptedCoordinator(1, 2, 1, 3)
    await held_by(port, jobs(20), concurrency=3)

    assert port.most_held == 3


async def test_a_job_is_drawn_only_when_there_is_a_place_for_it() -> None:
    drawn: list[int] = []

    def work() -> Iterator[Job]:
        for number, job in enumerate(jobs(10)):
            drawn.append(number)
            yield job

    results = hold(ScriptedCoordinator(1), work(), concurrency=2)
    await anext(results)
    await results.aclose()

    assert drawn == [0, 1]


async def test_debates_whose_cases_are_large_wait_for_each_other() -> None:
    port = ScriptedCoordinator()
    await held_by(port, jobs(4, size=MAX_BYTES // 2))

    assert port.submitted == [["d0", "d1"], ["d2", "d3"]]


async def test_one_huge_case_still_goes() -> None:
    port = ScriptedCoordinator()
    await held_by(port, jobs(2, size=MAX_BYTES + 1))

    assert port.submitted == [["d0"], ["d1"]]


async def test_what_was_taken_is_acknowledged_with_the_next_poll() -> None:
    port = ScriptedCoordinator(1, 1)
    await held_by(port, jobs(2))

    assert port.acks == [("", 0), ("1", 1)]


async def test_a_result_delivered_twice_is_given_once() -> None:
    assert await held_by(ScriptedCoordinator(1, 1, 1), jobs(3)) == ["d0", "d1", "d2"]


async def test_a_coordinator_that_takes_over_is_sent_everything_that_is_not_over() -> None:
    port = ScriptedCoordinator(1, CoordinatorLost())
    given = await held_by(port, jobs(3))

    assert port.submitted == [["d0", "d1", "d2"], ["d1", "d2"]]
    assert given == ["d0", "d1", "d2"]


async def test_nothing_is_acknowledged_to_a_coordinator_that_takes_over() -> None:
    port = ScriptedCoordinator(1, CoordinatorLost())
    await held_by(port, jobs(3))

    assert port.acks == [("", 0), ("1", 1), ("", 0)]


async def test_a_coordinator_that_dies_while_it_is_sent_everything_is_followed_by_the_next() -> None:
    port = ScriptedCoordinator(CoordinatorLost())
    port.refuses.extend([CoordinatorLost(), CoordinatorLost()])
    given = await held_by(port, jobs(2))

    assert given == ["d0", "d1"]


async def test_a_coordinator_replaced_between_two_polls_is_noticed_by_its_new_life() -> None:
    port = ScriptedCoordinator(1, None)
    given = await held_by(port, jobs(3))

    assert given == ["d0", "d1", "d2"]


async def test_debates_that_could_not_go_on_free_their_place() -> None:
    port = ScriptedCoordinator()
    results = hold(port, jobs(5), concurrency=1)

    assert [finished.debate_id async for finished in results] == ["d0", "d1", "d2", "d3", "d4"]
