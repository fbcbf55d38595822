"""A run's cost: the sum in the store, and the upper bound where a price or usage is unknown."""

from collections.abc import Callable
from datetime import date
from unittest.mock import patch

from jury_actors import Ceiling, Spent, in_process_runtime
from jury_events import Usage
from jury_judge.runs.budgets import ceiling
from jury_providers import ModelReply, ModelRequest, OnChunk, Prices, Provider, SimulatedProvider
from jury_providers.price import Price
from support.runtime_harness import KeptStore, Run, completed

TODAY = date(2026, 11, 21)
PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))
SEATS = [
    {"model": "openai/gpt-x", "juror_id": name, "settings": {"max_output_tokens": 1000}} for name in ("a", "b", "c")
]


class Silent(SimulatedProvider):
    """Stands for a model whose provider does not say what it counted, or does (`usage`)."""

    simulated = False
    max_in_flight = 64

    def __init__(self, usage: Usage) -> None:
        super().__init__()
        self._usage = usage

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        return (await super().call(request))._replace(cost=None, usage=self._usage)


async def a_run(usage: Usage) -> Run:
    run = Run(KeptStore(), debates=2, seats=SEATS, preset="independent")

    def factory(*_: object) -> Callable[[str], Provider]:
        return lambda _name: Silent(usage)

    with patch("jury_actors.runtime.provider_factory", factory):
        async with in_process_runtime(run.plan(), lambda: run.store) as runtime:
            assert completed((await run.execute_in(runtime)).values())
    return run


def spent(run: Run) -> Spent:
    return ceiling(run.store, "run", PRICES, TODAY, max_calls=100, max_cost=None).spent


async def test_calls_of_unknown_cost_count_with_the_most_that_they_can_have_cost() -> None:
    found = spent(await a_run(Usage()))

    assert 6 == found.calls
    assert 6 * 0.01 < found.cost < 6 * 0.02


async def test_calls_that_had_no_price_when_they_were_made_count_with_todays() -> None:
    found = spent(await a_run(Usage(input_tokens=1000, output_tokens=100)))

    assert (6, 0.012) == (found.calls, round(found.cost, 9))


async def test_a_run_that_never_had_a_bound_is_not_counted() -> None:
    run = await a_run(Usage())

    assert Ceiling() == ceiling(run.store, "run", PRICES, TODAY, max_calls=None, max_cost=None)


async def test_calls_that_were_sent_and_not_recorded_count_in_every_later_session() -> None:
    run = await a_run(Usage(input_tokens=1000, output_tokens=100))
    run.store.store_run_lease("run", 8, 0.02)

    bounded = ceiling(run.store, "run", PRICES, TODAY, max_calls=None, max_cost=3.0)
    unbounded = ceiling(run.store, "run", PRICES, TODAY, max_calls=None, max_cost=None)

    assert Ceiling(None, 3.0, Spent(8, 0.02), "run") == bounded
    assert Ceiling(None, None, Spent(8, 0.02), "run") == unbounded


async def test_where_all_calls_are_recorded_their_recorded_cost_counts() -> None:
    run = await a_run(Usage(input_tokens=1000, output_tokens=100))
    run.store.store_run_lease("run", 6, 5.0)

    found = ceiling(run.store, "run", PRICES, TODAY, max_calls=None, max_cost=3.0).spent

    assert (6, 0.012) == (found.calls, round(found.cost, 9))


async def test_another_runs_debates_do_not_count() -> None:
    run = await a_run(Usage())

    assert Spent() == ceiling(run.store, "other", PRICES, TODAY, max_calls=1, max_cost=None).spent
