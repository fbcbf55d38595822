"""Shared by the adapters that use OpenAI's SDK."""

from typing import Any, ClassVar

import httpx2
from openai import AsyncOpenAI

from jury_events.exchange import CacheWrite
from jury_providers.provider import ModelRequest
from jury_providers.sdk.adapter import SdkAdapter
from jury_providers.sdk.http_client import SharedHttpClient
from jury_providers.sdk.reply_parsing import cache_writes, count_at, object_at


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
        self._sdk = AsyncOpenAI(
            api_key=self.key,
            base_url=self.connection.base_url,
            default_headers=dict(self.connection.extra_headers),
            timeout=None,
            max_retries=0,
            http_client=client,
        )

    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:  # noqa: ARG002  (in the body)
        """Send the body unchanged with `post`: the typed methods rewrite it, and double the CPU cost of a call."""
        await self._sdk.post(
            self.path, cast_to=httpx2.Response, body=body, options={"timeout": request.settings.attempt_seconds}
        )
