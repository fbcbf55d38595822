"""On Ray, where each seat is a process of its own, seats of one model read what the first of them wrote."""

import pytest

from jury_actors import ray_runtime
from jury_events import Case, ExchangeRecorded, Usage, calls_stream, decode
from jury_providers import Endpoint, Script, load_prices, simulation_server
from jury_store import EventStore
from support.debate_harness import a_case
from support.runtime_harness import Run, completed
from support.vendors.vendor import KeepingVendor

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_cluster")]

SEATS = [{"model": "openai/gpt-6-sol", "juror_id": name, "settings": {"cache": "auto"}} for name in "abc"]


def a_long_case(case_id: str) -> Case:
    return a_case(case_id, artifact_summary="All tests pass. " * 500)


async def test_the_first_seat_writes_and_the_others_read(sqlite_url: str, reader: EventStore) -> None:
    run = Run(reader, case=a_long_case, seats=SEATS, preset="independent", final={"method": "majority_vote"})
    # With a latency, calls that are made at once find nothing of each other.
    async with simulation_server(Script(latency=0.1), vendor=KeepingVendor()) as server:
        endpoints = {"openai": Endpoint(base_url=f"{server.url}/v1")}
        config = run.plan(url=sqlite_url)._replace(endpoints=endpoints, prices=load_prices())
        async with ray_runtime.ray_runtime(config) as runtime:
            assert completed((await run.execute_in(runtime)).values())

    calls = [decode(stored) for stored in reader.read_stream(calls_stream("d0"))]
    usage = {call.juror_id: call.usage for call in calls if isinstance(call, ExchangeRecorded)}
    read, written = _read(usage), _written(usage)
    assert [0, True, True] == [read["a"], read["b"] > 1024, read["c"] > 1024]
    assert [True, 0, 0] == [written["a"] > 1024, written["b"], written["c"]]


def _read(usage: dict[str | None, Usage]) -> dict[str | None, int]:
    return {name: one.cached_input_tokens or 0 for name, one in usage.items()}


def _written(usage: dict[str | None, Usage]) -> dict[str | None, int]:
    return {name: one.written_tokens for name, one in usage.items()}
