"""Shared by the adapters that use OpenAI's SDK."""

import os
from datetime import date
from typing import Any, ClassVar
from urllib.parse import quote

import httpx2
from openai import AsyncAzureOpenAI, AsyncBedrockOpenAI, AsyncOpenAI
from openai.providers import vertex

from jury_events.exchange import CacheWrite
from jury_providers.clouds import ENTRA_VARIABLE
from jury_providers.provider import ModelRequest
from jury_providers.sdk.adapter import SdkAdapter
from jury_providers.sdk.http_client import SharedHttpClient
from jury_providers.sdk.reply_parsing import cache_writes, count_at, date_at, object_at

_AZURE_SCOPE = "https://cognitiveservices.azure.com/.default"


def openai_cache_writes(details: dict[str, Any]) -> tuple[CacheWrite, ...]:
    """The tokens written to the prompt cache, of the details of a prompt's tokens; 30 minutes unless it says else."""
    lifetimes = object_at(details, "cache_write_tokens_details")
    return cache_writes(
        count_at(details, "cache_write_tokens"),
        {"30m": count_at(lifetimes, "ttl_30m_tokens"), "12h": count_at(lifetimes, "ttl_12h_tokens")},
        otherwise="30m",
    )


class OpenAISdk(SdkAdapter):
    """Sends `POST` requests to one path."""

    sdk_logger = "openai"

    path: ClassVar[str]
    """Below the base URL."""

    def open(self, client: SharedHttpClient) -> None:
        """The SDK's client; at a cloud the one that signs requests with the cloud's own credentials."""
        connection = self.connection
        options: dict[str, Any] = {
            "default_headers": dict(connection.extra_headers),
            "timeout": None,
            "max_retries": 0,
            "http_client": client,
        }
        self._sdk: AsyncOpenAI
        if connection.cloud == "azure":
            if connection.base_url is not None:
                options["azure_endpoint"] = connection.base_url
            if connection.key is None and not os.environ.get(ENTRA_VARIABLE, "").strip():
                options["azure_ad_token_provider"] = self.entra_tokens(_AZURE_SCOPE)
            self._sdk = AsyncAzureOpenAI(api_key=connection.key, **options)
        elif connection.cloud == "vertex":
            self._sdk = AsyncOpenAI(provider=vertex(base_url=connection.base_url), **options)
        elif connection.cloud is not None:
            self._sdk = AsyncBedrockOpenAI(api_key=connection.key, base_url=connection.base_url, **options)
        else:
            self._sdk = AsyncOpenAI(api_key=self.key, base_url=connection.base_url, **options)

    async def shutdown_date(self, model: str) -> date | None:
        """As `GET models/{model}` says."""
        path = f"/models/{quote(model, safe='')}"
        return date_at(await self.document_at(lambda: self._sdk.get(path, cast_to=httpx2.Response)), "shutdown_date")

    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:  # noqa: ARG002  (in the body)
        """Send the body unchanged with `post`: the typed methods rewrite it, and double the CPU cost of a call."""
        await self._sdk.post(
            self.path, cast_to=httpx2.Response, body=body, options={"timeout": request.settings.attempt_seconds}
        )
