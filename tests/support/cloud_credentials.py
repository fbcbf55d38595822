"""Credentials of clouds as their packages find them, without a cloud."""

from typing import Any, NamedTuple

import pytest

_VARIABLES = (
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_AD_TOKEN", "OPENAI_API_VERSION"),
    *("AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"),
    *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_RESOURCE"),
    *("ANTHROPIC_FOUNDRY_BASE_URL", "CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT"),
    *("GOOGLE_CLOUD_LOCATION", "ANTHROPIC_AWS_API_KEY", "ANTHROPIC_AWS_WORKSPACE_ID"),
    *("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"),
)


class GoogleCredentials:
    """What `google.auth.default` finds."""

    token = "google-token"
    expired = False
    valid = True
    quota_project_id = None
    expiry = None

    def refresh(self, _request: object) -> None:
        """They do not expire."""

    def before_request(self, _request: object, _method: str, _url: str, headers: dict[str, str]) -> None:
        headers["authorization"] = f"Bearer {self.token}"


class EntraToken(NamedTuple):
    """`expires_on` in seconds since 1970."""

    token: str
    expires_on: int = 2**40


class EntraCredential:
    """What `DefaultAzureCredential` is: `scopes` are those that it was asked for; `failure` is raised instead."""

    def __init__(self, token: str = "entra-token", failure: Exception | None = None) -> None:
        self.token = token
        self.failure = failure
        self.scopes: list[str] = []
        self.closed = 0

    async def get_token(self, scope: str, **_options: Any) -> EntraToken:
        self.scopes.append(scope)
        if self.failure is not None:
            raise self.failure
        return EntraToken(self.token)

    async def close(self) -> None:
        self.closed += 1


def without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment without settings of clouds."""
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)


def google_finds(monkeypatch: pytest.MonkeyPatch, credentials: GoogleCredentials) -> None:
    """From now on Google's packages find these."""
    monkeypatch.setattr("google.auth.default", lambda **_: (credentials, "my-project"))


def entra_finds(monkeypatch: pytest.MonkeyPatch, credential: EntraCredential) -> None:
    """From now on Azure's package finds this."""
    monkeypatch.setattr("azure.identity.aio.DefaultAzureCredential", lambda: credential)
