"""The runtime of many callers: set up once, replaced when it is lost, and what a stopped command waits for."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import cast

import pytest

from jury_actors import (
    Chunk,
    ClerkInterface,
    ClusterLost,
    Delivery,
    Finished,
    Job,
    ModelLoad,
    OpenCall,
    OpenCalls,
    Outbox,
    RunContext,
    Runtime,
    RuntimeLoad,
    SeatLoad,
    drive,
)
from jury_judge import JuryClosed, RuntimePool
from jury_judge.runs.panel_actors import waits_text
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


def test_calls_in_flight_are_named_by_model_with_the_longest_first() -> None:
    seats = (
        SeatLoad("a", 2, 0, (ModelLoad("openai/gpt-5", 1, 0, 12.04), ModelLoad("openai/gpt-4", 1, 0, 3.0))),
        SeatLoad("b", 1, 0, (ModelLoad("openai/gpt-5", 1, 0, 75.0),)),
    )

    assert "3 calls: gpt-5 (openai) 2 calls, 1 min 15 s, gpt-4 (openai) 3.0 s" == waits_text(RuntimeLoad(3, seats, 0))


def test_permits_retries_appends_and_jurors_that_do_not_answer_are_named() -> None:
    seats = (SeatLoad("a", 3, 0, (ModelLoad("openai/gpt-5", 0, 2),)), SeatLoad(None, 4, 0, None))

    assert (
        "a permit for 2 calls; 1 step between two calls; 5 appends to store; jurors that do not answer: the final judge"
    ) == waits_text(RuntimeLoad(3, seats, 5))


def test_a_debate_that_asks_nothing_at_the_moment_is_counted() -> None:
    assert "1 debate between two steps" == waits_text(RuntimeLoad(1, (SeatLoad("a", 0, 0, ()),), 0))


def test_a_call_is_as_old_as_the_time_since_it_was_made() -> None:
    now = 100.0
    calls = OpenCalls(clock=lambda: now)
    model, coordinator = "openai/gpt-5", "one"
    with (
        OpenCall(calls, "r~one", "initial/a", model, coordinator) as one,
        OpenCall(calls, "r~two", "initial/a", model, coordinator),
    ):
        now = 103.0
        one.depart()
        now = 107.5

        assert (ModelLoad(model, 1, 1, 4.5),) == calls.load(coordinator, "r") == calls.load(coordinator, None)
        assert () == calls.load(coordinator, "other") == calls.load("another", None)
    assert () == calls.load(coordinator, None)


class _Coordinator:
    async def load(self, _run_id: str | None) -> RuntimeLoad:
        return RuntimeLoad(1, (SeatLoad("a", 1, 0, (ModelLoad("openai/gpt-5", 1, 0, 2.0),)),), 0)


async def test_the_words_follow_the_runtime_from_its_start_to_its_end() -> None:
    starting = asyncio.Event()

    @asynccontextmanager
    async def open_runtime() -> AsyncIterator[Runtime]:
        await starting.wait()
        yield Runtime([_Coordinator()], None)  # type: ignore[arg-type]  # (only the load is asked for)

    pool = RuntimePool(open_runtime)
    said = [await pool.waits_for()]
    opening = asyncio.create_task(pool.runtime())
    await asyncio.sleep(0)
    said.append(await pool.waits_for())
    starting.set()
    runtime = await opening
    said.append(await pool.waits_for())
    runtime.coordinators = None  # type: ignore[assignment]  # (as one that is lost)
    said.append(await pool.waits_for())
    await pool.close(RuntimeError("closed"))
    said.append(await pool.waits_for())

    assert [
        "cases and results to be read",
        "the actors to start",
        "1 call: gpt-5 (openai) 2.0 s",
        "the coordinator, which does not answer now",
        "the actors to end",
    ] == said
