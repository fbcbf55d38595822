"""One coordinator for many callers: each gets its own debates back, whatever happens to it or to the others."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from jury_actors.errors import ClusterLost
from jury_actors.holding import CoordinatorLost, CoordinatorPort, hold
from jury_actors.messages import Chunk, Delivery, Docket, Finished, Job
from jury_actors.outbox import Outbox
from jury_judge.app.runtime_pool import RuntimePool
from jury_judge.errors import JuryClosed
from jury_store.seals.seal import Seal
from support.courts import a_resolved
from support.waiting import until

DOCKET = Docket("r", a_resolved(preset="independent"))


class Coordinator:
    """Holds what it is sent until a test says how it ends; may be lost, or gone for good."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self.released: list[str] = []
        self.trouble: list[Exception] = []
        self.outbox: Outbox[Finished | Chunk] = Outbox("one")
        self._stirred = asyncio.Event()

    async def submit(self, jobs: Sequence[Job]) -> None:
        self.held += [job.debate_id for job in jobs]

    async def poll(self, life: str, ack: int) -> Delivery[Finished | Chunk]:
        told = asyncio.ensure_future(self.outbox.poll(life, ack))
        stirred = asyncio.ensure_future(self._stirred.wait())
        await asyncio.wait({told, stirred}, return_when=asyncio.FIRST_COMPLETED)
        stirred.cancel()
        if not self.trouble:
            return await told
        told.cancel()
        self._stirred.clear()
        raise self.trouble.pop(0)

    async def release(self, debate_ids: Sequence[str]) -> None:
        self.released += debate_ids

    async def keep_run_size(self, run_id: str, cases: int | None) -> None:
        raise AssertionError("nobody counts here")

    async def keep_seal(self, seal: Seal) -> bool:
        raise AssertionError("nobody seals here")

    def end(self, *debates: str) -> None:
        for debate in debates:
            self.outbox.put(Finished(debate, "completed"))

    def strike(self, error: Exception, life: str = "two") -> None:
        self.outbox = Outbox(life)
        self.trouble.append(error)
        self._stirred.set()


class House:
    """Sets up courts, and counts them."""

    def __init__(self) -> None:
        self.coordinators: list[Coordinator] = []
        self.open = 0
        self.refuses: Exception | None = None

    @asynccontextmanager
    async def court(self) -> AsyncIterator[CoordinatorPort]:
        await asyncio.sleep(0)
        if self.refuses is not None:
            raise self.refuses
        self.coordinators.append(Coordinator())
        self.open += 1
        try:
            yield self.coordinators[-1]
        finally:
            self.open -= 1

    @property
    def now(self) -> Coordinator:
        return self.coordinators[-1]


async def held(court: RuntimePool, *debates: str) -> list[str]:
    """Hold debates in a port of one's own; their ids as they end."""
    async with court.caller() as port:
        jobs = (Job(debate, b"", DOCKET) for debate in debates)
        return [finished.debate_id async for finished in hold(port, jobs, concurrency=10)]


async def test_each_caller_gets_its_own_debates_from_one_court() -> None:
    house = House()
    court = RuntimePool(house.court)
    callers = [asyncio.create_task(held(court, f"a{n}", f"b{n}")) for n in range(3)]
    await until(lambda: house.coordinators and len(house.now.held) == 6)
    house.now.end("b2", "a0", "a1", "b0", "a2", "b1")

    assert [["a0", "b0"], ["a1", "b1"], ["b2", "a2"]] == await asyncio.gather(*callers)
    assert 1 == len(house.coordinators)
    await court.close(JuryClosed("left"))


async def test_what_a_caller_leaves_is_released_unless_another_waits_for_it() -> None:
    house = House()
    court = RuntimePool(house.court)
    callers = [asyncio.create_task(held(court, "mine", "ours")), asyncio.create_task(held(court, "ours"))]
    await until(lambda: house.coordinators and len(house.now.held) == 3)
    callers[0].cancel()
    await asyncio.gather(callers[0], return_exceptions=True)
    house.now.end("ours")

    assert ["ours"] == await callers[1]
    assert ["mine"] == house.now.released
    await court.close(JuryClosed("left"))


async def test_a_coordinator_that_takes_over_is_sent_by_each_caller_what_it_waits_for() -> None:
    house = House()
    court = RuntimePool(house.court)
    callers = [asyncio.create_task(held(court, "a", "b")), asyncio.create_task(held(court, "c"))]
    await until(lambda: house.coordinators and len(house.now.held) == 3)
    house.now.end("a")
    house.now.held.clear()
    house.now.strike(CoordinatorLost())
    await until(lambda: {"b", "c"} <= set(house.now.held))
    house.now.end("a", "b", "c")

    assert [["a", "b"], ["c"]] == [sorted(found) for found in await asyncio.gather(*callers)]
    await court.close(JuryClosed("left"))


async def test_a_coordinator_that_took_over_between_two_polls_is_sent_what_is_waited_for() -> None:
    house = House()
    court = RuntimePool(house.court)
    caller = asyncio.create_task(held(court, "a", "b"))
    await until(lambda: house.coordinators and len(house.now.held) == 2)
    house.now.end("a")
    house.now.held.clear()
    house.now.outbox = Outbox("two")
    house.now.end("of-another-driver")
    await until(lambda: "b" in house.now.held)
    house.now.end("b")

    assert ["a", "b"] == await caller
    await court.close(JuryClosed("left"))


async def test_a_court_that_is_gone_for_good_is_told_to_every_caller_and_set_up_anew() -> None:
    house = House()
    court = RuntimePool(house.court)
    callers = [asyncio.create_task(held(court, one)) for one in "ab"]
    await until(lambda: house.coordinators and len(house.now.held) == 2)
    house.now.strike(ClusterLost("the cluster was lost"))
    lost = await asyncio.gather(*callers, return_exceptions=True)
    again = asyncio.create_task(held(court, "a"))
    await until(lambda: len(house.coordinators) == 2 and house.now.held)
    house.now.end("a")

    assert [ClusterLost, ClusterLost] == [type(one) for one in lost]
    assert (["a"], 1) == (await again, house.open)
    await court.close(JuryClosed("left"))


async def test_a_court_that_cannot_be_set_up_is_tried_again_by_the_next_caller() -> None:
    house = House()
    court = RuntimePool(house.court)
    house.refuses = ClusterLost("not now")
    both = await asyncio.gather(held(court, "a"), held(court, "b"), return_exceptions=True)
    house.refuses = None
    later = asyncio.create_task(held(court, "a"))
    await until(lambda: house.coordinators and house.now.held)
    house.now.end("a")

    assert [ClusterLost, ClusterLost] == [type(one) for one in both]
    assert ["a"] == await later
    await court.close(JuryClosed("left"))


async def test_a_caller_that_is_cancelled_while_the_court_is_set_up_leaves_it_to_the_others() -> None:
    house = House()
    court = RuntimePool(house.court)
    callers = [asyncio.create_task(held(court, one)) for one in "ab"]
    await asyncio.sleep(0)
    callers[0].cancel()
    await until(lambda: house.coordinators and house.now.held == ["b"])
    house.now.end("b")

    assert ["b"] == await callers[1]
    await court.close(JuryClosed("left"))


async def test_a_court_that_is_closed_is_told_to_whoever_waits_and_is_set_up_no_more() -> None:
    house = House()
    court = RuntimePool(house.court)
    caller = asyncio.create_task(held(court, "a"))
    await until(lambda: house.coordinators and house.now.held)
    await court.close(JuryClosed("left"))

    with pytest.raises(JuryClosed, match="left"):
        await caller
    with pytest.raises(JuryClosed, match="left"):
        await held(court, "b")
    assert 0 == house.open


async def test_a_court_that_lost_an_actor_for_good_is_set_up_anew_for_the_next_caller() -> None:
    house = House()
    court = RuntimePool(house.court)
    async with court.caller() as port:
        await port.submit([Job("a", b"", DOCKET)])
        house.now.outbox.put(Finished("a", "unfinished", ClusterLost("a juror is gone")))
        with pytest.raises(ClusterLost):
            await port.poll("", 0)
    task = asyncio.create_task(held(court, "a"))
    await until(lambda: len(house.coordinators) == 2 and house.now.held)
    house.now.end("a")

    assert ["a"] == await task
    await court.close(JuryClosed("left"))
