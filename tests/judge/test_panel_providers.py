"""The table `providers` of a panel file: endpoints, and never a key."""

from pathlib import Path

import pytest

from jury_debate.panel_spec import PanelSpec, SeatSpec, resolve
from jury_judge.errors import PanelFileError
from jury_judge.panels.files import load_panel
from jury_providers.endpoints import Endpoint, Limits
from jury_providers.recipients import recipients, self_judging_warning
from jury_providers.registry import key_destinations

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
    assert loaded.panel.models == ("local/m", "google/gemini-2.5-pro")


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
            ":3: providers.openai.base_url: must contain no user or password; name a variable with the key in key_env",
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
        ("providers:\n  simulated: {}\n", ":2: providers.simulated: simulated jurors have no endpoint; remove it"),
        ("providers: {openai: 'http://h/v1'}\n", ":1: providers.openai: Input should be a table of fields"),
        ("seats: gpt-4o\n", ":1: seats: Input should be a list"),
        ("providers: {near: {protocol: openai}}\n", ":1: providers.near: write its base_url"),
        ("providers: [openai]\n", ":1: providers: Input should be a table of fields"),
    ],
)
def test_an_invalid_endpoint_is_named_with_its_line(tmp_path, providers, says):
    path = panel_file(tmp_path, providers)

    message = refusal(path)

    assert message.startswith(f"{path}{says}")


REMOTE = ":2: providers.a: the key in A_KEY would go over plain http to another machine; write https://"


@pytest.mark.parametrize("host", ["h.example", "10.0.0.7:8000", "localhost.example", "127.0.0.1.example", "[fe80::1]"])
def test_a_key_is_not_sent_unencrypted_to_another_machine(tmp_path, host):
    path = panel_file(
        tmp_path, f"providers:\n  a: {{protocol: openai, base_url: 'http://{host}/v1', key_env: A_KEY}}\n"
    )

    assert refusal(path).startswith(f"{path}{REMOTE}")


@pytest.mark.parametrize(
    "endpoint",
    [
        "base_url: 'http://127.0.0.1:8000/v1', key_env: A_KEY",
        "base_url: 'http://[::1]/v1', key_env: A_KEY",
        "base_url: 'http://models.localhost/v1', key_env: A_KEY",
        "base_url: 'https://h.example/v1', key_env: A_KEY",
        "base_url: 'http://h.example/v1'",
        "base_url: 'http://h.example/v1', key_env: A_KEY, plain_http: true",
    ],
)
def test_a_key_is_sent_over_tls_or_loopback_or_with_explicit_permission(tmp_path, endpoint):
    path = panel_file(tmp_path, f"providers:\n  a: {{protocol: openai, {endpoint}}}\n")

    assert "a" in load_panel(path, {}).endpoints


@pytest.mark.parametrize(
    ("endpoint", "environ", "line"),
    [
        ({"base_url": "https://H.example:1/v1", "key_env": "K"}, {}, "K is sent to https://h.example:1 (provider a)"),
        ({"key_env": "AWS_SECRET"}, {}, "AWS_SECRET is sent to https://api.openai.com (provider a)"),
        (
            {"key_env": "K"},
            {"OPENAI_BASE_URL": "https://u:pw@p.example/v1"},
            "K is sent to https://p.example (provider a)",
        ),
        ({"key_env": "K"}, {"OPENAI_BASE_URL": "http://127.0.0.1:1"}, None),
        ({"key_env": "OPENAI_API_KEY"}, {}, None),
        ({"base_url": "https://api.openai.com/v1", "key_env": "OPENAI_API_KEY"}, {}, None),
        ({"base_url": "http://127.0.0.1/v1", "key_env": "K"}, {}, None),
        ({"base_url": "https://h.example/v1"}, {}, None),
        (
            {"base_url": "https://h.example/v1"},
            {"OPENAI_CUSTOM_HEADERS": "X-Gateway: secret", "OPENAI_ORG_ID": "org-1"},
            "OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID is sent in headers to https://h.example (provider a)",
        ),
        ({"base_url": "http://127.0.0.1/v1"}, {"OPENAI_ORG_ID": "org-1"}, None),
        ({"base_url": "https://api.openai.com/v1"}, {"OPENAI_ORG_ID": "org-1"}, None),
    ],
)
def test_the_destination_of_each_key_is_printed_before_a_call(endpoint, environ, line):
    panel = resolve(PanelSpec(preset="independent", seats=(SeatSpec(model="a/m"),)), ["a"]).panel
    endpoints = {"a": Endpoint(protocol="openai", **endpoint), "unused": Endpoint(protocol="openai", key_env="X")}

    assert (() if line is None else (f"the value of {line}",)) == key_destinations(panel, endpoints, environ)


TO = "case data may be sent to"
RECEIVING = {
    "preset": "independent",
    "seats": [
        {"model": "gpt-5.5", "fallbacks": ["gemini-3.8-flash", "local/spare"]},
        {"model": "simulated/juror"},
        {"model": "local/m"},
    ],
}


@pytest.mark.parametrize(
    ("environ", "openai"),
    [
        ({}, "case data may be sent to https://api.openai.com (openai: gpt-5.5)"),
        (
            {"OPENAI_BASE_URL": "http://user:secret@10.0.0.5:8000/v1"},
            f"{TO} http://10.0.0.5:8000 (openai: gpt-5.5) by OPENAI_BASE_URL, which is not api.openai.com",
        ),
        (
            None,
            f"{TO} https://api.openai.com (openai: gpt-5.5), or where OPENAI_BASE_URL on the cluster's nodes leads",
        ),
    ],
)
def test_all_recipients_of_a_case_are_named_with_their_address(environ, openai):
    panel = resolve(PanelSpec.model_validate(RECEIVING), ["local"]).panel
    endpoints = {"local": Endpoint(protocol="anthropic", base_url="https://models.example/x")}

    lines = recipients(panel, endpoints, environ)

    google = (
        "case data may be sent to https://generativelanguage.googleapis.com (google: gemini-3.8-flash as a fallback)"
    )
    assert (
        openai,
        google + ("" if environ is not None else ", or where GOOGLE_GEMINI_BASE_URL on the cluster's nodes leads"),
        f"{TO} https://models.example (local: spare as a fallback, m), which is not api.anthropic.com",
        "simulated (juror): no model is called, nothing is sent",
    ) == lines


def test_a_gemini_model_has_no_implicit_fallback():
    spec = {"seats": [{"model": "gemini-3.5-flash-lite"}], "final": {"judge": {"model": "gemini-3.8-flash"}}}
    panel = resolve(PanelSpec.model_validate(spec)).panel

    assert ("google/gemini-3.5-flash-lite", "google/gemini-3.8-flash") == panel.models


def test_a_final_judge_that_is_a_seats_model_is_named():
    spec = {"seats": [{"model": "gpt-5.5", "juror_id": "a"}], "final": {"judge": {"model": "openai/gpt-5.5"}}}
    other = {**spec, "final": {"judge": {"model": "openai/gpt-5.4-mini"}}}

    assert "openai/gpt-5.5 is also the model of a" in str(
        self_judging_warning(resolve(PanelSpec.model_validate(spec)).panel)
    )
    assert self_judging_warning(resolve(PanelSpec.model_validate(other)).panel) is None


@pytest.mark.parametrize("field", ["key", "api_key", "API-Key", "token", "auth_token", "password", "headers"])
def test_a_key_in_the_file_is_refused_unseen_with_the_remedy(tmp_path, field):
    path = panel_file(tmp_path, f"providers:\n  openai:\n    protocol: openai\n    {field}: sk-canary\n")

    message = refusal(path)

    assert message.startswith(f"{path}:4: providers.openai.{field}: a panel file must not contain a key")
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
