"""Shared by the adapters that use OpenAI's SDK; the windows of models of Ollama and LM Studio."""

import os
import re
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar
from urllib.parse import quote

import httpx2
from openai import AsyncAzureOpenAI, AsyncBedrockOpenAI, AsyncOpenAI, Omit
from openai.providers import vertex

from jury_events.exchange import CacheWrite
from jury_providers.catalogue import ModelLengths
from jury_providers.clouds import ENTRA_VARIABLE
from jury_providers.provider import ModelRequest, ServedModel
from jury_providers.sdk.adapter import SdkAdapter
from jury_providers.sdk.conversation import shared_digest
from jury_providers.sdk.http_client import SharedHttpClient
from jury_providers.sdk.json_fields import count_at, date_at, object_at, objects, text_at
from jury_providers.sdk.replies import cache_writes

SaidAt = Callable[[str, dict[str, Any] | None], Awaitable[dict[str, Any]]]
"""The JSON object at a URL, {} where there is none; a body is posted."""

_NUM_CTX = re.compile(r"^num_ctx\s+([0-9]{1,9})\s*$", re.MULTILINE)


async def local_window(root: str, model: str, said_at: SaidAt) -> int | None:
    """The window of a model, as it is loaded now where the server says that, else the longest; None: neither is said.

    Args:
        model: as it is called.
    """
    studio = await said_at(f"{root}/api/v0/models/{quote(model)}", None)
    if found := count_at(studio, "loaded_context_length") or count_at(studio, "max_context_length"):
        return found
    running = objects((await said_at(f"{root}/api/ps", None)).get("models"))
    names = {model, f"{model}:latest"}
    loaded = (count_at(one, "context_length") for one in running if text_at(one, "model") in names)
    if found := next(filter(None, loaded), None):
        return found
    shown = await said_at(f"{root}/api/show", {"model": model})
    if given := _NUM_CTX.search(text_at(shown, "parameters") or ""):
        return int(given[1])
    info = object_at(shown, "model_info")
    return next((count_at(info, name) for name in info if name.endswith(".context_length")), None)


OPENAI_TIERS = {"standard": "default", "flex": "flex", "priority": "priority"}

OPENAI_MARK: dict[str, Any] = {"prompt_cache_breakpoint": {"mode": "explicit"}}
"""The field of a marked content part."""


def openai_cache_options(request: ModelRequest) -> dict[str, Any]:
    """The fields of a request: nothing is kept but what is marked, so that nothing is paid for what is not read."""
    if request.cache is None:
        return {}
    if request.cache == "none":
        return {"prompt_cache_options": {"mode": "explicit"}}
    return {
        "prompt_cache_options": {"mode": "explicit", "ttl": request.cache},
        "prompt_cache_key": shared_digest(request),
    }


_AZURE_SCOPE = "https://cognitiveservices.azure.com/.default"


def openai_cache_writes(details: dict[str, Any]) -> tuple[CacheWrite, ...]:
    """The tokens written to the prompt cache, of the details of a prompt's tokens; 30 minutes unless it says else."""
    lifetimes = object_at(details, "cache_write_tokens_details")
    return cache_writes(
        count_at(details, "cache_write_tokens"),
        {"30m": count_at(lifetimes, "ttl_30m_tokens"), "12h": count_at(lifetimes, "ttl_12h_tokens")},
        otherwise="30m",
    )


def served_window(said: dict[str, Any]) -> int | None:
    """The window in what a server says of a model: vLLM, then llama.cpp (with which the model was trained), others."""
    found = (
        count_at(said, "max_model_len"),
        count_at(object_at(said, "meta"), "n_ctx_train"),
        count_at(said, "context_length"),
        count_at(said, "context_window"),
    )
    return next((window for window in found if window), None)


class OpenAISdk(SdkAdapter):
    """Sends `POST` requests to one path."""

    sdk_logger = "openai"

    path: ClassVar[str]
    """Below the base URL."""

    def open(self, client: SharedHttpClient) -> None:
        self._sdk = self.sdk_client(client)

    def sdk_client(self, client: httpx2.AsyncClient) -> AsyncOpenAI:
        """The SDK's client on top of `client`; at a cloud the one that signs with the cloud's own credentials."""
        connection = self.connection
        options: dict[str, Any] = {
            "default_headers": self.default_headers(Omit()),
            "timeout": None,
            "max_retries": 0,
            "http_client": client,
        }
        if connection.cloud == "azure":
            if connection.base_url is not None:
                options["azure_endpoint"] = connection.base_url
            if connection.key is None and not os.environ.get(ENTRA_VARIABLE, "").strip():
                options["azure_ad_token_provider"] = self.entra_tokens(_AZURE_SCOPE)
            return AsyncAzureOpenAI(api_key=connection.key, **options)
        if connection.cloud == "vertex":
            return AsyncOpenAI(provider=vertex(base_url=connection.base_url), **options)
        if connection.cloud is not None:
            return AsyncBedrockOpenAI(api_key=connection.key, base_url=connection.base_url, **options)
        return AsyncOpenAI(api_key=self.key, base_url=connection.base_url, **options)

    async def served_model(self, model: str) -> ServedModel:
        """As `GET models/{model}` says; a server of one's own is asked further for the window of its model."""
        said = await self._said(f"/models/{quote(model, safe='')}")
        shutdown, window = date_at(said, "shutdown_date"), served_window(said)
        if window is None and self.connection.cloud is None and not self.leads_home:
            listed = objects((await self._said("/models")).get("data"))
            window = next((served_window(one) for one in listed if one.get("id") == model), None)
            root = (self.connection.base_url or "").rstrip("/").removesuffix("/v1")
            window = window or await local_window(root, model, self._said)
        return ServedModel(shutdown, ModelLengths(window))

    async def _said(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        if body is None:
            return await self.document_at(lambda: self._sdk.get(path, cast_to=httpx2.Response))
        return await self.document_at(lambda: self._sdk.post(path, cast_to=httpx2.Response, body=body))

    async def send(self, request: ModelRequest, body: dict[str, Any], *, stream: bool) -> None:  # noqa: ARG002  (in the body)
        """Send the body unchanged with `post`: the typed methods rewrite it, and double the CPU cost of a call."""
        await self._sdk.post(
            self.path, cast_to=httpx2.Response, body=body, options={"timeout": request.settings.attempt_seconds}
        )
