"""What a stopped command says that it waits for, while calls are in flight and before and after."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from jury_actors import ModelLoad, Runtime, RuntimeLoad, SeatLoad
from jury_actors.load import OpenCalls
from jury_judge.running.waits import waits_text
from jury_judge.runs.runtime_pool import RuntimePool


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


def test_many_models_are_counted_after_the_slowest() -> None:
    calls = tuple(ModelLoad(f"openai/m{number}", 1, 0, number) for number in range(7))

    assert (
        "7 calls: m6 (openai) 6.0 s, m5 (openai) 5.0 s, m4 (openai) 4.0 s, m3 (openai) 3.0 s, m2 (openai) 2.0 s, "
        "2 more models"
    ) == waits_text(RuntimeLoad(1, (SeatLoad("a", 7, 0, calls),), 0))


def test_a_debate_that_asks_nothing_at_the_moment_is_counted() -> None:
    assert "1 debate between two steps" == waits_text(RuntimeLoad(1, (SeatLoad("a", 0, 0, ()),), 0))


def test_a_call_is_as_old_as_the_time_since_it_was_made() -> None:
    now = 100.0
    calls = OpenCalls(clock=lambda: now)
    model, coordinator = "openai/gpt-5", "one"
    with (
        calls.call("r~one", "initial/a", model, coordinator) as one,
        calls.call("r~two", "initial/a", model, coordinator),
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
