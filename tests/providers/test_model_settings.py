"""The settings of a call as the real SDKs send them in each protocol."""

import json
from typing import Any

from jury_providers import PROTOCOL_DEFAULTS, ProviderConnection
from support.dialects import ANTHROPIC, CHAT, DIALECTS, GOOGLE, RESPONSES, Dialect, a_request
from support.each_row import each_row


async def body(dialect: Dialect, **settings: Any) -> dict[str, Any]:
    _, (asked,) = await dialect.exchanged(dialect.canned("{}"), requests=[a_request(**settings)])
    document: dict[str, Any] = asked.json
    return document


async def added(dialect: Dialect, **settings: Any) -> dict[str, Any]:
    """The fields of a body that the settings add or change."""
    without = await body(dialect)
    return {key: value for key, value in (await body(dialect, **settings)).items() if without.get(key) != value}


@each_row(
    ("dialect", "settings", "expected"),
    [
        (CHAT, {"effort": "high"}, {"reasoning_effort": "high"}),
        (CHAT, {"verbosity": "low", "top_p": 0.5}, {"verbosity": "low", "top_p": 0.5}),
        (CHAT, {"tier": "flex"}, {"service_tier": "flex"}),
        (CHAT, {"tier": "standard"}, {"service_tier": "default"}),
        (RESPONSES, {"effort": "none", "temperature": 0.0}, {"reasoning": {"effort": "none"}, "temperature": 0.0}),
        (RESPONSES, {"tier": "priority", "top_p": 0.5}, {"service_tier": "priority", "top_p": 0.5}),
        (ANTHROPIC, {"thinking": "adaptive"}, {"thinking": {"type": "adaptive"}}),
        (ANTHROPIC, {"thinking": "off"}, {"thinking": {"type": "disabled"}}),
        (ANTHROPIC, {"thinking": 2048}, {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (ANTHROPIC, {"tier": "standard"}, {"service_tier": "standard_only"}),
        (ANTHROPIC, {"tier": "priority"}, {"service_tier": "auto"}),
        (GOOGLE, {"tier": "flex"}, {"serviceTier": "flex"}),
    ],
)
async def test_a_setting_is_sent_under_the_name_of_the_protocol(
    dialect: Dialect, settings: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert expected == await added(dialect, **settings)


@each_row(
    ("settings", "expected"),
    [
        ({"effort": "minimal"}, {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}),
        ({"thinking": "off"}, {"thinkingConfig": {"thinkingBudget": 0}}),
        ({"thinking": "adaptive"}, {"thinkingConfig": {"thinkingBudget": -1}}),
        ({"thinking": 512, "top_p": 0.9}, {"thinkingConfig": {"thinkingBudget": 512}, "topP": 0.9}),
    ],
)
async def test_google_takes_settings_in_its_generation_config(
    settings: dict[str, Any], expected: dict[str, Any]
) -> None:
    generation = (await body(GOOGLE, **settings))["generationConfig"]

    assert expected.items() <= generation.items()


async def test_verbosity_and_effort_stand_beside_the_schema() -> None:
    text = (await body(RESPONSES, verbosity="high"))["text"]
    output = (await body(ANTHROPIC, effort="max"))["output_config"]

    assert ("high", "json_schema") == (text["verbosity"], text["format"]["type"])
    assert ("max", "json_schema") == (output["effort"], output["format"]["type"])


@each_row("dialect", DIALECTS, ids=[one.name for one in DIALECTS])
async def test_what_is_not_set_is_not_sent(dialect: Dialect) -> None:
    text = json.dumps(await body(dialect))

    for word in ("effort", "thinking", "verbosity", "top_p", "topP", "service_tier", "serviceTier", "temperature"):
        assert word not in text


@each_row("setting", [{"temperature": 0.5}, {"top_p": 0.5}, {"seed": 1}])
async def test_anthropic_is_sent_no_sampling(setting: dict[str, Any]) -> None:
    assert {} == await added(ANTHROPIC, **setting)


STANDARD = {CHAT.name: "default", RESPONSES.name: "default", ANTHROPIC.name: "standard_only"}


@each_row("dialect", [CHAT, RESPONSES, ANTHROPIC], ids=[one.name for one in [CHAT, RESPONSES, ANTHROPIC]])
@each_row("where", ["", "https://{host}/v1", "https://eu.{host}"])
def test_a_provider_itself_is_asked_for_the_standard_tier(dialect: Dialect, where: str) -> None:
    """An account may be set to a dearer one."""
    base_url = where.format(host=PROTOCOL_DEFAULTS[dialect.name].host) or None
    adapter = dialect.make(ProviderConnection(dialect.name, base_url, "sk-test"))

    assert STANDARD[dialect.name] == adapter.body(a_request(), stream=False)["service_tier"]


@each_row("dialect", [CHAT, RESPONSES, ANTHROPIC], ids=[one.name for one in [CHAT, RESPONSES, ANTHROPIC]])
@each_row(
    ("base_url", "cloud"),
    [("http://127.0.0.1:8000/v1", None), ("https://notapi.openai.com.example/v1", None), (None, "bedrock")],
)
def test_a_cloud_and_a_server_of_ones_own_are_asked_for_no_tier(
    dialect: Dialect, base_url: str | None, cloud: Any
) -> None:
    adapter = dialect.make(ProviderConnection(dialect.name, base_url, "sk-test", cloud=cloud))

    assert "service_tier" not in adapter.body(a_request(), stream=False)


def test_google_is_asked_for_no_tier_since_its_own_is_the_standard_one() -> None:
    adapter = GOOGLE.make(ProviderConnection("google", None, "sk-test"))

    assert "serviceTier" not in adapter.body(a_request(), stream=False)
