"""A run's cost: the sum in the store, and the upper bound where a price or usage is unknown."""

from collections.abc import Callable
from datetime import date

import pytest

from jury_actors import Ceiling, Spent
from jury_events import Usage
from jury_judge.runs.budgets import ceiling
from jury_providers import ModelReply, ModelRequest, OnChunk, Price, Prices, Provider, SimulatedProvider
from support.runtime_harness import KeptStore, Meter, Run, completed

TODAY = date(2026, 11, 21)
PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))
SEATS = [
    {"model": "openai/gpt-x", "juror_id": name, "settings": {"max_output_tokens": 1000}} for name in ("a", "b", "c")
]
COUNTED = Usage(input_tokens=1000, output_tokens=100)


class Silent(SimulatedProvider):
    """Stands for a model whose provider does not say what it counted, or does (`usage`)."""

    simulated = False
    max_in_flight = 64

    def __init__(self, usage: Usage) -> None:
        super().__init__()
        self._usage = usage

    async def call(self, request: ModelRequest, on_chunk: OnChunk | None = None) -> ModelReply:
        return (await super().call(request))._replace(cost=None, usage=self._usage)


class SilentMeter(Meter):
    """Lets a run be answered by `Silent`."""

    def __init__(self, usage: Usage) -> None:
        super().__init__()
        self._usage = usage

    def factory(self, *_: object) -> Callable[[str], Provider]:
        return lambda _name: Silent(self._usage)


async def a_run(usage: Usage = COUNTED, lease: Spent | None = None) -> Run:
    """Two debates of three calls each, `run`; `lease` is what an earlier session may have spent."""
    run = Run(KeptStore(), debates=2, seats=SEATS, preset="independent")

    assert completed((await run.execute(meter=SilentMeter(usage))).values())
    if lease is not None:
        run.store.store_run_lease("run", *lease)
    return run


def of(run: Run, name: str = "run", *, max_calls: int | None = None, max_cost: float | None = 3.0) -> Ceiling:
    return ceiling(run.store, name, PRICES, TODAY, max_calls=max_calls, max_cost=max_cost)


async def test_calls_of_unknown_cost_count_with_the_most_that_they_can_have_cost() -> None:
    found = of(await a_run(Usage())).spent

    assert 6 == found.calls
    assert 6 * 0.01 < found.cost < 6 * 0.02


@pytest.mark.parametrize(
    ("lease", "expected"),
    [
        pytest.param(None, Spent(6, 0.012), id="calls that had no price when they were made count with today's"),
        pytest.param(Spent(6, 5.0), Spent(6, 0.012), id="where all calls are recorded their recorded cost counts"),
        pytest.param(Spent(8, 0.02), Spent(8, 0.02), id="calls that were sent and not recorded count"),
    ],
)
async def test_what_earlier_sessions_spent(lease: Spent | None, expected: Spent) -> None:
    found = of(await a_run(lease=lease)).spent

    assert expected == Spent(found.calls, round(found.cost, 9))


async def test_a_run_goes_on_being_counted_without_a_bound_where_it_had_one() -> None:
    bounded, never_bounded = await a_run(lease=Spent(8, 0.02)), await a_run()

    assert Ceiling(None, 3.0, Spent(8, 0.02), "run") == of(bounded)
    assert Ceiling(None, None, Spent(8, 0.02), "run") == of(bounded, max_cost=None)
    assert Ceiling() == of(never_bounded, max_cost=None)
    assert Spent() == of(bounded, "another run").spent
