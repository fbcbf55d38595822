"""The SDK of OpenAI, which two of its interfaces are reached through."""

from typing import Any, ClassVar

import httpx2
from openai import AsyncOpenAI

from jury_providers.provider import ModelRequest
from jury_providers.sdk.adapter import SdkAdapter
from jury_providers.sdk.wire import Wire


class OpenAISdk(SdkAdapter):
    """`POST` to one path; the interfaces differ in what they say."""

    sdk_logger = "openai"

    path: ClassVar[str]
    """Below the base URL."""

    def open(self, wire: Wire) -> None:
        """Make the SDK's client."""
        self._sdk = AsyncOpenAI(
            api_key=self.key, base_url=self.connection.base_url, timeout=None, max_retries=0, http_client=wire
        )

    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:  # noqa: ARG002  (in the body)
        """Send it. `post` takes a body as it is: the typed methods rewrite it, and cost as much as all the rest."""
        await self._sdk.post(
            self.path, cast_to=httpx2.Response, body=body, options={"timeout": request.settings.timeout_seconds}
        )
