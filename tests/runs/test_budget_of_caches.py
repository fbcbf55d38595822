"""A bound in dollars is never passed over the providers' protocols, whatever is written to caches and at any tier."""

from collections.abc import Callable
from typing import Any

import pytest

from jury_actors.admission.budget import Ceiling
from jury_actors.driver import drive
from jury_actors.messages import Job, RunContext
from jury_actors.runtime import RuntimeConfig, in_process_runtime
from jury_debate.panel_spec import ResolvedPanel
from jury_events.case import Case
from jury_events.codec import decode
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream
from jury_providers.endpoints import Endpoint
from jury_providers.prices import Price, Prices, load_prices
from jury_providers.provider import ModelReply, ModelRequest, OnChunk, Provider
from jury_providers.simulated.http.server import Simulation, simulation_server
from support.debate_harness import a_case
from support.runtime_harness import KeptStore, a_resolved

MOST = 0.5
DEBATES = 12
MODELS = ("openai/gpt-6-sol", "anthropic/claude-haiku-5-5", "google/gemini-3.8-flash")


STORED = Price(
    models=("google/gemini-3.8-flash",),
    input=1.5,
    cached_input=0.15,
    cache_storage=1,
    output=7.5,
    tiers={"flex": 0.5},
)
PRICES = Prices((STORED, *load_prices().prices))


class Billed(Provider):
    """The calls of a simulated server as if they were billed."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        return (await self._provider.call(request, on_chunk))._replace(simulated=False)

    async def close(self) -> None:
        await self._provider.close()


def billed(providers: Callable[[str], Provider]) -> Callable[[str], Provider]:
    return lambda name: Billed(providers(name))


def a_long_case(number: int) -> Case:
    return a_case(f"c{number}", artifact_summary=f"Order {number} was refunded. " * 3000)


def a_panel(prompts: int, settings: dict[str, dict[str, Any]]) -> ResolvedPanel:
    seats = [
        {"model": model, "juror_id": f"{name}-{number}", "settings": settings.get(name, {}), "fallbacks": []}
        for model in MODELS
        for name in [model.partition("/")[0]]
        for number in range(2)
    ]
    discussion = {"max_rounds": 2, "end_early": False}
    resolved = a_resolved(seats=seats, discussion=discussion, final={"method": "majority_vote"})
    return resolved._replace(prompts=prompts)


def endpoints(server: Simulation) -> dict[str, Endpoint]:
    return {
        name: Endpoint(base_url=server.url + path)
        for name, path in (("openai", "/v1"), ("anthropic", ""), ("google", ""))
    }


SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "as today": {},
    "kept where it pays": {name: {"cache": "auto"} for name in ("openai", "anthropic")},
    "kept for an hour": {"anthropic": {"cache": "1h"}, "openai": {"cache": "30m"}},
    "priority": {"openai": {"tier": "priority"}, "anthropic": {"tier": "standard"}},
    "kept by Google too": {"google": {"cache": "1h"}, "anthropic": {"cache": "5m"}},
    "flex": {"openai": {"tier": "flex", "flex_fallback": "on"}, "google": {"tier": "flex"}},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("prompts", [1, 2])
async def test_a_bound_in_dollars_is_never_passed(prompts: int, settings: dict[str, dict[str, Any]]) -> None:
    resolved, store = a_panel(prompts, settings), KeptStore()
    async with simulation_server() as server:
        config = RuntimeConfig(
            resolved.panel, "", "run", endpoints=endpoints(server), prices=PRICES, ceiling=Ceiling(None, MOST)
        )
        context = RunContext("run", resolved)
        jobs = [Job(f"d{n}", a_long_case(n).model_dump_json().encode(), context) for n in range(DEBATES)]
        async with in_process_runtime(config, lambda: store, wrap_providers=billed) as runtime:
            ended = [finished async for finished in drive(runtime, iter(jobs), concurrency=4)]

    costs = [
        exchange.cost
        for job in jobs
        for stored in store.read_stream(calls_stream(job.debate_id))
        if isinstance(exchange := decode(stored), ExchangeRecorded)
    ]
    assert None not in costs
    spent = sum(cost or 0.0 for cost in costs)
    assert any(one.problem is not None for one in ended), "the bound was not reached"
    assert MOST / 2 < spent <= MOST
