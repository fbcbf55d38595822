"""The table `providers` of a panel file: endpoints, and never a key."""

from pathlib import Path

import pytest

from jury_actors.providers.endpoints import Endpoint, Limits
from jury_judge.errors import PanelFileError
from jury_judge.panels.files import load_panel

SEATS = "seats:\n  - {model: local/m, juror_id: a}\n"


def panel_file(folder: Path, providers: str, name: str = "panel.yaml") -> str:
    path = folder / name
    path.write_text(providers)
    return str(path)


def refusal(path: str) -> str:
    with pytest.raises(PanelFileError) as caught:
        load_panel(path, {})
    message = str(caught.value)

    assert "\n" not in message
    return message


def test_endpoints_are_read_by_name(tmp_path):
    path = panel_file(
        tmp_path,
        SEATS
        + "providers:\n"
        + "  local: {protocol: openai, base_url: 'http://127.0.0.1:8000/v1', key_env: LOCAL_KEY}\n"
        + "  google: {api_version: v1beta, limits: {'gemini-*': {requests_per_minute: 60, in_flight: 8}}}\n",
    )

    loaded = load_panel(path, {})

    assert dict(loaded.endpoints) == {
        "local": Endpoint(protocol="openai", base_url="http://127.0.0.1:8000/v1", key_env="LOCAL_KEY"),
        "google": Endpoint(api_version="v1beta", limits={"gemini-*": Limits(requests_per_minute=60, in_flight=8)}),
    }
    assert loaded.panel.models == ("local/m", "google/gemini-2.5-pro", "anthropic/claude-haiku-5-5")


def test_a_panel_without_the_table_has_no_endpoints(tmp_path):
    assert dict(load_panel(panel_file(tmp_path, "preset: independent\n"), {}).endpoints) == {}


@pytest.mark.parametrize(
    ("providers", "says"),
    [
        ("providers:\n  local:\n    protocol: soap\n", ":3: providers.local.protocol: Input should be 'openai'"),
        ("providers:\n  local: {}\n", ":2: providers.local: write its protocol: openai, openai-responses, anthropic"),
        ("providers:\n  local:\n    base_uri: x\n", ":3: providers.local.base_uri: there is no such field"),
        (
            "providers:\n  openai:\n    base_url: ftp://x\n",
            ":3: providers.openai.base_url: must be an http:// or https:// URL",
        ),
        (
            "providers:\n  openai:\n    base_url: https://u:pw@h/v1\n",
            ":3: providers.openai.base_url: must hold no user or password; name a variable with the key in key_env",
        ),
        (
            "providers:\n  openai:\n    base_url: https://h/v1?key=canary\n",
            ":3: providers.openai.base_url: must end with its path, without ? and #; name a variable with the key",
        ),
        (
            "providers:\n  openai:\n    base_url: http://h:99999/v1\n",
            ":3: providers.openai.base_url: must be an http:// or https:// URL",
        ),
        (
            'providers:\n  openai:\n    base_url: "http://h/\\r\\nX: y"\n',
            ":3: providers.openai.base_url: must be an http:// or https:// URL",
        ),
        ("providers:\n  openai:\n    key_env: sk-1\n", ":3: providers.openai.key_env: String should match pattern"),
        (
            "providers:\n  openai:\n    limits:\n      gpt-*:\n        in_flight: 0\n",
            ":5: providers.openai.limits.gpt-*.in_flight: Input should be greater than or equal to 1",
        ),
        ("providers:\n  Local: {protocol: openai}\n", ":2: providers.Local: String should match pattern"),
        ("providers:\n  simulated: {}\n", ":2: providers.simulated: simulated jurors are reached nowhere; remove it"),
        ("providers: {openai: 'http://h/v1'}\n", ":1: providers.openai: Input should be a table of fields"),
        ("seats: gpt-4o\n", ":1: seats: Input should be a list"),
        ("providers: {near: {protocol: openai}}\n", ":1: providers.near: write its base_url"),
        ("providers: [openai]\n", ":1: providers: Input should be a table of fields"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(tmp_path, providers, says):
    path = panel_file(tmp_path, providers)

    message = refusal(path)

    assert message.startswith(f"{path}{says}")


@pytest.mark.parametrize("field", ["key", "api_key", "API-Key", "token", "auth_token", "password", "headers"])
def test_a_key_in_the_file_is_refused_unseen_with_the_remedy(tmp_path, field):
    path = panel_file(tmp_path, f"providers:\n  openai:\n    protocol: openai\n    {field}: sk-canary\n")

    message = refusal(path)

    assert message.startswith(f"{path}:4: providers.openai.{field}: no key stands in a panel file")
    assert "key_env" in message
    assert "canary" not in message


def test_a_refused_value_is_not_repeated_in_the_message(tmp_path):
    message = refusal(panel_file(tmp_path, "providers:\n  openai:\n    key_env: sk-canary\n"))

    assert "canary" not in message


def test_json_has_the_table_too(tmp_path):
    path = panel_file(
        tmp_path, '{"providers": {"local": {"protocol": "anthropic", "base_url": "http://h"}}}', "panel.json"
    )

    assert load_panel(path, {}).endpoints["local"].protocol == "anthropic"
