"""A bound in dollars is never passed over the providers' protocols, whatever is written to caches and at any tier."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from jury_actors import Job, RunBudget, RunContext, RuntimeConfig, drive, in_process_runtime
from jury_debate import ResolvedPanel
from jury_events import BudgetBounds, Case, ExchangeRecorded, calls_stream, decode
from jury_providers import (
    Endpoint,
    ModelReply,
    ModelRequest,
    OnChunk,
    Provider,
    Simulation,
    load_prices,
    simulation_server,
)
from support.debate_harness import a_case
from support.runtime_harness import KeptStore, a_resolved
from support.vendors.vendor import KeepingVendor

DEBATES = 12
OPENAI, RESPONSES, CLAUDE, GEMINI = (
    "openai/gpt-6-sol",
    "openai-responses/gpt-6-sol",
    "anthropic/claude-haiku-5-5",
    "google/gemini-3.8-flash",
)
LONG_STEP = 100_000


class Billed(Provider):
    """The calls of a simulated server as if they were billed, bound to a `region` where one is given."""

    def __init__(self, provider: Provider, region: str | None) -> None:
        self._provider = provider
        self._region = region

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        reply = await self._provider.call(request, on_chunk)
        return reply._replace(simulated=False, usage=reply.usage.changed(region=self._region))

    async def close(self) -> None:
        await self._provider.close()


class Billing(NamedTuple):
    """How calls are billed, up to `most` dollars.

    `seen`: what at least one call must have been billed for. `settings`: of seats, by provider. `counts`: the tokens
    of a text, where they are not estimated.
    """

    seen: Callable[[ExchangeRecorded], bool]
    settings: Mapping[str, dict[str, Any]] = MappingProxyType({})
    models: tuple[str, ...] = (OPENAI, CLAUDE, GEMINI)
    region: str | None = None
    counts: Callable[[str], int] | None = None
    most: float = 0.5


def wrote(*lifetimes: str) -> Callable[[ExchangeRecorded], bool]:
    return lambda call: any(write.lifetime in lifetimes for write in call.usage.cache_writes)


def answered_at(tier: str) -> Callable[[ExchangeRecorded], bool]:
    return lambda call: call.usage.service_tier == tier


def more_tokens(text: str) -> int:
    """As many tokens as a text can have, so that a prompt is long without many bytes."""
    return len(text) // 2


BILLINGS = {
    "as today": Billing(lambda call: not call.usage.cache_writes),
    "kept where it pays": Billing(wrote("5m", "30m"), {name: {"cache": "auto"} for name in ("openai", "anthropic")}),
    "kept for an hour": Billing(wrote("1h"), {"anthropic": {"cache": "1h"}, "openai": {"cache": "30m"}}),
    "kept for twelve hours": Billing(wrote("12h"), {"openai-responses": {"cache": "12h"}}, models=(RESPONSES, GEMINI)),
    "priority": Billing(answered_at("priority"), {"openai": {"tier": "priority"}, "anthropic": {"tier": "standard"}}),
    "priority at Google": Billing(answered_at("priority"), {"google": {"tier": "priority"}}, models=(GEMINI,)),
    "flex": Billing(
        answered_at("flex"), {"openai": {"tier": "flex", "flex_fallback": "on"}, "google": {"tier": "flex"}}
    ),
    "bound to a region": Billing(lambda call: call.usage.region == "us", models=(CLAUDE,), region="us", most=0.1),
    "above the long step": Billing(
        lambda call: (call.usage.input_tokens or 0) > LONG_STEP and bool(call.usage.cache_writes),
        {"anthropic": {"cache": "1h"}},
        models=(CLAUDE,),
        counts=more_tokens,
    ),
}


def a_long_case(number: int, billing: Billing) -> Case:
    times = 3000 if billing.counts is None else 12_000
    return a_case(f"c{number}", artifact_summary=f"Order {number} was refunded. " * times)


def a_panel(billing: Billing) -> ResolvedPanel:
    seats = [
        {"model": model, "juror_id": f"{name}-{number}", "settings": billing.settings.get(name, {}), "fallbacks": []}
        for model in billing.models
        for name in [model.partition("/")[0]]
        for number in range(2)
    ]
    discussion = {"max_rounds": 2, "end_early": False}
    return a_resolved(seats=seats, discussion=discussion, final={"method": "majority_vote"})


def endpoints(server: Simulation) -> dict[str, Endpoint]:
    return {
        name: Endpoint(base_url=server.url + path)
        for name, path in (("openai", "/v1"), ("openai-responses", "/v1"), ("anthropic", ""), ("google", ""))
    }


@pytest.fixture(scope="module", autouse=True)
def _clients_are_imported() -> None:
    """While clients are imported their event loop stands still, which on a busy machine keeps calls from connecting."""
    for name in ("openai", "anthropic", "google.genai"):
        import_module(name)


@pytest.mark.parametrize(
    "billing",
    [
        pytest.param(billing, id=name, marks=() if name == "kept where it pays" else pytest.mark.full)
        for name, billing in BILLINGS.items()
    ],
)
async def test_a_bound_in_dollars_is_never_passed(billing: Billing) -> None:
    resolved, store = a_panel(billing), KeptStore()
    async with simulation_server(vendor=KeepingVendor(count_tokens=billing.counts)) as server:
        config = RuntimeConfig(
            (resolved.panel,),
            "",
            "run",
            endpoints=endpoints(server),
            prices=load_prices(),
            budget=RunBudget(BudgetBounds(max_cost=billing.most)),
        )
        context = RunContext("run", resolved)
        jobs = [Job(f"d{n}", a_long_case(n, billing).model_dump_json().encode(), context) for n in range(DEBATES)]
        async with in_process_runtime(
            config, lambda: store, wrap_providers=lambda make: lambda name: Billed(make(name), billing.region)
        ) as runtime:
            ended = [finished async for finished in drive(runtime, iter(jobs), concurrency=4)]

    calls = [
        exchange
        for job in jobs
        for stored in store.read_stream(calls_stream(job.debate_id))
        if isinstance(exchange := decode(stored), ExchangeRecorded)
    ]
    assert any(map(billing.seen, calls)), "nothing was billed so"
    assert None not in {call.cost for call in calls}
    spent = sum(call.cost or 0.0 for call in calls)
    assert any(one.problem is not None for one in ended), "the bound was not reached"
    assert billing.most / 2 < spent <= billing.most
