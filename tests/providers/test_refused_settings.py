"""Settings that a model does not take, or that change nothing, are named by seat before the first call."""

from typing import Any

import pytest

from jury_debate import PanelSpec
from jury_events import CallSettings, Panel
from jury_judge import Overrides, any_panel
from jury_providers import Endpoint, SettingNotTaken, check_models, refused_settings, setting_warnings
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


OWN = "http://127.0.0.1:8000"


def a_panel_of(*models: str, judge: str | None = None, **settings: Any) -> Panel:
    seats = [
        {"model": model, "juror_id": f"seat-{number}", "fallbacks": [], "settings": settings}
        for number, model in enumerate(models, 1)
    ]
    final: dict[str, Any] = {"method": "majority_vote"}
    if judge is not None:
        final = {"method": "final_judge", "judge": {"model": judge, "fallbacks": [], "settings": settings}}
    return any_panel(PanelSpec.model_validate({"seats": seats, "final": final}), {}, Overrides()).panel


@each_row(
    ("model", "settings", "says"),
    [
        ("anthropic/claude-haiku-5-5", {"temperature": 0.5}, "temperature is not sent, since the API has none"),
        ("anthropic/claude-haiku-5-5", {"seed": 1}, "seed is not sent, since the API has none"),
        ("openai-responses/gpt-5.4-mini", {"seed": 1}, "seed is not sent, since the API has none"),
        ("google/gemini-3.8-flash", {"temperature": 0.5}, "temperature is deprecated since 2026-07-21"),
        ("google/gemini-3.8-flash", {"top_p": 0.5}, "top_p is deprecated since 2026-07-21"),
    ],
)
def test_a_setting_that_changes_nothing_is_named_with_its_seat(model: str, settings: dict[str, Any], says: str) -> None:
    panel = a_panel_of(model, "simulated/juror", **settings)

    (line,) = setting_warnings(panel, {})
    assert line.startswith(f"seat seat-1: model '{model}': {says}")
    assert line.endswith("; leave it out")
    check_models(panel)


@each_row(
    ("model", "settings"),
    [
        ("openai/gpt-5.4-mini", {"temperature": 0.5, "seed": 1, "top_p": 0.5}),
        ("openai-responses/gpt-5.4-mini", {"temperature": 0.5}),
        ("google/gemini-3.8-flash", {"seed": 1}),
        ("anthropic/claude-haiku-5-5", {"effort": "low"}),
        ("simulated/juror", {"temperature": 0.5, "seed": 1}),
    ],
)
def test_what_is_sent_is_not_warned_of(model: str, settings: dict[str, Any]) -> None:
    assert [] == setting_warnings(a_panel_of(model, **settings), {})


def test_an_answer_that_may_be_longer_than_the_model_gives_is_warned_of() -> None:
    panel = a_panel_of("openai/gpt-4o", "openai/gpt-5.4", "simulated/juror", max_output_tokens=20_000)

    (line,) = setting_warnings(panel, {})
    assert line.startswith(
        "seat seat-1: model 'openai/gpt-4o': max_output_tokens is more than its longest answer, 16,384"
    )
    assert [] == setting_warnings(panel, {"openai": Endpoint(base_url=OWN)})


def test_an_answer_for_which_a_small_window_has_no_room_is_refused() -> None:
    own = {"own": Endpoint(protocol="openai", base_url=OWN, window=8_000)}

    with pytest.raises(SettingNotTaken) as refused:
        check_models(a_panel_of("own/m"), own)
    assert str(refused.value) == (
        "seat seat-1: model 'own/m': max_output_tokens 8,192 is more than the 3,200 of its window of 8,000 that "
        "requests leave; write max_output_tokens: 3200"
    )
    check_models(a_panel_of("own/m", max_output_tokens=3_200), own)


def with_window(window: int, **settings: Any) -> Panel:
    seat = {"model": "own/m", "juror_id": "a", "fallbacks": [], "window": window, "settings": settings}
    judge = {"model": "own/m", "fallbacks": [], "window": window, "settings": settings}
    spec = {"seats": [seat], "final": {"method": "final_judge", "judge": judge}}
    return any_panel(PanelSpec.model_validate(spec), {}, Overrides()).panel


@each_row(("window", "answer"), [(8_000, 3_200), (20_000, 8_000), (32_000, 8_192)])
def test_answers_of_a_seat_that_writes_its_window_have_room_behind_the_longest_request(
    window: int, answer: int
) -> None:
    panel = with_window(window)

    assert [answer, answer] == [place.settings.max_output_tokens for place in panel.seats_and_judge]
    check_models(panel, {"own": Endpoint(protocol="openai", base_url=OWN)})


def test_a_written_length_of_answers_is_kept_and_compared_with_the_written_window() -> None:
    own = {"own": Endpoint(protocol="openai", base_url=OWN)}

    kept = with_window(8_000, max_output_tokens=2_000)

    assert [2_000, 2_000] == [place.settings.max_output_tokens for place in kept.seats_and_judge]
    with pytest.raises(SettingNotTaken, match=r"seat a: .* max_output_tokens 8,192 is more than the 3,200 of its w"):
        check_models(with_window(8_000, max_output_tokens=8_192), own)


def test_seats_of_one_model_and_the_final_judge_share_a_line() -> None:
    model = "anthropic/claude-haiku-5-5"
    panel = a_panel_of(model, model, judge=model, seed=1)

    (line,) = setting_warnings(panel, {})
    assert line.startswith("seat seat-1, seat seat-2, the final judge: model ")


def test_a_server_of_ones_own_deprecates_what_it_likes_and_is_sent_no_more() -> None:
    panel = a_panel_of("google/gemma", "anthropic/claude-of-ours", temperature=0.5)
    endpoints = {name: Endpoint(base_url=OWN) for name in ("google", "anthropic")}

    (line,) = setting_warnings(panel, endpoints)
    assert "claude-of-ours" in line
