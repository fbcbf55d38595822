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
from support.each_row import each_row

TODAY = date(2026, 11, 21)
USED = Usage(input_tokens=1_000_000, output_tokens=100_000)
TABLE = Prices((Price(models=("openai/gpt-x*",), input=2.0, cached_input=0.5, output=10.0),))


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
LISTED = load_prices()
OPUS = "anthropic/claude-opus-5-5"
OPUS_COSTS = LISTED.cost(OPUS, USED, TODAY) or 0.0


def written(**tokens: int) -> tuple[CacheWrite, ...]:
    return tuple(CacheWrite.model_validate({"lifetime": key[1:], "tokens": count}) for key, count in tokens.items())


def prompt(tokens: int, *, read: int = 0, output: int = 0, **wrote: int) -> Usage:
    return Usage(
        input_tokens=tokens, output_tokens=output, cached_input_tokens=read or None, cache_writes=written(**wrote)
    )


def test_cached_input_has_a_separate_price():
    usage = USED.changed(cached_input_tokens=500_000)

    assert 2.25 == TABLE.cost("openai/gpt-x", usage, TODAY)


COSTS: dict[str, tuple[Prices, str, Usage, float | None]] = {
    "input and output": (TABLE, "openai/gpt-x", USED, 3.0),
    "a read without a price of its own": (CACHED, "a/b", prompt(1_000_000, read=1_000_000), 0.2),
    "others, a read, and two writes": (
        *(CACHED, "a/b"),
        prompt(1_000_000, read=500_000, _5m=200_000, _1h=100_000),
        0.4 + 0.1 + 0.5 + 0.4,
    ),
    "a lifetime without a price: the dearest": (CACHED, "a/b", prompt(1_000_000, _12h=1_000_000), 4.0),
    "and at least what providers usually charge": (
        *(LISTED, "openai-responses/gpt-6-sol"),
        prompt(200_000, _12h=200_000),
        0.8,
    ),
    "a write without any price": (TABLE, "openai/gpt-x", USED.changed(cache_writes=written(_30m=1_000_000)), 3.0),
    "a write of today's models": (LISTED, "openai/gpt-6-sol", prompt(20_900, output=520, _30m=20_900), 0.05745),
    "counts that exceed the prompt": (CACHED, "a/b", prompt(100, read=10**9, _5m=1_000_000), 2.5 + 100 * 0.2 / 1e6),
    **{
        f"the tier {tier}": (CACHED, "a/b", USED.changed(service_tier=tier), factor and factor * 3.0)
        for tier, factor in (
            *((None, 1), ("default", 1), ("standard", 1), ("STANDARD", 1)),
            *(("flex", 0.5), ("priority", 2), ("scale", None)),
        )
    },
    **{
        f"the region {region}": (LISTED, OPUS, USED.changed(region=region), factor and factor * OPUS_COSTS)
        for region, factor in (("us", 1.1), ("US", 1.1), ("global", 1), ("not_available", 1), ("mars", None))
    },
    "the standard speed": (LISTED, OPUS, USED.changed(speed="standard"), OPUS_COSTS),
    "another speed": (LISTED, OPUS, USED.changed(speed="fast"), None),
    "a model that is not listed": (TABLE, "openai/gpt-y", USED, None),
    "no usage": (TABLE, "openai/gpt-x", Usage(), None),
    "a short prompt": (LISTED, "google/gemini-2.5-pro", prompt(200_000), 0.25),
    "a long prompt": (LISTED, "google/gemini-2.5-pro", prompt(200_001), 0.5000025),
    "a simulated model": (Prices(), "simulated/anything", USED, 0.0),
}


@each_row("prices, model, usage, expected", COSTS.values(), ids=COSTS)
def test_what_a_call_costs(prices: Prices, model: str, usage: Usage, expected: float | None) -> None:
    assert expected == pytest.approx(prices.cost(model, usage, TODAY))


def test_every_tier_that_a_seat_may_ask_for_has_a_known_cost():
    for model in {price.models[0] for price in LISTED.prices}:
        protocol, _, name = model.partition("/")
        for tier in get_args(Tier):
            if not refused_settings(cast("ApiProtocol", protocol), name, CallSettings(tier=tier), tools=False):
                assert LISTED.cost(model, USED.changed(service_tier=tier), TODAY) is not None


def test_what_gemini_reads_of_a_cache_costs_a_tenth():
    for model in (one for price in LISTED.prices for one in price.models if one.startswith("google/")):
        assert LISTED.cache_factors(model, "5m", TODAY) == pytest.approx((1.0, 0.1)), model
    assert (2.0, 0.1) == pytest.approx(LISTED.cache_factors("openai-responses/gpt-6-sol", "12h", TODAY))


ALIASES = {
    "claude/us.anthropic.claude-haiku-4-5-20251001-v1:0": "anthropic/claude-haiku-4-5",
    "claude/anthropic.claude-haiku-5-5": "anthropic/claude-haiku-5-5",
    "claude/claude-haiku-4-5@20251001": "anthropic/claude-haiku-4-5",
    "gpt/openai.gpt-6-sol-v1:0": "openai/gpt-6-sol",
    "gpt/gpt-6-sol": "openai/gpt-6-sol",
    "anthropic/eu.anthropic.claude-opus-5-5-v2:1": "anthropic/claude-opus-5-5",
    "openai/gpt-4o-2024-08-06": "openai/gpt-4o",
    "openai-responses/gpt-4o": "openai/gpt-4o",
}


def test_a_model_at_a_cloud_and_a_dated_snapshot_cost_what_their_listed_model_does():
    endpoints = {
        "claude": Endpoint(protocol="anthropic", cloud="bedrock"),
        "gpt": Endpoint(protocol="openai", cloud="azure"),
        "own": Endpoint(protocol="openai", base_url="http://127.0.0.1:8000/v1"),
    }
    prices = LISTED.at_clouds(endpoints)

    for model, listed in ALIASES.items():
        assert prices.cost(model, USED, TODAY) == prices.cost(listed, USED, TODAY) is not None, model
    for other in ("own/gpt-6-sol", "openai/gpt-4o-audio"):
        assert not prices.has_price(other, TODAY), "a similar name is another model"
    assert LISTED.cost("openai/gpt-4o-mini", USED, TODAY) != LISTED.cost("openai/gpt-4o", USED, TODAY)


def test_every_cost_stays_below_the_upper_bound():
    """Whatever of a prompt is read, written as the seat may ask for, or neither, by every list price, at every tier."""
    tiers, caches = (None, "standard", "flex", "priority"), (None, "auto", "5m", "1h", "30m", "12h")
    for tier, cache, price in product(tiers, caches, LISTED.prices):
        settings = CallSettings.model_validate({"max_output_tokens": 1000, "tier": tier, "cache": cache})
        model = price.models[0]
        shortest = next((one for one in ("5m", "30m") if one in price.cache_write), "5m")
        for tokens, lifetime in product((1000, 300_000), {shortest, *({cache} & set(LIFETIMES))}):
            bound = LISTED.upper_bound(model, tokens, settings, TODAY)
            assert bound is not None
            for read, wrote in ((0, 0), (tokens, 0), (0, tokens), (tokens // 2, tokens // 2)):
                usage = prompt(tokens, read=read, output=1000, **({f"_{lifetime}": wrote} if wrote else {})).changed(
                    service_tier=tier if tier in price.tiers else None, region=next(iter(price.regions), None)
                )
                cost = LISTED.cost(model, usage, TODAY)
                assert cost is not None
                assert cost <= bound + 1e-12


def test_the_upper_bound_is_a_call_of_full_length_written_to_the_cache():
    settings = CallSettings(max_output_tokens=1000)

    assert 2.0 + 0.01 == TABLE.upper_bound("openai/gpt-x", 1_000_000, settings, TODAY)
    assert 2.5 + 0.01 == pytest.approx(CACHED.upper_bound("a/b", 1_000_000, settings, TODAY))


def test_the_upper_bound_has_the_tier_and_the_lifetime_that_a_seat_asks_for():
    def bound(**settings: Any) -> float | None:
        call = CallSettings(max_output_tokens=1000, **settings)
        return load_prices().upper_bound("openai/gpt-6-sol", 200_000, call, TODAY)

    unlisted = TABLE.upper_bound("openai/gpt-x", 1000, CallSettings(max_output_tokens=1000, tier="priority"), TODAY)
    assert 2 * (0.002 + 0.01) == pytest.approx(unlisted)
    assert (0.51, 0.51, 1.02) == pytest.approx((bound(), bound(tier="flex"), bound(tier="priority")))
    assert 0.81 == pytest.approx(bound(cache="12h"))


DOCUMENTS = "openai/gpt-4o anthropic/claude-3-haiku-20240307 google/gemini-2.5-flash google/gemini-2.5-pro"
TODAYS = "openai/gpt-5.4-mini anthropic/claude-haiku-5-5 anthropic/claude-haiku-4-5 google/gemini-3.8-flash"


def test_the_documents_models_and_todays_are_listed():
    assert [] == [one for one in f"{DOCUMENTS} {TODAYS}".split() if not LISTED.has_price(one, TODAY)]


def test_a_price_ends_with_its_last_day():
    last, after = (LISTED.cost("google/gemini-3.8-flash", USED, on) for on in (date(2026, 12, 31), date(2027, 1, 1)))

    assert (1.125, 2.25) == (last, after)


REPLY = ModelReply(CallOutcome.ANSWERED, usage=USED)


BILLED: tuple[tuple[ModelReply, bool, float | None], ...] = (
    (REPLY, False, 3.0),
    (REPLY._replace(cost=0.7), False, 0.7),
    (REPLY._replace(simulated=True), True, 0.0),
    (REPLY._replace(simulated=True, cost=0.7), True, 0.0),
    (ModelReply(CallOutcome.RATE_LIMITED), False, 0.0),
    (ModelReply(CallOutcome.AUTHENTICATION), False, 0.0),
    (ModelReply(CallOutcome.ANSWERED, usage=Usage(input_tokens=0, output_tokens=0)), False, None),
    (ModelReply(CallOutcome.TIMEOUT), False, None),
    (ModelReply(CallOutcome.CONNECTION), False, None),
)


def test_a_call_costs_what_the_provider_reports_else_its_price_and_nothing_where_no_model_ran():
    for reply, simulated, cost in BILLED:
        assert cost == cost_of("openai/gpt-x", reply, TABLE, TODAY, simulated=simulated), reply


def own(folder: Path, text: str) -> str:
    (folder / "own.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    return str(folder / "own.toml")


def test_a_price_file_takes_precedence(tmp_path: Path):
    prices = load_prices(own(tmp_path, '[[price]]\nmodels = ["openai/gpt-4o"]\ninput = 1\noutput = 1\n'))

    assert 1.1 == prices.cost("openai/gpt-4o", USED, TODAY)
    assert prices.has_price("anthropic/claude-haiku-4-5", TODAY)


INVALID = {
    "[[price]\n": "own.toml: not TOML",
    '[[price]]\nmodels = ["a/b"]\ninput = 1\n': "own.toml:1: price.0.output: Field required",
    '[[price]]\nmodels = ["a/b"]\noutput = 1\ninput = -1\n': "own.toml:4: price.0.input",
    '\n[[price]]\nmodels = ["a/b"]\noutput = 1\ninput = 1\nper_word = 3\n': "own.toml:6: price.0.per_word: there is",
    "[[price]]\nmodels = []\noutput = 1\ninput = 1\n": "own.toml:2: price.0.models",
    '[[price]]\nmodels = ["a/b", "gpt-*"]\noutput = 1\ninput = 1\n': (
        "own.toml:2: price.0.models.1: 'gpt-*' matches no model; write provider/model"
    ),
    '[[price]]\nmodels = ["a/b"]\noutput = nan\ninput = 1\n': "own.toml:3: price.0.output",
    "prices = 3\n": "own.toml: prices: there is no such field",
    "as_of = 2026-01-01\n# \udcff\n": "own.toml:2: not UTF-8",
}


def test_an_invalid_price_file_is_reported_with_the_line(tmp_path: Path):
    for text, said in INVALID.items():
        with pytest.raises(BadPrices) as raised:
            load_prices(own(tmp_path, text))

        assert said in str(raised.value)
        assert "\n" not in str(raised.value)
    with pytest.raises(BadPrices, match=r"nowhere\.toml: there is no such price file"):
        load_prices("nowhere.toml")


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


PRICES = Prices((Price(models=("openai/gpt-x",), input=2.0, output=10.0),))
COUNTED = 3.0
"""US dollars: what such a usage costs."""

REFUSED = {"rate_limited", "overloaded", "authentication", "quota", "bad_request", "context_too_long"}


@each_row("outcome", CallOutcome)
def test_what_a_call_costs_follows_from_how_it_ended(outcome: CallOutcome) -> None:
    counted, uncounted = (ModelReply(outcome, usage=usage) for usage in (USED, Usage()))
    refused = outcome.value in REFUSED

    assert (0.0 if refused else COUNTED) == cost_of("openai/gpt-x", counted, PRICES, ON, simulated=False)
    assert (0.0 if refused else None) == cost_of("openai/gpt-x", uncounted, PRICES, ON, simulated=False)
