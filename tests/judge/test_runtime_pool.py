"""One runtime for many callers: set up once, replaced when it is lost, closed with all that wait."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import cast

import pytest

from jury_actors import Chunk, ClerkInterface, ClusterLost, Delivery, Finished, Job, Outbox, RunContext, Runtime, drive
from jury_judge import JuryClosed
from jury_judge.runs.runtime_pool import RuntimePool
from support.runtime_harness import a_resolved
from support.waiting import until

CONTEXT = RunContext("r", a_resolved(preset="independent"))


class Coordinator:
    """Keeps submitted jobs until a test ends them; may be lost."""

    def __init__(self) -> None:
        self.submitted: list[str] = []
        self._outboxes: dict[str, Outbox[Finished | Chunk]] = {}
        self._gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def submit(self, client: str, jobs: Sequence[Job]) -> None:
        self.submitted += [job.debate_id for job in jobs]

    async def poll(self, client: str, incarnation: str, ack: int) -> Delivery[Finished | Chunk]:
        outbox = self._outboxes.setdefault(client, Outbox("one"))
        polled = asyncio.ensure_future(outbox.poll(incarnation, ack))
        await asyncio.wait({polled, self._gone}, return_when=asyncio.FIRST_COMPLETED)
        if self._gone.done():
            polled.cancel()
            self._gone.result()
        return await polled

    async def leave(self, client: str) -> None:
        self._outboxes.pop(client, None)

    def end(self, *debates: str, problem: Exception | None = None) -> None:
        for debate in debates:
            for outbox in self._outboxes.values():
                outbox.put(Finished(debate, "unfinished" if problem else "completed", problem))

    def strike(self, error: Exception) -> None:
        self._gone.set_exception(error)


class Runtimes:
    """Sets up runtimes, and counts them."""

    def __init__(self) -> None:
        self.coordinators: list[Coordinator] = []
        self.open = 0
        self.refuses: Exception | None = None

    @asynccontextmanager
    async def enter_runtime(self) -> AsyncIterator[Runtime]:
        await asyncio.sleep(0)
        if self.refuses is not None:
            raise self.refuses
        self.coordinators.append(Coordinator())
        self.open += 1
        try:
            yield Runtime([self.coordinators[-1]], cast("ClerkInterface", None))
        finally:
            self.open -= 1

    @property
    def now(self) -> Coordinator:
        return self.coordinators[-1]


async def run_debates(pool: RuntimePool, *debates: str) -> list[str]:
    """Run debates; their ids as they end."""
    jobs = (Job(debate, b"", CONTEXT) for debate in debates)
    return [finished.debate_id async for finished in drive(await pool.runtime(), jobs, concurrency=10)]


async def test_each_caller_gets_its_own_debates_from_one_runtime() -> None:
    runtimes = Runtimes()
    pool = RuntimePool(runtimes.enter_runtime)
    callers = [asyncio.create_task(run_debates(pool, f"a{n}", f"b{n}")) for n in range(3)]
    await until(lambda: runtimes.coordinators and len(runtimes.now.submitted) == 6)
    runtimes.now.end("b2", "a0", "a1", "b0", "a2", "b1")

    assert [["a0", "b0"], ["a1", "b1"], ["b2", "a2"]] == await asyncio.gather(*callers)
    assert 1 == len(runtimes.coordinators)
    await pool.close(JuryClosed("left"))


async def test_a_runtime_that_is_lost_fails_every_caller_and_is_replaced() -> None:
    runtimes = Runtimes()
    pool = RuntimePool(runtimes.enter_runtime)
    callers = [asyncio.create_task(run_debates(pool, one)) for one in "ab"]
    await until(lambda: runtimes.coordinators and len(runtimes.now.submitted) == 2)
    runtimes.now.strike(ClusterLost("the cluster was lost"))
    lost = await asyncio.gather(*callers, return_exceptions=True)
    again = asyncio.create_task(run_debates(pool, "a"))
    await until(lambda: len(runtimes.coordinators) == 2 and runtimes.now.submitted)
    runtimes.now.end("a")

    assert [ClusterLost, ClusterLost] == [type(one) for one in lost]
    assert (["a"], 1) == (await again, runtimes.open)
    await pool.close(JuryClosed("left"))


async def test_a_runtime_that_cannot_start_is_tried_again_by_the_next_caller() -> None:
    runtimes = Runtimes()
    pool = RuntimePool(runtimes.enter_runtime)
    runtimes.refuses = ClusterLost("not now")
    both = await asyncio.gather(run_debates(pool, "a"), run_debates(pool, "b"), return_exceptions=True)
    runtimes.refuses = None
    later = asyncio.create_task(run_debates(pool, "a"))
    await until(lambda: runtimes.coordinators and runtimes.now.submitted)
    runtimes.now.end("a")

    assert [ClusterLost, ClusterLost] == [type(one) for one in both]
    assert ["a"] == await later
    await pool.close(JuryClosed("left"))


async def test_a_caller_that_is_cancelled_while_the_runtime_starts_leaves_it_to_the_others() -> None:
    runtimes = Runtimes()
    pool = RuntimePool(runtimes.enter_runtime)
    callers = [asyncio.create_task(run_debates(pool, one)) for one in "ab"]
    await asyncio.sleep(0)
    callers[0].cancel()
    await until(lambda: runtimes.coordinators and runtimes.now.submitted == ["b"])
    runtimes.now.end("b")

    assert ["b"] == await callers[1]
    await pool.close(JuryClosed("left"))


async def test_a_pool_that_is_closed_fails_waiting_callers_and_starts_no_runtime() -> None:
    runtimes = Runtimes()
    pool = RuntimePool(runtimes.enter_runtime)
    caller = asyncio.create_task(run_debates(pool, "a"))
    await until(lambda: runtimes.coordinators and runtimes.now.submitted)
    await pool.close(JuryClosed("left"))

    with pytest.raises(JuryClosed, match="left"):
        await caller
    with pytest.raises(JuryClosed, match="left"):
        await run_debates(pool, "b")
    assert 0 == runtimes.open


async def test_a_runtime_that_lost_an_actor_is_replaced_for_the_next_caller() -> None:
    runtimes = Runtimes()
    pool = RuntimePool(runtimes.enter_runtime)
    first = asyncio.create_task(run_debates(pool, "a"))
    await until(lambda: runtimes.coordinators and runtimes.now.submitted)
    runtimes.now.end("a", problem=ClusterLost("a juror is gone"))
    await first
    second = asyncio.create_task(run_debates(pool, "a"))
    await until(lambda: len(runtimes.coordinators) == 2 and runtimes.now.submitted)
    runtimes.now.end("a")

    assert ["a"] == await second
    await pool.close(JuryClosed("left"))
