"""The requests that make and delete Gemini's explicit caches; their answers are read from the bytes."""

import asyncio
from contextlib import suppress
from math import ceil

import httpx2
from google.genai import types
from google.genai.client import AsyncClient

from jury_events.exchange import CacheLifetime
from jury_events.scrubbing import Scrubber
from jury_providers.cache_lifetimes import SECONDS
from jury_providers.sdk.failures import exception_failure, status_failure
from jury_providers.sdk.google_caches import MadeCache, SharedContent
from jury_providers.sdk.http_client import HttpRecord, recording
from jury_providers.sdk.reply_parsing import count_at, object_at, text_at
from jury_providers.sdk.streams import json_object

MAKE_SECONDS = 30.0
"""The longest that a request for a cache may take."""

_PASSING = frozenset({408, 429})
"""Statuses of requests that were not wrong."""


def ttl_of(lifetime: CacheLifetime) -> str:
    """A lifetime as the API writes it: `300s`."""
    return f"{SECONDS[lifetime]}s"


async def make_cache(sdk: AsyncClient, model: str, shared: SharedContent, scrubber: Scrubber) -> MadeCache:
    """Ask for a cache of what calls share. Every failure is returned.

    Args:
        sdk: sends the request, through the shared HTTP client.
        model: that will read it.
        shared: its content and lifetime.
        scrubber: removes secrets from a failure, those too that the SDK found itself.
    """
    record, error = HttpRecord(), ""
    options = types.HttpOptions(
        extra_body={**shared.kept, "ttl": ttl_of(shared.lifetime)}, timeout=ceil(MAKE_SECONDS * 1000)
    )
    try:
        with recording(record):
            async with asyncio.timeout(MAKE_SECONDS):
                await sdk.caches.create(model=model, config=types.CreateCachedContentConfig(http_options=options))
    except TimeoutError:
        error = f"no answer within {MAKE_SECONDS:g} s"
    except Exception as raised:  # noqa: BLE001  (the call is made without a cache)
        error = exception_failure(record.error or raised, built=True).error
    scrubber = scrubber.knowing(record.secrets)
    if record.status is None:
        # It may have been made, and billed, where only its answer was lost.
        arrived = record.request is not None and not isinstance(record.error, httpx2.ConnectError)
        return MadeCache(None, shared.tokens if arrived else 0, scrubber.error(error or ""))
    if not httpx2.codes.is_success(record.status):
        lasting = httpx2.codes.is_client_error(record.status) and record.status not in _PASSING
        body = scrubber.data(record.body)  # before a cut could leave half a key
        failure = status_failure(record.status, record.headers, body)
        return MadeCache(None, 0, scrubber.error(failure.error or ""), lasting)
    document = json_object(record.body) or {}
    name = text_at(document, "name")
    tokens = count_at(object_at(document, "usageMetadata"), "totalTokenCount") or shared.tokens
    return MadeCache(name, tokens, None if name is not None else scrubber.error(error or "the answer names no cache"))


async def delete_cache(sdk: AsyncClient, name: str) -> None:
    """Delete a cache; if that fails, it ends by itself."""
    with suppress(Exception), recording(HttpRecord()):
        await sdk.caches.delete(name=name)
