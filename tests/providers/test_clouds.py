"""Models at a cloud, through the SDKs' own clients: where requests go, how they are signed, what is missing."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from jury_debate import PanelSpec, resolve
from jury_events import CallOutcome, install_line
from jury_providers import CLOUDS, Endpoint, KeyMissing, check_models, connection_of, key_destinations, recipients
from support.canned_server import Asked, canned_server
from support.cloud_credentials import (
    EntraCredential,
    GoogleCredentials,
    entra_finds,
    google_finds,
    without_credentials,
)
from support.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, Dialect, a_request
from support.each_row import each_row


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    without_credentials(monkeypatch)


@pytest.fixture
def entra(monkeypatch: pytest.MonkeyPatch) -> EntraCredential:
    credential = EntraCredential()
    entra_finds(monkeypatch, credential)
    return credential


@pytest.fixture
def google_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    google_finds(monkeypatch, GoogleCredentials())


async def asked_at(
    dialect: Dialect, cloud: str, environ: dict[str, str], *, watched: bool = False, calls: int = 1
) -> Asked:
    """The last request of so many calls, as it arrived."""
    async with canned_server(dialect.canned('{"score": 1}')) as server:
        endpoint = Endpoint.model_validate({"cloud": cloud, "base_url": server.url})
        adapter = dialect.make(connection_of(dialect.name, dialect.name, endpoint, environ))  # type: ignore[arg-type]
        chunks: list[str] = []
        for _ in range(calls):
            reply = await adapter.call(a_request(), chunks.append if watched else None)
            assert reply.outcome is CallOutcome.ANSWERED, reply.error
            assert b'{"score": 1}' == reply.answer
        await adapter.close()
        assert (['{"score": 1}'] if watched else []) == chunks
        assert calls == len(server.asked)
        return server.asked[-1]


BEARER = "authorization", "Bearer google-token"
AWS = {"AWS_REGION": "eu-west-1"}
AZURE = {"OPENAI_API_VERSION": "2026-05-01"}
PLACES: dict[str, tuple[Dialect, str, dict[str, str], dict[str, str], str, tuple[str, str]]] = {
    "chat at Azure": (
        *(CHAT, "azure", AZURE, {"AZURE_OPENAI_API_KEY": "k"}),
        *("/openai/deployments/model-1/chat/completions?api-version=2026-05-01", ("api-key", "k")),
    ),
    "responses at Azure": (
        *(RESPONSES, "azure", AZURE, {"AZURE_OPENAI_API_KEY": "k"}),
        *("/openai/responses?api-version=2026-05-01", ("api-key", "k")),
    ),
    "responses at Vertex": (RESPONSES, "vertex", {}, {}, "/responses", BEARER),
    "chat at Bedrock": (
        *(CHAT, "bedrock", {}, {"AWS_BEARER_TOKEN_BEDROCK": "k"}),
        *("/chat/completions", ("authorization", "Bearer k")),
    ),
    "Anthropic at Bedrock": (
        *(ANTHROPIC, "bedrock", AWS, {"AWS_BEARER_TOKEN_BEDROCK": "k"}),
        *("/model/model-1/invoke", ("authorization", "Bearer k")),
    ),
    "Anthropic at Vertex": (
        *(ANTHROPIC, "vertex", {"CLOUD_ML_REGION": "eu", "ANTHROPIC_VERTEX_PROJECT_ID": "mine"}, {}),
        *("/projects/mine/locations/eu/publishers/anthropic/models/model-1:rawPredict", BEARER),
    ),
    "Anthropic at Foundry": (
        *(ANTHROPIC, "foundry", {}, {"ANTHROPIC_FOUNDRY_API_KEY": "k"}),
        *("/v1/messages", ("api-key", "k")),
    ),
    "Anthropic's platform on AWS": (
        *(ANTHROPIC, "aws", {**AWS, "ANTHROPIC_AWS_WORKSPACE_ID": "ws-1"}, {"ANTHROPIC_AWS_API_KEY": "k"}),
        *("/v1/messages", ("authorization", "Bearer k")),
    ),
    "Google at Vertex": (
        *(GOOGLE, "vertex", {"GOOGLE_CLOUD_PROJECT": "mine", "GOOGLE_CLOUD_LOCATION": "eu"}, {}),
        *("/projects/mine/locations/eu/publishers/google/models/model-1:generateContent", BEARER),
    ),
}
"""What calls a model, where; the settings of the SDK and of the endpoint; the end of the path and the credentials."""


@pytest.mark.usefixtures("google_credentials")
async def test_a_call_goes_to_its_cloud_with_the_clouds_credentials(subtests: pytest.Subtests) -> None:
    for name, (dialect, cloud, settings, keys, path, (header, value)) in PLACES.items():
        with subtests.test(name), pytest.MonkeyPatch.context() as set_up:
            for variable, setting in settings.items():
                set_up.setenv(variable, setting)
            for watched in (False, name == "Anthropic at Bedrock"):  # whose stream comes whole
                asked = await asked_at(dialect, cloud, keys, watched=watched)

                assert asked.path.endswith(path)
                assert value == asked.headers[header]
                assert ("ANTHROPIC_AWS_WORKSPACE_ID" in settings) == ("ws-1" in asked.headers.values())
                assert (dialect is ANTHROPIC and cloud in {"bedrock", "vertex"}) == ("anthropic_version" in asked.json)


async def test_a_token_of_entra_id_is_taken_once_where_there_is_no_key(
    monkeypatch: pytest.MonkeyPatch, entra: EntraCredential
) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "2026-05-01")
    scopes = {"azure": "https://cognitiveservices.azure.com/.default", "foundry": "https://ai.azure.com/.default"}
    for number, (dialect, cloud) in enumerate(((CHAT, "azure"), (RESPONSES, "azure"), (ANTHROPIC, "foundry")), 1):
        asked = await asked_at(dialect, cloud, {}, calls=3)

        assert "Bearer entra-token" == asked.headers["authorization"]
        assert not {"api-key", "x-api-key"} & set(asked.headers)
        assert (scopes[cloud], number, number) == (entra.scopes[-1], len(entra.scopes), entra.closed)


async def test_azure_takes_a_token_of_the_environment(monkeypatch: pytest.MonkeyPatch, entra: EntraCredential) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "2026-05-01")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "given-token")
    asked = await asked_at(CHAT, "azure", {})

    assert "Bearer given-token" == asked.headers["authorization"]
    assert [] == entra.scopes


async def test_anthropic_at_bedrock_with_signed_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    asked = await asked_at(ANTHROPIC, "bedrock", {})

    assert asked.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "secret" not in json.dumps(asked.headers)


def a_panel(model: str) -> Any:
    seats = [{"model": model, "juror_id": "a", "fallbacks": [], "images": False}]
    return resolve(PanelSpec.model_validate({"seats": seats, "final": {"method": "majority_vote"}})).panel


def missing(protocol: str, cloud: str, environ: dict[str, str], **fields: Any) -> str:
    endpoint = Endpoint.model_validate({"protocol": protocol, "cloud": cloud, **fields})
    try:
        check_models(a_panel("there/m"), {"there": endpoint}, environ)
    except KeyMissing as error:
        return str(error)
    return ""


@each_row(
    ("protocol", "cloud", "said"),
    [
        ("openai", "azure", ["OPENAI_API_VERSION", "AZURE_OPENAI_ENDPOINT", "(Azure)"]),
        ("openai-responses", "vertex", ["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"]),
        ("anthropic", "foundry", ["ANTHROPIC_FOUNDRY_RESOURCE or ANTHROPIC_FOUNDRY_BASE_URL"]),
        ("anthropic", "bedrock", ["AWS_REGION or AWS_DEFAULT_REGION"]),
        ("anthropic", "vertex", ["CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID"]),
        ("anthropic", "aws", ["ANTHROPIC_AWS_WORKSPACE_ID", "AWS_REGION"]),
        ("google", "vertex", ["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"]),
        ("google", "azure", ["the protocol google is not offered at the cloud azure; write one of vertex"]),
        ("openai", "vertex", ["write one of azure, bedrock"]),
    ],
)
def test_what_a_cloud_lacks_is_named_by_seat_before_the_first_call(protocol: str, cloud: str, said: list[str]) -> None:
    message = missing(protocol, cloud, {})

    assert message.startswith("seat a: model 'there/m': ")
    assert [] == [one for one in said if one not in message]


def test_a_cloud_with_its_settings_is_ready() -> None:
    azure = {"OPENAI_API_VERSION": "1", "AZURE_OPENAI_API_KEY": "k"}

    assert "" == missing("openai", "azure", azure, base_url="https://mine.openai.azure.com")
    assert "" == missing("openai", "azure", azure | {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com"})
    assert "" == missing("openai", "azure", {"OPENAI_API_VERSION": "1"}, base_url="https://mine.openai.azure.com")
    assert "" == missing("openai-responses", "vertex", {}, base_url="https://gateway.example/v1")
    assert "" == missing("anthropic", "bedrock", {"AWS_REGION": "eu-west-1"})


@pytest.mark.parametrize(
    ("protocol", "cloud", "settings", "key", "remedy"),
    [
        ("openai", "bedrock", {"AWS_REGION": "r"}, "AWS_BEARER_TOKEN_BEDROCK", ("botocore", "bedrock")),
        ("anthropic", "bedrock", {"AWS_REGION": "r"}, "AWS_BEARER_TOKEN_BEDROCK", ("boto3", "bedrock")),
        (
            "anthropic",
            "foundry",
            {"ANTHROPIC_FOUNDRY_RESOURCE": "r"},
            "ANTHROPIC_FOUNDRY_API_KEY",
            ("azure-identity", "azure"),
        ),
        (
            "openai",
            "azure",
            {"OPENAI_API_VERSION": "1", "AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com"},
            "AZURE_OPENAI_API_KEY",
            ("azure-identity", "azure"),
        ),
    ],
)
def test_a_package_with_the_clouds_credentials_is_asked_for_where_no_key_is_set(
    monkeypatch: pytest.MonkeyPatch,
    protocol: str,
    cloud: str,
    settings: dict[str, str],
    key: str,
    remedy: tuple[str, str],
) -> None:
    monkeypatch.setattr("jury_providers.clouds.find_spec", lambda _name: None)

    said = missing(protocol, cloud, settings)
    package, extra = remedy
    assert f"set {key}, or install the package {package} with: {install_line(extra)}" in said
    assert "" == missing(protocol, cloud, settings | {key: "k"})


def test_a_package_within_a_package_that_is_not_installed_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("jury_providers.clouds.find_spec", find_spec)

    assert "install the package azure-identity" in missing("anthropic", "foundry", {"ANTHROPIC_FOUNDRY_RESOURCE": "r"})


def test_a_token_of_the_environment_needs_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jury_providers.clouds.find_spec", lambda _name: None)
    environ = {"OPENAI_API_VERSION": "1", "AZURE_OPENAI_AD_TOKEN": "t"}

    assert "" == missing("openai", "azure", environ, base_url="https://mine.openai.azure.com")


@each_row(("protocol", "cloud"), [("anthropic", "bedrock"), ("openai", "azure")])
def test_a_key_that_the_panel_file_names_is_not_replaced_by_other_credentials(protocol: str, cloud: str) -> None:
    environ = {"AWS_REGION": "r", "OPENAI_API_VERSION": "1", "AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com"}
    others = {"AWS_BEARER_TOKEN_BEDROCK": "k", "AZURE_OPENAI_API_KEY": "k"}

    assert "set TEAM_KEY (" in missing(protocol, cloud, environ | others, key_env="TEAM_KEY")
    assert "" == missing(protocol, cloud, environ | {"TEAM_KEY": "k"}, key_env="TEAM_KEY")


def test_the_recipient_of_case_data_is_the_cloud() -> None:
    endpoint = Endpoint.model_validate({"protocol": "anthropic", "cloud": "vertex"})

    (line,) = recipients(a_panel("there/m"), {"there": endpoint}, {"ANTHROPIC_BASE_URL": "http://elsewhere"})
    assert line.startswith("case data may be sent to Google Vertex AI")
    assert "elsewhere" not in line


def test_a_key_of_the_provider_itself_is_not_sent_to_a_cloud() -> None:
    endpoint = Endpoint.model_validate({"cloud": "azure"})

    assert connection_of("openai", "openai", endpoint, {"OPENAI_API_KEY": "own"}).key is None


@each_row(
    ("fields", "line"),
    [
        ({"base_url": "https://H.example/v1"}, "credentials of Azure are sent to https://h.example (provider there)"),
        (
            {"base_url": "https://h.example/v1", "key_env": "K"},
            "the value of K is sent to https://h.example (provider there)",
        ),
        ({"key_env": "K"}, "the value of K is sent to Azure (provider there)"),
        ({"base_url": "http://127.0.0.1:1"}, None),
        ({}, None),
    ],
)
def test_where_the_credentials_of_a_cloud_are_sent_is_printed_before_a_call(
    fields: dict[str, str], line: str | None
) -> None:
    endpoint = Endpoint.model_validate({"protocol": "openai", "cloud": "azure", **fields})

    assert (() if line is None else (line,)) == key_destinations(a_panel("there/m"), {"there": endpoint}, {})


def test_credentials_of_a_cloud_are_not_sent_over_plain_http_to_another_machine() -> None:
    there = {"protocol": "openai", "cloud": "azure", "base_url": "http://mine.example"}

    with pytest.raises(ValueError, match="credentials of azure would go over plain http"):
        Endpoint.model_validate(there)
    assert Endpoint.model_validate(there | {"plain_http": True}).plain_http
    assert Endpoint.model_validate(there | {"base_url": "http://127.0.0.1:1"}).cloud


def test_the_extras_of_clouds_are_named_and_exist() -> None:
    extras = {cloud.packages.extra for clouds in CLOUDS.values() for cloud in clouds.values() if cloud.packages}
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert extras <= set(project["optional-dependencies"])
