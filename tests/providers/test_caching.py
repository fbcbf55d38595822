"""When a call asks its provider to keep the beginning of its prompt."""

from datetime import date

from jury_events import CallSettings
from jury_providers import CachePolicy, Endpoint, Price, Prices, cache_policy, lifetimes, load_prices
from support.each_row import each_row

TODAY = date(2026, 11, 1)
AUTO = CallSettings()
MODELS = ("openai/gpt-6-sol", "openai-responses/gpt-6-sol", "anthropic/claude-opus-5-5", "google/gemini-3.8-flash")
LISTED = cache_policy((*MODELS, "openai/gpt-5.4-mini", "simulated/juror"), load_prices())


@each_row(
    ("protocol", "model", "expected"),
    [
        ("openai", "gpt-5.6", ("30m",)),
        ("openai", "gpt-6.1-sol", ("30m",)),
        ("openai", "openai/gpt-6-sol", ("30m",)),
        ("openai-responses", "gpt-6-sol", ("30m", "12h")),
        ("openai", "gpt-5.5", ()),
        ("openai", "gpt-5", ()),
        ("openai", "gpt-4o", ()),
        ("openai", "qwen3", ()),
        ("anthropic", "claude-haiku-5-5", ("5m", "1h")),
        ("google", "gemini-3.8-flash", ()),
    ],
)
def test_each_protocol_offers_its_lifetimes_to_models_that_take_marks(protocol, model, expected) -> None:
    assert expected == lifetimes(protocol, model)


@each_row(
    ("model", "shortest"),
    [("openai/gpt-6-sol", "30m"), ("anthropic/claude-opus-5-5", "5m")],
    ids=["openai", "anthropic"],
)
def test_the_beginning_is_kept_where_the_expected_reads_pay_for_the_write(model, shortest) -> None:
    # (1.25 - 1) / (1 - 0.1) = 0.28; Opus 5.5 reads at 0.05: 0.26.
    assert "none" == LISTED.choose(model, AUTO, 0.25, TODAY)
    assert shortest == LISTED.choose(model, AUTO, 0.3, TODAY)


def test_a_lifetime_that_is_asked_for_is_used_whatever_is_expected() -> None:
    assert "1h" == LISTED.choose("anthropic/claude-opus-5-5", CallSettings(cache="1h"), 0, TODAY)
    assert "12h" == LISTED.choose("openai-responses/gpt-6-sol", CallSettings(cache="12h"), 0, TODAY)


@each_row("model", MODELS[:3])
def test_nothing_is_kept_where_caching_is_off(model) -> None:
    assert "none" == LISTED.choose(model, CallSettings(cache="off"), 9, TODAY)


@each_row("model", ["google/gemini-3.8-flash", "openai/gpt-5.4-mini", "simulated/juror", "other/model"])
def test_a_provider_without_marks_is_asked_for_nothing(model) -> None:
    assert LISTED.choose(model, AUTO, 9, TODAY) is None


@each_row("cache", [None, "auto", "off", "12h"])
def test_google_keeps_what_it_likes_without_a_lifetime_that_it_can_be_asked_for(cache) -> None:
    assert LISTED.choose("google/gemini-3.8-flash", CallSettings(cache=cache), 99, TODAY) is None


def test_a_read_that_costs_as_much_as_other_input_never_pays() -> None:
    prices = Prices((Price(models=("openai/gpt-6-sol",), input=2, output=10, cache_write={"30m": 2.5}),))

    assert "none" == cache_policy(MODELS, prices).choose("openai/gpt-6-sol", AUTO, 100, TODAY)


def test_a_model_without_a_price_is_judged_by_what_providers_charge() -> None:
    policy = cache_policy(MODELS, Prices())

    assert ("none", "30m") == tuple(policy.choose("openai/gpt-6-sol", AUTO, reads, TODAY) for reads in (0.25, 0.3))


def test_a_server_of_ones_own_is_asked_for_nothing_unless_a_seat_says_so() -> None:
    named = cache_policy(MODELS, load_prices(), {"openai": Endpoint(base_url="http://127.0.0.1:8000/v1")})
    by_variable = cache_policy(MODELS, load_prices(), environ={"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"})

    for policy in (named, by_variable):
        assert policy.choose("openai/gpt-6-sol", AUTO, 9, TODAY) is None
        assert "30m" == policy.choose("openai/gpt-6-sol", CallSettings(cache="auto"), 9, TODAY)
        assert "5m" == policy.choose("anthropic/claude-opus-5-5", AUTO, 9, TODAY)


@each_row(
    ("model", "settings", "tokens", "waits"),
    [
        ("openai/gpt-6-sol", {}, 1024, True),
        ("google/gemini-3.8-flash", {}, 5000, True),
        ("openai/gpt-6-sol", {}, 1023, False),
        ("openai/gpt-6-sol", {"warm": "off"}, 5000, False),
        ("openai/gpt-6-sol", {"cache": "off"}, 5000, False),
        ("simulated/juror", {}, 5000, False),
        ("other/model", {}, 5000, False),
    ],
)
def test_calls_wait_for_one_another_where_a_read_is_known_to_save(model, settings, tokens, waits) -> None:
    assert waits == LISTED.worth_waiting(model, CallSettings(**settings), tokens, TODAY)


def test_a_policy_without_prices_lets_no_call_wait() -> None:
    assert not CachePolicy().worth_waiting("openai/gpt-6-sol", AUTO, 5000, TODAY)
