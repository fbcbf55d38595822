"""What a call costs in a batch: half, and never less than what the provider may charge for its prompt cache."""

from datetime import date

import pytest

from jury_events import CacheWrite, CallSettings, Usage
from jury_providers import Price, Prices, load_prices
from support.each_row import each_row

ON = date(2026, 11, 25)
MODELS = ("openai/gpt-6-sol", "openai-responses/gpt-6-sol", "anthropic/claude-haiku-5-5", "google/gemini-3.8-flash")
PLAIN = Usage(input_tokens=1000, output_tokens=200)


def _price(caches: str) -> Prices:
    price = {"models": ["x/m"], "input": 2.0, "output": 10.0, "cached_input": 0.2, "cache_write": {"30m": 2.5}}
    return Prices((Price.model_validate(price | {"batch_caches": caches}),))


def _cost(prices: Prices, usage: Usage) -> float:
    cost = prices.cost("x/m", usage.changed(service_tier="batch"), ON)
    assert cost is not None
    return round(cost * 1e6, 6)


@each_row("model", MODELS)
def test_a_call_in_a_batch_costs_half(model: str) -> None:
    prices = load_prices()
    live, batch = (prices.cost(model, PLAIN.changed(service_tier=tier), ON) for tier in (None, "batch"))

    assert live is not None
    assert batch == pytest.approx(live / 2)


READ = Usage(input_tokens=1000, output_tokens=0, cached_input_tokens=1000)
WRITTEN = Usage(input_tokens=1000, output_tokens=0, cache_writes=(CacheWrite(lifetime="30m", tokens=1000),))


@pytest.mark.parametrize(
    ("caches", "read", "written"),
    [
        pytest.param("halved", 100.0, 1250.0, id="halved like the rest"),
        pytest.param("apart", 200.0, 2500.0, id="a hit costs what it does without a batch"),
        pytest.param("unknown", 1000.0, 2500.0, id="the dearer of both"),
    ],
)
def test_the_cache_costs_in_a_batch_what_the_provider_says_of_both(caches: str, read: float, written: float) -> None:
    prices = _price(caches)

    assert (read, written) == (_cost(prices, READ), _cost(prices, WRITTEN))


def test_how_the_providers_charge_caches_in_batches() -> None:
    known = {price.models[0].partition("/")[0]: price.batch_caches for price in load_prices().prices}

    assert {"openai": "unknown", "anthropic": "halved", "google": "apart"} == {
        provider: known[provider] for provider in ("openai", "anthropic", "google")
    }


def test_what_may_be_spent_on_a_call_in_a_batch_covers_its_cost() -> None:
    settings = CallSettings(max_output_tokens=200, tier="priority")
    for model in MODELS:
        prices = load_prices()
        live, batch = (prices.upper_bound(model, 1000, settings, ON, batch=batch) for batch in (False, True))
        cost = prices.cost(model, PLAIN.changed(service_tier="batch"), ON)

        assert live is not None
        assert batch is not None
        assert cost is not None
        assert cost <= batch < live


def test_a_price_file_may_name_another_factor() -> None:
    price = {"models": ["x/m"], "input": 2.0, "output": 10.0, "tiers": {"batch": 0.6}}
    prices = Prices((Price.model_validate(price),))

    assert _cost(prices, PLAIN) == pytest.approx(0.6 * 4000)


def test_a_usage_without_caches_says_what_a_batched_call_would_have_cost() -> None:
    usage = Usage(input_tokens=1000, output_tokens=100, cached_input_tokens=900, service_tier="batch")
    prices = _price("halved")
    cost = prices.cost("x/m", usage, ON)
    assert cost is not None

    assert prices.uncached("x/m", usage, cost, ON) == pytest.approx((1000 * 1.0 + 100 * 5.0) / 1e6)
