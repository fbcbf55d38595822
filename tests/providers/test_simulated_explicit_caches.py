"""Gemini's explicit caches over whole calls and debates: the real SDK makes, reads and deletes them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from jury_actors import Job, RunContext, RuntimeConfig, drive, in_process_runtime
from jury_events import CallOutcome, ExchangeRecorded, calls_stream, decode
from jury_providers import (
    Endpoint,
    GoogleGenerate,
    ModelMessage,
    ModelRequest,
    Prices,
    ProviderConnection,
    simulation_server,
)
from jury_providers.prices import Price
from support.debate_harness import a_case
from support.dialects import TOOL, a_request
from support.runtime_harness import KeptStore, a_resolved, fixed_effects

MODEL = "gemini-3.8-flash"
CASE = "The agent answered every question. " * 200


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Server(NamedTuple):
    url: str
    clock: Clock


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    clock = Clock()
    async with simulation_server(clock=clock) as running:
        yield Server(running.url, clock)


def seat(name: str, **more: Any) -> ModelRequest:
    shown = ModelMessage("user", f"You are seat {name}.", shared=(CASE,))
    asked = a_request(ModelMessage("system", "You judge."), shown, **more)
    return asked._replace(model=MODEL, cache="5m")


@asynccontextmanager
async def an_adapter(server: Server, clock: Clock) -> AsyncIterator[GoogleGenerate]:
    adapter = GoogleGenerate(ProviderConnection("google", server.url, "sk-test"), clock)
    try:
        yield adapter
    finally:
        await adapter.close()


async def test_the_adapter_writes_once_reads_every_time_and_writes_again_after_the_end(server: Server) -> None:
    async with an_adapter(server, server.clock) as adapter:
        counts = []
        for server.clock.now in (0.0, 200.0, 280.0):
            usage = (await adapter.call(seat("A"))).usage
            counts.append((usage.written_tokens > 1024, (usage.cached_input_tokens or 0) > 1024))

    assert [(True, True), (False, True), (True, True)] == counts


async def test_the_adapter_asks_without_a_cache_that_ended_before_its_time(server: Server) -> None:
    async with an_adapter(server, Clock()) as adapter:  # its clock stands still
        first = await adapter.call(seat("A"))
        server.clock.now = 301.0
        late = await adapter.call(seat("A"))

    assert (CallOutcome.ANSWERED, first.usage.input_tokens) == (late.outcome, late.usage.input_tokens)
    assert "CachedContent not found" in json.loads(late.sent or b"{}")["cached_content"]["not_used"]


async def test_tools_of_a_cache_are_called(server: Server) -> None:
    async with an_adapter(server, server.clock) as adapter:
        reply = await adapter.call(seat("A", tools=(TOOL,)))

    assert CallOutcome.ANSWERED == reply.outcome
    assert "tools" not in json.loads(reply.sent or b"{}")["body"]


async def test_a_debate_is_recorded_alike_with_and_without_explicit_caches(server: Server) -> None:
    kept, plain = await exchanges(server, "1h"), await exchanges(server, "auto")

    assert [one.request for one in plain] == [one.request for one in kept]
    assert [one.settings.without_carriage() for one in plain] == [one.settings.without_carriage() for one in kept]
    # One cache for the seats of a model in all rounds.
    assert (1, 0) == tuple(sum(bool(one.usage.cache_writes) for one in made) for made in (kept, plain))
    assert all((one.usage.cached_input_tokens or 0) > 1024 for one in kept)


async def exchanges(server: Server, cache: str) -> list[ExchangeRecorded]:
    seats = [
        {"model": f"google/{MODEL}", "juror_id": name, "settings": {"cache": cache, "warm": "off"}, "fallbacks": []}
        for name in "ab"
    ]
    resolved = a_resolved(
        seats=seats, discussion={"max_rounds": 1, "end_early": False}, final={"method": "majority_vote"}
    )
    store, endpoints = KeptStore(), {"google": Endpoint(base_url=server.url)}
    prices = Prices((Price(models=("google/*",), input=1, cached_input=0.1, cache_storage=1, output=5),))
    config = RuntimeConfig(resolved.panel, "", "run", endpoints=endpoints, prices=prices)
    case = a_case("c", artifact_summary=CASE).model_dump_json().encode()
    job = Job("d", case, RunContext("run", resolved._replace()))
    async with in_process_runtime(config, lambda: store, effects=fixed_effects()) as runtime:
        ended = [finished async for finished in drive(runtime, iter([job]), concurrency=1)]
    assert [None] == [one.problem for one in ended]
    found = [decode(stored) for stored in store.read_stream(calls_stream("d"))]
    return sorted((one for one in found if isinstance(one, ExchangeRecorded)), key=lambda one: one.event_id)
