"""Budgets and limits on Ray: the same as in one process, whichever of their processes is killed."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

import pytest

from jury_actors import (
    SHARED_LIMITER,
    AdmissionClient,
    AdmissionInterface,
    Finished,
    Halted,
    LimiterActor,
    NodeCheck,
    RunBudget,
    ray_proxy,
    ray_runtime,
    shared_limiter,
)
from jury_events import BudgetBounds, CallOutcome, calls_stream
from jury_providers import NO_FAULTS, Limits, Script
from jury_store import EventStore
from support.permit_requests import a_permit_request
from support.processes import actor_process
from support.runtime_harness import TWO_SEATS, Run, a_case_with_records, completed, resume_in_process
from support.waiting import comes

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_cluster")]

# `openai/x` is never called, but as a fallback it makes the runtime start a limiter.
LIMITED = {**TWO_SEATS, "seats": [{"model": "simulated/juror", "juror_id": "a", "fallbacks": ["openai/x"]}]}


async def execute_on_ray(run: Run, url: str, script: Script = NO_FAULTS, **plan: Any) -> dict[str, Finished]:
    async with ray_runtime.ray_runtime(run.plan(script, url=url)._replace(**plan)) as runtime:
        return await run.execute_in(runtime)


def recorded(run: Run) -> int:
    return sum(len(run.store.read_stream(calls_stream(debate))) for debate in run.cases)


async def test_no_call_is_made_beyond_the_budget_and_the_run_can_be_resumed(
    sqlite_url: str, reader: EventStore
) -> None:
    run = Run(reader, debates=10, **TWO_SEATS)
    stopped = await execute_on_ray(run, sqlite_url, Script(latency=0.05), budget=RunBudget(BudgetBounds(max_calls=11)))
    spent = recorded(run)
    found = await resume_in_process(run, sqlite_url)

    assert 11 == spent
    assert {"budget"} == {one.problem.about for one in stopped.values() if isinstance(one.problem, Halted)}
    assert {"completed", "unfinished"} >= {one.status for one in stopped.values()}
    assert completed(found.values())


@pytest.mark.full
async def test_a_refused_key_stops_every_debate_and_fails_none(sqlite_url: str, reader: EventStore) -> None:
    run = Run(reader, debates=10, **TWO_SEATS)
    stopped = await execute_on_ray(run, sqlite_url, Script(rates={CallOutcome.AUTHENTICATION: 1.0}))
    wasted = recorded(run)
    found = await resume_in_process(run, sqlite_url)

    assert [("unfinished", "simulated")] * 10 == [
        (one.status, one.problem.about) for one in stopped.values() if isinstance(one.problem, Halted)
    ]
    assert wasted <= 20
    assert completed(found.values())


@pytest.mark.full
async def test_a_budget_whose_process_was_killed_halts_the_run_rather_than_overspend(
    sqlite_url: str, reader: EventStore
) -> None:
    run = Run(reader, debates=8, case=a_case_with_records, **TWO_SEATS)
    script = Script(latency=0.15, seed=3)
    running = asyncio.create_task(
        execute_on_ray(run, sqlite_url, script, budget=RunBudget(BudgetBounds(max_calls=10_000)))
    )
    await comes(lambda: reader.last_position() >= 40 or running.done())
    os.kill(actor_process("BudgetActor"), signal.SIGKILL)
    stopped = await running
    found = await resume_in_process(run, sqlite_url)

    assert any("kept the budget was lost" in str(one.problem) for one in stopped.values())
    assert completed(found.values())


@pytest.mark.full
@pytest.mark.parametrize("shared", [False, True])
async def test_a_runtime_with_limited_models_runs_its_debates(
    sqlite_url: str, reader: EventStore, shared: bool
) -> None:
    import ray

    run = Run(reader, debates=2, **LIMITED)
    with patch("jury_actors.ray_nodes.NodeCheck", lambda *_: NodeCheck()):  # the fallback is never called, has no key
        found = await execute_on_ray(run, sqlite_url, shared_cluster=shared)
    namespace, name = SHARED_LIMITER
    there = {"name": name, "namespace": namespace} in ray.util.list_named_actors(all_namespaces=True)
    if there:
        ray.kill(ray.get_actor(name, namespace))

    assert completed(found.values())
    assert shared == there


async def take(client: AdmissionClient, limits: Limits, most: list[int], running: list[int]) -> None:
    async with client.permit(a_permit_request(limits=limits)):
        running[0] += 1
        most.append(running[0])
        await asyncio.sleep(0.002)
        running[0] -= 1


@pytest.fixture
async def limiter() -> AsyncIterator[Any]:
    import ray

    handle = ray.remote(LimiterActor).options(max_restarts=-1, num_cpus=0).remote()
    yield handle
    ray.kill(handle)


@pytest.mark.full
async def test_processes_share_the_limits_and_lose_no_call_with_a_limiter_that_is_killed(limiter: Any) -> None:
    clients = [AdmissionClient(ray_proxy(AdmissionInterface, lambda: limiter), name) for name in "ab"]
    most: list[int] = []
    running = [0]
    waiting = [asyncio.create_task(take(clients[n % 2], Limits(in_flight=2), most, running)) for n in range(200)]
    await comes(lambda: len(most) >= 20)
    os.kill(actor_process("LimiterActor"), signal.SIGKILL)
    async with asyncio.timeout(120):
        await asyncio.gather(*waiting)
    for client in clients:
        await client.close()

    assert (200, 2) == (len(most), max(most))


@pytest.mark.full
async def test_a_shared_limiter_that_died_is_made_again_by_its_next_client() -> None:
    import ray

    client = AdmissionClient(ray_proxy(AdmissionInterface, shared_limiter, replaceable=True), "a")
    most: list[int] = []
    running = [0]
    await take(client, Limits(in_flight=2), most, running)
    ray.kill(shared_limiter())
    async with asyncio.timeout(120):
        await asyncio.gather(*(take(client, Limits(in_flight=2), most, running) for _ in range(20)))
    await client.close()
    ray.kill(shared_limiter())

    assert (21, 2) == (len(most), max(most))


@pytest.mark.full
@pytest.mark.long
async def test_a_shared_limiter_ends_itself_when_no_run_is_left() -> None:
    client = AdmissionClient(ray_proxy(AdmissionInterface, shared_limiter, replaceable=True), "a")
    await take(client, Limits(), [], [0])
    pid = actor_process("LimiterActor")
    await client.close()
    await comes(lambda: not os.path.exists(f"/proc/{pid}"), 120)  # noqa: PTH110
