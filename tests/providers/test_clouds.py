"""Models at a cloud, through the SDKs' own clients: where requests go, how they are signed, what is missing."""

import json
from typing import Any

import pytest

from jury_debate.panel_spec import PanelSpec, resolve
from jury_events.outcome import CallOutcome
from jury_providers.endpoints import Endpoint, connection_of
from jury_providers.errors import KeyMissing
from jury_providers.provider import ModelMessage
from jury_providers.recipients import recipients
from jury_providers.registry import check_models
from support.canned_server import Asked, Canned, canned_server
from support.dialects import ANTHROPIC, CHAT, GOOGLE, RESPONSES, Dialect, a_request

CLOUD_VARIABLES = (
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_AD_TOKEN", "OPENAI_API_VERSION"),
    *("AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"),
    *("AWS_SECRET_ACCESS_KEY", "ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL"),
    *("CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
    *("ANTHROPIC_AWS_API_KEY", "ANTHROPIC_AWS_WORKSPACE_ID", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"),
)


@pytest.fixture(autouse=True)
def without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CLOUD_VARIABLES:
        monkeypatch.delenv(name, raising=False)


class GoogleCredentials:
    """As the environment would have them."""

    token = "google-token"
    expired = False
    valid = True
    quota_project_id = None
    expiry = None

    def refresh(self, _request: object) -> None:
        """They do not expire."""

    def before_request(self, _request: object, _method: str, _url: str, headers: dict[str, str]) -> None:
        headers["authorization"] = f"Bearer {self.token}"


@pytest.fixture
def google_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("google.auth.default", lambda **_: (GoogleCredentials(), "my-project"))


async def asked_at(dialect: Dialect, cloud: str, environ: dict[str, str], *, watched: bool = False) -> Asked:
    """The request of one call, as it arrived."""
    async with canned_server(dialect.canned('{"score": 1}')) as server:
        endpoint = Endpoint.model_validate({"cloud": cloud, "base_url": server.url})
        adapter = dialect.make(connection_of(dialect.name, dialect.name, endpoint, environ))  # type: ignore[arg-type]
        chunks: list[str] = []
        reply = await adapter.call(a_request(), chunks.append if watched else None)
        await adapter.close()
        assert reply.outcome is CallOutcome.ANSWERED, reply.error
        assert b'{"score": 1}' == reply.answer
        assert (['{"score": 1}'] if watched else []) == chunks
        return server.asked[0]


@pytest.mark.parametrize(
    ("dialect", "path"),
    [(CHAT, "/openai/deployments/model-1/chat/completions"), (RESPONSES, "/openai/responses")],
)
async def test_azure(monkeypatch: pytest.MonkeyPatch, dialect: Dialect, path: str) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "2026-05-01")

    asked = await asked_at(dialect, "azure", {"AZURE_OPENAI_API_KEY": "azure-key"})

    assert f"{path}?api-version=2026-05-01" == asked.path
    assert "azure-key" == asked.headers["api-key"]


async def test_openai_at_bedrock() -> None:
    asked = await asked_at(CHAT, "bedrock", {"AWS_BEARER_TOKEN_BEDROCK": "aws-key"})

    assert "Bearer aws-key" == asked.headers["authorization"]
    assert asked.path.endswith("/chat/completions")


async def test_anthropic_at_bedrock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")

    asked = await asked_at(ANTHROPIC, "bedrock", {"AWS_BEARER_TOKEN_BEDROCK": "aws-key"})

    assert "/model/model-1/invoke" == asked.path
    assert "Bearer aws-key" == asked.headers["authorization"]
    assert "anthropic_version" in asked.json
    assert "model" not in asked.json


async def test_anthropic_at_bedrock_with_signed_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")

    asked = await asked_at(ANTHROPIC, "bedrock", {})

    assert asked.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "secret" not in json.dumps(asked.headers)


async def test_anthropic_at_vertex(monkeypatch: pytest.MonkeyPatch, google_credentials: None) -> None:
    monkeypatch.setenv("CLOUD_ML_REGION", "europe-west1")
    monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "my-project")

    asked = await asked_at(ANTHROPIC, "vertex", {})

    assert "/projects/my-project/locations/europe-west1/publishers/anthropic/models/model-1:rawPredict" == asked.path
    assert "Bearer google-token" == asked.headers["authorization"]


async def test_anthropic_at_foundry() -> None:
    asked = await asked_at(ANTHROPIC, "foundry", {"ANTHROPIC_FOUNDRY_API_KEY": "foundry-key"})

    assert "/v1/messages" == asked.path
    assert "foundry-key" in {asked.headers.get("x-api-key"), asked.headers.get("api-key")}


async def test_anthropics_platform_on_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AWS_WORKSPACE_ID", "ws-1")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")

    asked = await asked_at(ANTHROPIC, "aws", {"ANTHROPIC_AWS_API_KEY": "platform-key"})

    assert "/v1/messages" == asked.path
    assert "Bearer platform-key" == asked.headers["authorization"]
    assert "ws-1" in asked.headers.values()


async def test_google_at_vertex(monkeypatch: pytest.MonkeyPatch, google_credentials: None) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "my-project")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west1")

    asked = await asked_at(GOOGLE, "vertex", {})

    assert asked.path.endswith(
        "/projects/my-project/locations/europe-west1/publishers/google/models/model-1:generateContent"
    )
    assert "Bearer google-token" == asked.headers["authorization"]


async def test_gemini_at_vertex_reads_an_explicit_cache_of_the_project(
    monkeypatch: pytest.MonkeyPatch, google_credentials: None
) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "my-project")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west1")
    name = "projects/my-project/locations/europe-west1/cachedContents/one"
    shown = ModelMessage("user", "You are seat A.", shared=("The case. " * 1000,))
    request = a_request(shown)._replace(model="gemini-3.8-flash", cache="5m")

    made = Canned(200, [json.dumps({"name": name, "usageMetadata": {"totalTokenCount": 2000}}).encode()])
    async with canned_server(made, GOOGLE.canned("{}")) as server:
        endpoint = Endpoint.model_validate({"cloud": "vertex", "base_url": server.url})
        adapter = GOOGLE.make(connection_of("google", "google", endpoint, {}))
        await adapter.call(request)
        await adapter.close()

    kept, asked, deleted = server.asked
    assert kept.path.endswith("/projects/my-project/locations/europe-west1/cachedContents")
    assert kept.json["model"].endswith("/publishers/google/models/gemini-3.8-flash")
    assert name == asked.json["cachedContent"]
    assert deleted.path.endswith(name)


async def test_a_watched_answer_of_bedrock_comes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")

    asked = await asked_at(ANTHROPIC, "bedrock", {"AWS_BEARER_TOKEN_BEDROCK": "aws-key"}, watched=True)

    assert "/model/model-1/invoke" == asked.path


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


@pytest.mark.parametrize(
    ("protocol", "cloud", "said"),
    [
        ("openai", "azure", ["OPENAI_API_VERSION", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "(Azure)"]),
        ("anthropic", "foundry", ["ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_API_KEY"]),
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
    assert "" == missing("anthropic", "bedrock", {"AWS_REGION": "eu-west-1"})


def test_a_package_that_signs_requests_is_asked_for_where_no_key_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jury_providers.clouds.find_spec", lambda _name: None)

    said = missing("anthropic", "bedrock", {"AWS_REGION": "eu-west-1"})
    assert "set AWS_BEARER_TOKEN_BEDROCK, or install the package boto3 with: pip install 'jury-judge[bedrock]'" in said
    assert "" == missing("anthropic", "bedrock", {"AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": "k"})


def test_the_recipient_of_case_data_is_the_cloud() -> None:
    endpoint = Endpoint.model_validate({"protocol": "anthropic", "cloud": "vertex"})

    (line,) = recipients(a_panel("there/m"), {"there": endpoint}, {"ANTHROPIC_BASE_URL": "http://elsewhere"})
    assert line.startswith("case data may be sent to Google Vertex AI")
    assert "elsewhere" not in line


def test_a_key_of_the_provider_itself_is_not_sent_to_a_cloud() -> None:
    endpoint = Endpoint.model_validate({"cloud": "azure"})

    assert connection_of("openai", "openai", endpoint, {"OPENAI_API_KEY": "own"}).key is None
