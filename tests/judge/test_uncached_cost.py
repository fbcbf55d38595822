"""What recorded calls would have cost without prompt caches."""

from datetime import date

import pytest

from jury_events.exchange import CacheWrite, ExchangeRecorded, Usage
from jury_events.outcome import CallOutcome
from jury_judge.runs.uncached_cost import uncached_cost
from jury_providers.prices import load_prices
from support.debate_builder import DebateBuilder

TODAY = date(2026, 11, 1)
PRICES = load_prices()


def a_call(model: str, cost: float | None, **usage: object) -> ExchangeRecorded:
    spent = Usage(input_tokens=10_000, output_tokens=100, **usage)
    (call,) = DebateBuilder().called(model, CallOutcome.ANSWERED, spent, cost).exchanges
    return call


READ = {"cached_input_tokens": 8000}
WRITTEN = {"cache_writes": (CacheWrite(lifetime="30m", tokens=8000),)}


def paid(model: str, usage: dict[str, object]) -> float:
    cost = PRICES.cost(model, Usage(input_tokens=10_000, output_tokens=100, **usage), TODAY)  # type: ignore[arg-type]
    assert cost is not None
    return cost


def test_a_read_was_cheaper_and_a_write_dearer_than_other_input() -> None:
    model = "openai/gpt-6-sol"
    plain = paid(model, {})

    for usage in (READ, WRITTEN):
        assert plain == pytest.approx(uncached_cost([a_call(model, paid(model, usage), **usage)], PRICES, TODAY))
    assert paid(model, READ) < plain < paid(model, WRITTEN)


def test_a_cost_that_the_provider_reported_is_scaled() -> None:
    model = "openai/gpt-6-sol"
    twice = [a_call(model, 2 * paid(model, READ), **READ)]

    assert 2 * paid(model, {}) == pytest.approx(uncached_cost(twice, PRICES, TODAY))


def test_calls_without_caches_count_as_paid_also_without_a_price() -> None:
    assert 3.5 == uncached_cost([a_call("own/model", 1.5), a_call("own/model", 2.0)], PRICES, TODAY)


@pytest.mark.parametrize("call", [a_call("own/model", 1.0, **READ), a_call("openai/gpt-6-sol", None)])
def test_it_is_unknown_where_a_price_or_a_cost_is(call: ExchangeRecorded) -> None:
    assert uncached_cost([a_call("openai/gpt-6-sol", 1.0), call], PRICES, TODAY) is None
