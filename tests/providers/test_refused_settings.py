"""Settings that a model does not take are named before the first call, by seat."""

import pytest

from jury_debate import PanelSpec
from jury_events import CallSettings
from jury_judge import Overrides, any_panel
from jury_providers import Endpoint, SettingNotTaken, check_models, refused_settings
from support.each_row import each_row


def refusals(protocol, model, *, tools=False, **settings):
    return refused_settings(protocol, model, CallSettings(**settings), tools=tools)


@each_row(
    ("protocol", "model", "settings", "says"),
    [
        ("openai", "gpt-6-sol", {"temperature": 0.0}, "temperature is taken only with effort none"),
        ("openai-responses", "gpt-6-sol", {"top_p": 0.5, "effort": "low"}, "top_p is taken only with effort none"),
        ("openai", "gpt-6-sol", {"thinking": "off"}, "thinking is not taken; set effort instead"),
        ("openai", "gpt-4o-2024-08-06", {"effort": "low"}, "effort low is not taken; leave it out"),
        ("openai", "gpt-4o", {"verbosity": "low"}, "verbosity is not taken; leave it out"),
        ("openai-responses", "gpt-4o-mini", {"verbosity": "low"}, "verbosity is not taken; leave it out"),
        ("anthropic", "claude-haiku-4-5", {"effort": "low"}, "effort low is not taken; leave it out"),
        ("anthropic", "claude-haiku-4-5", {"thinking": "adaptive"}, "write off or a number of tokens"),
        ("anthropic", "us.anthropic.claude-haiku-4-5-20251001-v1:0", {"effort": "low"}, "effort low is not taken"),
        ("anthropic", "claude-haiku-4-5@20251001", {"effort": "low"}, "effort low is not taken"),
        ("openai", "openai.gpt-6-sol", {"temperature": 0.0}, "temperature is taken only with effort none"),
        ("google", "gemini-3.8-flash", {"effort": "none"}, "write one of minimal, low, medium, high, xhigh"),
        ("openai", "gpt-5.4-mini", {"cache": "30m"}, "cache 30m is not offered; write one of auto, off"),
        ("openai", "gpt-6-sol", {"cache": "12h"}, "cache 12h is not offered; write one of auto, off, 30m"),
        ("anthropic", "claude-opus-5-5", {"cache": "30m"}, "write one of auto, off, 5m, 1h"),
        ("anthropic", "claude-opus-5-5", {"thinking": "off"}, "write adaptive or a number of tokens"),
        ("anthropic", "claude-sonnet-5", {"thinking": 2000}, "write adaptive or off"),
        ("anthropic", "claude-haiku-5-5", {"thinking": 1000}, "write 1024 or more tokens"),
        ("anthropic", "claude-haiku-5-5", {"thinking": 8192}, "fewer than max_output_tokens (8192)"),
        ("anthropic", "claude-haiku-5-5", {"effort": "none"}, "write one of low, medium, high, xhigh, max"),
        ("anthropic", "claude-haiku-5-5", {"tier": "flex"}, "tier flex is not offered; write standard"),
        ("anthropic", "claude-haiku-5-5", {"tier": "priority"}, "tier priority is not offered; write standard"),
        ("anthropic", "claude-haiku-5-5", {"top_p": 0.5}, "top_p is not taken"),
        ("anthropic", "claude-haiku-5-5", {"verbosity": "low"}, "verbosity is not taken"),
        ("google", "gemini-3.8-flash", {"effort": "max"}, "write one of minimal, low, medium, high, xhigh"),
        ("google", "gemini-3.8-flash", {"effort": "low", "thinking": 0 + 512}, "exclude each other"),
        ("google", "gemini-3.8-flash", {"cache": "1h"}, "cache 1h is not offered; write one of auto, off"),
    ],
)
def test_what_is_not_taken_is_named_with_a_remedy(protocol, model, settings, says) -> None:
    (refusal,) = refusals(protocol, model, **settings)

    assert says in refusal


@each_row(
    ("protocol", "model", "settings"),
    [
        ("openai", "gpt-6-sol", {"temperature": 0.0, "effort": "none", "tier": "flex", "cache": "30m"}),
        ("openai-responses", "gpt-6-sol", {"cache": "12h", "verbosity": "low", "effort": "max"}),
        ("openai", "gpt-5.4-mini", {"temperature": 0.5, "top_p": 0.5, "cache": "off"}),
        ("anthropic", "claude-opus-5-5", {"thinking": 4096, "effort": "high", "cache": "1h", "tier": "standard"}),
        ("anthropic", "claude-haiku-5-5", {"temperature": 0.5, "seed": 1}),
        ("google", "gemini-3.8-flash", {"thinking": "off", "tier": "flex", "temperature": 0.5}),
        ("openai", "a-model-of-next-year", {"temperature": 0.5, "effort": "high", "verbosity": "low"}),
        ("anthropic", "claude-next", {"thinking": "adaptive", "effort": "max"}),
        ("google", "gemini-next", {"effort": "xhigh"}),
        ("openai-responses", "openai.gpt-6-sol", {"cache": "12h", "effort": "max"}),
        ("anthropic", "anthropic.claude-opus-5-5", {"thinking": 4096, "effort": "high", "cache": "1h"}),
    ],
)
def test_what_is_taken_is_not_refused(protocol, model, settings) -> None:
    assert () == refusals(protocol, model, tools=True, **settings)


def test_tools_of_some_models_are_taken_over_responses_only() -> None:
    assert "openai-responses/" in refusals("openai", "gpt-6.1-sol", tools=True)[0]
    assert () == refusals("openai", "gpt-6.1-sol", tools=False)
    assert () == refusals("openai-responses", "gpt-6.1-sol", tools=True)


def a_panel(model="anthropic/claude-haiku-5-5", fallbacks=(), **settings):
    seats = [{"model": "simulated/juror", "juror_id": "calm"}]
    seats.append({"model": model, "juror_id": "strict", "fallbacks": list(fallbacks), "settings": settings})
    spec = PanelSpec.model_validate({"seats": seats, "final": {"method": "majority_vote"}})
    return any_panel(spec, {}, Overrides()).panel


def test_the_seat_and_every_setting_are_named() -> None:
    with pytest.raises(SettingNotTaken) as refused:
        check_models(a_panel(tier="flex", verbosity="low"))

    assert str(refused.value).startswith("seat strict: model 'anthropic/claude-haiku-5-5': ")
    assert "tier flex" in str(refused.value)
    assert "verbosity" in str(refused.value)


def test_a_server_of_ones_own_takes_what_it_likes() -> None:
    check_models(a_panel(tier="flex"), {"anthropic": Endpoint(base_url="http://127.0.0.1:8000")})


def test_a_fallback_is_called_as_well_as_its_provider_can() -> None:
    check_models(a_panel("openai/gpt-6-sol", ["anthropic/claude-haiku-5-5"], tier="flex", cache="30m"))

    with pytest.raises(SettingNotTaken, match="effort none"):
        check_models(a_panel("openai/gpt-6-sol", ["anthropic/claude-haiku-5-5"], effort="none"))
