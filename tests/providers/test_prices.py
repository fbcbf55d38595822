"""Prices: the cost of a call, and invalid price files."""

from datetime import date
from itertools import product
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from jury_events import LIFETIMES, CacheWrite, CallOutcome, CallSettings, Tier, Usage
from jury_providers import (
    ApiProtocol,
    BadPrices,
    Endpoint,
    ModelReply,
    Price,
    Prices,
    cost_of,
    load_prices,
    refused_settings,
)

TODAY = date(2026, 11, 21)
USED = Usage(input_tokens=1_000_000, output_tokens=100_000)
TABLE = Prices((Price(models=("openai/gpt-x*",), input=2.0, cached_input=0.5, output=10.0),))


def test_input_and_output_cost_what_the_model_does():
    assert 3.0 == TABLE.cost("openai/gpt-x", USED, TODAY)


def test_cached_input_has_a_separate_price():
    usage = USED.changed(cached_input_tokens=500_000)

    assert 2.25 == TABLE.cost("openai/gpt-x", usage, TODAY)


def test_cached_input_without_a_price_is_input():
    price = Prices((Price(models=("a/b",), input=2.0, output=10.0),))

    assert 3.0 == price.cost("a/b", USED.changed(cached_input_tokens=500_000), TODAY)


CACHED = Prices(
    (
        Price(
            models=("a/*",),
            input=2.0,
            cached_input=0.2,
            cache_write={"5m": 2.5, "1h": 4.0},
            output=10.0,
            tiers={"flex": 0.5, "priority": 2.0},
        ),
    )
)


def written(**tokens: int) -> tuple[CacheWrite, ...]:
    return tuple(CacheWrite.model_validate({"lifetime": key[1:], "tokens": count}) for key, count in tokens.items())


def test_what_is_written_to_a_cache_costs_what_its_lifetime_does():
    usage = Usage(
        input_tokens=1_000_000,
        output_tokens=0,
        cached_input_tokens=500_000,
        cache_writes=written(_5m=200_000, _1h=100_000),
    )

    # 200,000 others, 500,000 read, 200,000 written for five minutes and 100,000 for an hour
    assert CACHED.cost("a/b", usage, TODAY) == pytest.approx(0.4 + 0.1 + 0.5 + 0.4)


def test_a_lifetime_without_a_price_costs_as_much_as_the_dearest():
    usage = Usage(input_tokens=1_000_000, output_tokens=0, cache_writes=written(_12h=1_000_000))

    assert 4.0 == CACHED.cost("a/b", usage, TODAY)


def test_a_lifetime_without_a_price_costs_at_least_what_providers_usually_charge():
    """OpenAI's list has 30 minutes alone; 12 hours are booked, reserved and judged at twice the input price."""
    model, prices = "openai-responses/gpt-6-sol", load_prices()
    usage = Usage(input_tokens=200_000, output_tokens=0, cache_writes=written(_12h=200_000))
    asked = CallSettings(max_output_tokens=16, cache="12h")

    assert 0.8 == pytest.approx(prices.cost(model, usage, TODAY))
    assert 0.8 + 0.00016 == pytest.approx(prices.upper_bound(model, 200_000, asked, TODAY))
    assert (2.0, 0.1) == pytest.approx(prices.cache_factors(model, "12h", TODAY))


def test_without_a_price_a_write_is_input():
    usage = USED.changed(cache_writes=written(_30m=1_000_000))

    assert 3.0 == TABLE.cost("openai/gpt-x", usage, TODAY)


def test_counts_that_exceed_the_prompt_never_lower_the_cost():
    usage = Usage(input_tokens=100, output_tokens=0, cached_input_tokens=10**9, cache_writes=written(_5m=1_000_000))

    assert CACHED.cost("a/b", usage, TODAY) == pytest.approx(2.5 + 100 * 0.2 / 1_000_000)


@pytest.mark.parametrize(
    ("tier", "factor"),
    [(None, 1), ("default", 1), ("standard", 1), ("STANDARD", 1), ("flex", 0.5), ("priority", 2)],
)
def test_a_service_tier_multiplies_the_whole_price(tier: str | None, factor: float):
    assert factor * 3.0 == CACHED.cost("a/b", USED.changed(service_tier=tier), TODAY)


def test_a_tier_that_is_not_listed_has_no_known_cost():
    assert CACHED.cost("a/b", USED.changed(service_tier="scale"), TODAY) is None


@pytest.mark.parametrize(("region", "factor"), [("us", 1.1), ("US", 1.1), ("global", 1), ("not_available", 1)])
def test_an_answer_that_is_bound_to_a_region_costs_more(region: str, factor: float):
    model, prices = "anthropic/claude-opus-5-5", load_prices()
    plain = prices.cost(model, USED, TODAY)

    assert plain is not None
    assert factor * plain == pytest.approx(prices.cost(model, USED.changed(region=region), TODAY))


def test_a_region_and_a_speed_that_are_not_listed_have_no_known_cost():
    model, prices = "anthropic/claude-opus-5-5", load_prices()

    assert prices.cost(model, USED.changed(region="mars"), TODAY) is None
    assert prices.cost(model, USED.changed(speed="fast"), TODAY) is None
    assert prices.cost(model, USED, TODAY) == prices.cost(model, USED.changed(speed="standard"), TODAY)


def test_every_tier_that_a_seat_may_ask_for_has_a_known_cost():
    prices = load_prices()
    for model in {price.models[0] for price in prices.prices}:
        protocol, _, name = model.partition("/")
        for tier in get_args(Tier):
            if not refused_settings(cast("ApiProtocol", protocol), name, CallSettings(tier=tier), tools=False):
                assert prices.cost(model, USED.changed(service_tier=tier), TODAY) is not None


GENERATING = [one for price in load_prices().prices for one in price.models if one.startswith("google/")]


@pytest.mark.parametrize("model", GENERATING)
def test_what_gemini_reads_of_a_cache_costs_a_tenth(model: str):
    assert load_prices().cache_factors(model, "5m", TODAY) == pytest.approx((1.0, 0.1))


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("claude/us.anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic/claude-haiku-4-5"),
        ("claude/anthropic.claude-haiku-5-5", "anthropic/claude-haiku-5-5"),
        ("claude/claude-haiku-4-5@20251001", "anthropic/claude-haiku-4-5"),
        ("gpt/openai.gpt-6-sol-v1:0", "openai/gpt-6-sol"),
        ("gpt/gpt-6-sol", "openai/gpt-6-sol"),
        ("anthropic/eu.anthropic.claude-opus-5-5-v2:1", "anthropic/claude-opus-5-5"),
    ],
)
def test_a_model_at_a_cloud_costs_what_it_does_at_its_provider(model: str, listed: str):
    endpoints = {
        "claude": Endpoint(protocol="anthropic", cloud="bedrock"),
        "gpt": Endpoint(protocol="openai", cloud="azure"),
        "own": Endpoint(protocol="openai", base_url="http://127.0.0.1:8000/v1"),
    }
    prices = load_prices().at_clouds(endpoints)

    assert prices.cost(model, USED, TODAY) == prices.cost(listed, USED, TODAY) is not None
    assert not prices.has_price("own/gpt-6-sol", TODAY)


STORED = Prices(
    (Price(models=("a/*",), input=2.0, cached_input=0.2, cache_storage=4.0, output=10.0, tiers={"flex": 0.5}),)
)


def test_a_cache_that_a_request_of_its_own_wrote_costs_input_and_storage_beside_the_prompt_that_reads_it():
    usage = Usage(
        input_tokens=1_000_000, output_tokens=0, cached_input_tokens=500_000, cache_writes=written(_30m=500_000)
    )

    # 500,000 others, 500,000 read; 500,000 written, and kept for half an hour
    assert STORED.cost("a/b", usage, TODAY) == pytest.approx(1.0 + 0.1 + (1.0 + 1.0))


def test_a_cheaper_tier_does_not_make_storage_cheaper():
    usage = Usage(input_tokens=1_000_000, output_tokens=0, cache_writes=written(_1h=1_000_000), service_tier="flex")

    assert STORED.cost("a/b", usage, TODAY) == pytest.approx(0.5 * 2.0 + 6.0)


def test_without_caches_nothing_is_stored():
    usage = Usage(
        input_tokens=1_000_000, output_tokens=0, cached_input_tokens=1_000_000, cache_writes=written(_1h=1_000_000)
    )

    cost = STORED.cost("a/b", usage, TODAY)
    assert cost == pytest.approx(6.2)
    assert STORED.uncached("a/b", usage, cost, TODAY) == pytest.approx(2.0)


def test_the_upper_bound_has_the_cache_that_a_call_may_have_made():
    settings = CallSettings(max_output_tokens=1000, cache="1h", tier="flex")

    assert STORED.upper_bound("a/b", 1_000_000, settings, TODAY) == pytest.approx(2.0 + 0.01 + 6.0)
    assert STORED.upper_bound("a/b", 1_000_000, CallSettings(max_output_tokens=1000), TODAY) == pytest.approx(2.01)


def test_a_refused_call_costs_the_cache_that_was_made_for_it():
    reply = ModelReply(CallOutcome.RATE_LIMITED, usage=Usage(cache_writes=written(_1h=1_000_000)))

    assert cost_of("a/b", reply, STORED, TODAY, simulated=False) == pytest.approx(6.0)
    assert 0.0 == STORED.uncached("a/b", reply.usage, 6.0, TODAY)


def test_sums_over_calls_have_what_requests_of_their_own_wrote_beside_the_prompts():
    usages = [
        Usage(input_tokens=1000, output_tokens=0, cached_input_tokens=900, cache_writes=written(_1h=900)),
        Usage(input_tokens=1000, output_tokens=0, cached_input_tokens=900),
    ]
    together = Usage(input_tokens=2000, output_tokens=0, cached_input_tokens=1800, cache_writes=written(_1h=900))
    costs = [STORED.cost("a/b", usage, TODAY) for usage in usages]

    apart = [STORED.uncached("a/b", usage, cost or 0.0, TODAY) for usage, cost in zip(usages, costs, strict=True)]
    found = STORED.uncached_sum("a/b", together, sum(cost or 0.0 for cost in costs), (1, 4000), TODAY)

    assert found == pytest.approx(sum(cost or 0.0 for cost in apart)) == pytest.approx(0.004)
    alone = Usage(cache_writes=written(_1h=900))
    assert 0.0 == STORED.uncached_sum("a/b", alone, 0.0054, (1, 4000), TODAY)


def test_storage_has_a_price_where_prompts_of_every_length_have_one():
    def priced(**longer: Any) -> bool:
        long_prompts = Price(models=("a/*",), prompt_over=200_000, input=4.0, output=20.0, **longer)
        return Prices((long_prompts, *STORED.prices)).has_storage_price("a/b", TODAY)

    assert (False, True) == (priced(), priced(cache_storage=4.0))
    assert not STORED.has_storage_price("b/b", TODAY)


def test_writes_of_todays_models_cost_a_quarter_more():
    usage = Usage(input_tokens=20_900, output_tokens=520, cache_writes=written(_30m=20_900))

    assert load_prices().cost("openai/gpt-6-sol", usage, TODAY) == pytest.approx(0.05745)


def test_the_upper_bound_of_a_call_is_a_prompt_written_to_the_cache():
    bound = CACHED.upper_bound("a/b", 1_000_000, CallSettings(max_output_tokens=1000), TODAY)

    assert bound == pytest.approx(2.5 + 0.01)


@pytest.mark.parametrize("tier", [None, "standard", "flex", "priority"])
@pytest.mark.parametrize("cache", [None, "auto", "5m", "1h", "30m", "12h"])
def test_every_cost_stays_below_the_upper_bound(tier: Any, cache: Any):
    """Whatever of a prompt is read, written as the seat may ask for, or neither, by every list price, at every tier."""
    settings = CallSettings(max_output_tokens=1000, tier=tier, cache=cache)
    prices = load_prices()
    for price in prices.prices:
        model = price.models[0]
        shortest = next((one for one in ("5m", "30m") if one in price.cache_write), "5m")
        lifetimes = {shortest, *({cache} & set(LIFETIMES))}
        for tokens, lifetime in product((1000, 300_000), lifetimes):
            bound = prices.upper_bound(model, tokens, settings, TODAY)
            assert bound is not None
            for read, wrote in ((0, 0), (tokens, 0), (0, tokens), (tokens // 2, tokens // 2)):
                writes = written(**{f"_{lifetime}": wrote}) if wrote else ()
                usage = Usage(
                    input_tokens=tokens,
                    output_tokens=1000,
                    cached_input_tokens=read,
                    cache_writes=writes,
                    service_tier=tier if tier in price.tiers else None,
                    region=next(iter(price.regions), None),
                )
                cost = prices.cost(model, usage, TODAY)
                assert cost is not None
                assert cost <= bound + 1e-12


def test_the_upper_bound_has_the_tier_and_the_lifetime_that_a_seat_asks_for():
    def bound(**settings: Any) -> float | None:
        call = CallSettings(max_output_tokens=1000, **settings)
        return load_prices().upper_bound("openai/gpt-6-sol", 200_000, call, TODAY)

    unlisted = TABLE.upper_bound("openai/gpt-x", 1000, CallSettings(max_output_tokens=1000, tier="priority"), TODAY)
    assert 2 * (0.002 + 0.01) == pytest.approx(unlisted)
    assert (0.51, 0.51, 1.02) == pytest.approx((bound(), bound(tier="flex"), bound(tier="priority")))


def test_a_model_that_is_not_listed_has_no_cost():
    assert TABLE.cost("openai/gpt-y", USED, TODAY) is None
    assert not TABLE.has_price("openai/gpt-y", TODAY)


def test_without_usage_the_cost_is_unknown():
    assert TABLE.cost("openai/gpt-x", Usage(), TODAY) is None


@pytest.mark.parametrize("model", ["openai/gpt-4o-2024-08-06", "openai/gpt-4o", "openai-responses/gpt-4o"])
def test_dated_snapshots_cost_what_their_alias_does(model: str):
    assert load_prices().cost(model, USED, TODAY) == load_prices().cost("openai/gpt-4o", USED, TODAY) is not None


def test_another_model_of_a_similar_name_is_another_model():
    prices = load_prices()

    assert prices.cost("openai/gpt-4o-mini", USED, TODAY) != prices.cost("openai/gpt-4o", USED, TODAY)
    assert not prices.has_price("openai/gpt-4o-audio", TODAY)


@pytest.mark.parametrize(
    "model",
    [
        *("openai/gpt-4o", "anthropic/claude-3-haiku-20240307", "google/gemini-2.5-flash", "google/gemini-2.5-pro"),
        *("openai/gpt-5.4-mini", "anthropic/claude-haiku-5-5", "anthropic/claude-haiku-4-5", "google/gemini-3.8-flash"),
    ],
)
def test_the_documents_models_and_todays_are_listed(model: str):
    assert load_prices().has_price(model, TODAY)


def test_long_prompts_may_cost_more():
    prices = load_prices()
    short, long = (
        prices.cost("google/gemini-2.5-pro", Usage(input_tokens=tokens, output_tokens=0), TODAY)
        for tokens in (200_000, 200_001)
    )

    assert short == 0.25
    assert long == pytest.approx(0.5, rel=1e-4)


def test_a_price_ends_with_its_last_day():
    prices = load_prices()
    last, after = (prices.cost("google/gemini-3.8-flash", USED, on) for on in (date(2026, 12, 31), date(2027, 1, 1)))

    assert (1.125, 2.25) == (last, after)


def test_the_upper_bound_of_a_call_is_its_full_length():
    assert 2.0 + 0.01 == TABLE.upper_bound("openai/gpt-x", 1_000_000, CallSettings(max_output_tokens=1000), TODAY)


def test_simulated_models_are_free():
    assert 0.0 == Prices().cost("simulated/anything", USED, TODAY)


REPLY = ModelReply(CallOutcome.ANSWERED, usage=USED)


@pytest.mark.parametrize(
    ("reply", "simulated", "cost"),
    [
        (REPLY, False, 3.0),
        (REPLY._replace(cost=0.7), False, 0.7),
        (REPLY._replace(simulated=True), True, 0.0),
        (REPLY._replace(simulated=True, cost=0.7), True, 0.0),
        (ModelReply(CallOutcome.RATE_LIMITED), False, 0.0),
        (ModelReply(CallOutcome.AUTHENTICATION), False, 0.0),
        (ModelReply(CallOutcome.ANSWERED, usage=Usage(input_tokens=0, output_tokens=0)), False, None),
        (ModelReply(CallOutcome.TIMEOUT), False, None),
        (ModelReply(CallOutcome.CONNECTION), False, None),
    ],
)
def test_the_cost_of_a_call(reply: ModelReply, simulated: bool, cost: float | None):
    assert cost == cost_of("openai/gpt-x", reply, TABLE, TODAY, simulated=simulated)


def own(folder: Path, text: str) -> str:
    (folder / "own.toml").write_text(text)
    return str(folder / "own.toml")


def test_a_price_file_takes_precedence(tmp_path: Path):
    prices = load_prices(own(tmp_path, '[[price]]\nmodels = ["openai/gpt-4o"]\ninput = 1\noutput = 1\n'))

    assert 1.1 == prices.cost("openai/gpt-4o", USED, TODAY)
    assert prices.has_price("anthropic/claude-haiku-4-5", TODAY)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[price]\n", "own.toml: not TOML"),
        ('[[price]]\nmodels = ["a/b"]\ninput = 1\n', "own.toml:1: price.0.output: Field required"),
        ('[[price]]\nmodels = ["a/b"]\noutput = 1\ninput = -1\n', "own.toml:4: price.0.input"),
        (
            '\n[[price]]\nmodels = ["a/b"]\noutput = 1\ninput = 1\nper_word = 3\n',
            "own.toml:6: price.0.per_word: there is",
        ),
        ("[[price]]\nmodels = []\noutput = 1\ninput = 1\n", "own.toml:2: price.0.models"),
        (
            '[[price]]\nmodels = ["a/b", "gpt-*"]\noutput = 1\ninput = 1\n',
            "own.toml:2: price.0.models.1: 'gpt-*' matches no model; write provider/model",
        ),
        ('[[price]]\nmodels = ["a/b"]\noutput = nan\ninput = 1\n', "own.toml:3: price.0.output"),
        ("prices = 3\n", "own.toml: prices: there is no such field"),
    ],
)
def test_an_invalid_price_file_is_reported_with_the_line(tmp_path: Path, text: str, said: str):
    with pytest.raises(BadPrices) as raised:
        load_prices(own(tmp_path, text))

    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_price_file_is_named():
    with pytest.raises(BadPrices, match=r"nowhere\.toml: there is no such price file"):
        load_prices("nowhere.toml")


def test_a_price_file_that_is_not_text_is_reported_with_the_line(tmp_path: Path):
    (tmp_path / "own.toml").write_bytes(b"as_of = 2026-01-01\n# \xff\n")
    with pytest.raises(BadPrices, match=r"own\.toml:2: not UTF-8"):
        load_prices(str(tmp_path / "own.toml"))
