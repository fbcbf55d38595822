"""Debates that stop while models answer: ended or left, calls in flight recorded first, no further call made."""

import asyncio

import pytest

from jury_actors import Finished, Halted, Runtime
from jury_providers import NO_FAULTS, Script
from jury_replay import replay_chunk, verify
from support.debate_harness import a_case
from support.runtime_harness import KeptStore, Meter, Run, completed
from support.waiting import until


def a_run(store: KeptStore, debates: int = 2, **spec: object) -> Run:
    run = Run(store, **spec)
    run.cases = {f"run~c{number}": a_case(f"c{number}") for number in range(debates)}
    return run


async def ends(runtime: Runtime, number: int) -> list[tuple[str, str]]:
    """The next so many debates that end, and how."""
    found: list[tuple[str, str]] = []
    incarnation, ack = "", 0
    while len(found) < number:
        incarnation, ack, items = await runtime.coordinators.all[0].poll("test", incarnation, ack)
        found += [(item.debate_id, item.status) for item in items]
    return sorted(found)


async def test_every_running_debate_of_the_run_ends_as_cancelled_with_the_answers_of_its_calls(
    store: KeptStore,
) -> None:
    run, meter = a_run(store), Meter()
    meter.open.clear()
    async with run.runtime(meter=meter) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: meter.running == 2 * 3)
        await runtime.coordinators.cancel("run", "ann")
        await until(lambda: all(run.event_ids(one)[-1] == "cancelled" for one in run.cases))
        meter.open.set()
        found = await ends(runtime, 2)

    assert [("run~c0", "cancelled"), ("run~c1", "cancelled")] == found
    assert all(["opened", "begun", "cancelled"] == run.event_ids(one) for one in run.cases)
    assert all(3 == len(run.exchange_ids(one)) for one in run.cases)
    assert all(one.status == "equal" for one in replay_chunk(store, list(run.cases)))
    assert verify(store).ok


async def test_another_run_goes_on(store: KeptStore) -> None:
    run = a_run(store)
    async with run.runtime() as runtime:
        await runtime.coordinators.cancel("run-2", "ann")
        found = await run.execute_in(runtime)
        await runtime.coordinators.cancel("run", "ann")

    assert completed(found.values())


async def test_a_debate_cancelled_between_two_rounds_asks_nothing_more(store: KeptStore) -> None:
    run, meter = a_run(store, 1), Meter()
    meter.closed_for = lambda trace: "round-1" in trace
    async with run.runtime(meter=meter) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: any("round-1" in trace for trace in meter.served))
        asked = dict(meter.served)
        await runtime.coordinators.cancel("run", "ann")
        meter.open_again()
        found = await ends(runtime, 1)

    assert [("run~c0", "cancelled")] == found
    assert asked == dict(meter.served)
    assert set(meter.served_of("run~c0")) == set(run.exchange_ids("run~c0"))
    assert ["equal"] == [one.status for one in replay_chunk(store, ["run~c0"])]


async def test_the_load_of_a_run_counts_its_debates_steps_and_calls_by_seat_and_provider(store: KeptStore) -> None:
    run, meter = a_run(store), Meter()
    meter.open.clear()
    async with run.runtime(meter=meter) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        await until(lambda: meter.running == 2 * 3)
        load = await runtime.coordinators.load("run")
        other = await runtime.coordinators.load("run-2")
        every = await runtime.coordinators.load(None)
        meter.open.set()
        await ends(runtime, 2)
        after = await runtime.coordinators.load("run")

    assert load.debates == 2
    assert [2, 2, 2, 0] == [seat.steps for seat in load.seats]
    assert [[("simulated", 2, 0)]] * 3 + [[]] == [
        [(one.provider, one.calling, one.waiting) for one in seat.calls or ()] for seat in load.seats
    ]
    assert load.seats[-1].juror_id is None
    assert (2, 6) == (every.debates, sum(seat.steps for seat in every.seats))
    assert (0, 0) == (other.debates, sum(seat.steps for seat in other.seats))
    assert (0, 0) == (after.debates, sum(seat.steps for seat in after.seats))


@pytest.mark.full
@pytest.mark.ray
async def test_a_run_on_ray_says_what_it_does_and_is_cancelled(ray_cluster: None, sqlite_url: str) -> None:
    from jury_actors import ray_runtime
    from jury_providers import Script
    from jury_store import open_store
    from support.runtime_harness import TWO_SEATS

    run = a_run(KeptStore(), 1, **TWO_SEATS)
    async with ray_runtime.ray_runtime(run.plan(Script(latency=2.0), url=sqlite_url)) as runtime:
        await runtime.coordinators.all[0].submit("test", run.jobs)
        loads = [await runtime.coordinators.load("run")]
        while not any(one.calling for seat in loads[-1].seats for one in seat.calls or ()):
            loads.append(await runtime.coordinators.load("run"))
        await runtime.coordinators.cancel("run", "ann")
        found = await ends(runtime, 1)
    store = open_store(sqlite_url, write=False)
    events = [event.event_id for event in store.read_stream("debate/run~c0")]
    store.close()

    assert loads[-1].debates == 1
    assert [("run~c0", "cancelled")] == found
    assert "cancelled" == events[-1]


REFUSED = Script(scripted={"*/initial/sim-misuse/*": ("authentication",)})
"""The key of the seat that is asked last is refused, while the two others are asked."""


async def stopped(run: Run, meter: Meter, script: Script, *, cancel: bool) -> tuple[bool, Finished]:
    """Whether the debate was reported before its calls were answered, and the report."""
    async with run.runtime(meter=meter, script=script) as runtime:
        coordinator = runtime.coordinators.all[0]
        await coordinator.submit("test", run.jobs)
        await until(lambda: meter.running == (3 if cancel else 2) and len(meter.served) == 3)
        if cancel:
            await coordinator.cancel("run", "ops")
        polling = asyncio.ensure_future(coordinator.poll("test", "", 0))
        await until(lambda: "cancelled" in run.event_ids() or run.exchange_ids())
        for _ in range(100):  # for whatever would report it now
            await asyncio.sleep(0)
        early = polling.done()
        meter.open_again()
        (finished,) = (await polling).items
    assert isinstance(finished, Finished)
    return early, finished


@pytest.mark.parametrize("cancel", [True, False], ids=["cancelled", "halted"])
async def test_it_is_reported_once_the_answers_that_are_paid_for_are_recorded(store: KeptStore, cancel: bool) -> None:
    run, meter = Run(store), Meter()
    meter.closed_for = lambda trace: cancel or "sim-misuse" not in trace
    early, finished = await stopped(run, meter, NO_FAULTS if cancel else REFUSED, cancel=cancel)

    assert not early
    assert ("cancelled" if cancel else "unfinished") == finished.status
    assert cancel or isinstance(finished.problem, Halted)
    assert 3 == len(meter.served)
    assert set(meter.served_of("d0")) == set(run.exchange_ids())
