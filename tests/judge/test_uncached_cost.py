"""What recorded calls would have cost without prompt caches."""

from datetime import date

import pytest

from jury_events import CacheWrite, CallOutcome, ExchangeRecorded, Usage
from jury_judge.runs.uncached_cost import uncached_cost, uncached_sums
from jury_providers import Prices, load_prices
from jury_providers.prices import Price
from jury_store import PROMPT_STEP, CachedCalls
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


def sums(model: str, cost: float, prompts: int = 1, sent: int = 10_000) -> CachedCalls:
    """Of calls with prompts of about `sent` tokens, of which 8,000 were read."""
    return CachedCalls(
        model, None, (sent - 1) // PROMPT_STEP, cost, prompts * sent, prompts * 100, prompts * 8000, 0, 0, 0, 0
    )


def test_sums_over_calls_say_what_the_calls_one_by_one_say() -> None:
    model, debates = "openai/gpt-6-sol", 5.0
    one = paid(model, READ)
    calls = [a_call(model, one, **READ)] * 2

    found = uncached_sums([sums(model, 2 * one)], debates, PRICES, TODAY)

    assert debates - 2 * one + (uncached_cost(calls, PRICES, TODAY) or 0.0) == pytest.approx(found)


def test_sums_over_long_prompts_are_priced_as_long_prompts() -> None:
    model = "anthropic/claude-haiku-5-5"
    long, short = (
        PRICES.uncached_sum(model, sums(model, 1.0, 30, sent).usage, 1.0, sums(model, 1.0, 30, sent).prompts, TODAY)
        for sent in (100_001, 10_000)
    )
    one = Usage(input_tokens=100_001, output_tokens=100, cached_input_tokens=8000)

    assert PRICES.uncached(model, one, 1.0, TODAY) == pytest.approx(long)
    assert long != short


def test_sums_are_unknown_where_a_price_is_or_where_prompts_of_one_size_have_two_prices() -> None:
    steps = (Price(models=("own/*",), input=2, output=2, cached_input=1, prompt_over=9000),)
    short = Price(models=("own/*",), input=1, output=1, cached_input=0.1)

    assert uncached_sums([sums("own/model", 1.0)], 1.0, PRICES, TODAY) is None
    assert uncached_sums([sums("own/model", 1.0)], 1.0, Prices((*steps, short)), TODAY) is None
    assert uncached_sums([sums("own/model", 1.0)], 1.0, Prices((short,)), TODAY) is not None
    assert 1.0 == uncached_sums([], 1.0, PRICES, TODAY)
