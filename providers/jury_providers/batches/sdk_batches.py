"""Which providers have batches, and the base of the three: bodies and replies by the live adapters."""

import hashlib
import os
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import aclosing, suppress
from datetime import datetime
from importlib import import_module
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import urlsplit

import httpx2

from jury_events.outcome import CallOutcome
from jury_providers.batches.calls import DOWNLOAD_SECONDS, BatchCalls, encoded_line
from jury_providers.batches.documents import MOST_LINE_BYTES, JsonMember, members, result_lines
from jury_providers.batches.provider import (
    BatchAccount,
    BatchFailure,
    BatchItem,
    BatchLine,
    BatchNotFound,
    BatchProvider,
    BatchState,
    ItemEnd,
    batch_limits,
)
from jury_providers.clouds import CLOUDS
from jury_providers.endpoints import (
    PROTOCOL_DEFAULTS,
    ApiProtocol,
    Endpoint,
    Endpoints,
    ProviderConnection,
    connection_of,
    endpoint_of,
)
from jury_providers.errors import ProviderError
from jury_providers.prices import BATCH_TIER
from jury_providers.provider import Caching, ModelReply, ModelRequest
from jury_providers.registry import NO_ENDPOINTS, SIMULATED, protocol_of
from jury_providers.sdk.adapter import SdkAdapter
from jury_providers.sdk.failures import one_line
from jury_providers.sdk.http_client import HttpRecord

_LEFT_OUT = frozenset({"service_tier", "serviceTier", "diagnostics", "stream"})
"""Of a live call's body: a batch has no tiers, and a body may not depend on what this process has asked before."""

PAGE = 100
"""Batches that are listed at once."""

_FEWEST_BYTES = 64 * 1024 * 1024
_BYTES_AN_ITEM = 128 * 1024
"""Results are read up to the sum: longer than any batch's are, but not without end."""

_FEWEST_LINES = 100
"""Beside two for each item."""


class SdkBatches(BatchProvider):
    """Batches of one account, through the SDK of its live adapter.

    Args:
        adapter: builds bodies and reads replies; it is not opened.
        most_bytes: of results, None: as many as the batch's items may have.
        download_seconds: within which results are read.
    """

    base_path: ClassVar[str] = ""
    """Of the base URL that counts where none is set."""

    def __init__(
        self, adapter: SdkAdapter, *, most_bytes: int | None = None, download_seconds: float = DOWNLOAD_SECONDS
    ) -> None:
        self.limits = batch_limits(adapter.api)
        self.calls = BatchCalls(adapter.scrubber, adapter.failures)
        self._adapter = adapter
        self.most_bytes = most_bytes
        self.download_seconds = download_seconds

    @property
    def connection(self) -> ProviderConnection:
        """Base URL and key."""
        return self._adapter.connection

    def account(self) -> BatchAccount:
        place = " ".join((self._adapter.api, self._base_url.rstrip("/"), *self.places()))
        key = self.connection.key or ""
        return BatchAccount(place, hashlib.sha256(b"jury batches\0" + key.encode()).hexdigest())

    @property
    def _base_url(self) -> str:
        return self.connection.base_url or f"https://{PROTOCOL_DEFAULTS[self._adapter.api].host}{self.base_path}"

    @property
    def time(self) -> datetime | None:
        return self.calls.time

    async def ask_time(self) -> datetime | None:
        with suppress(BatchFailure):
            await self.page({}, 1)
        return self.time

    def places(self) -> tuple[str, ...]:
        """What else decides which batches are seen, as the SDK's settings say."""
        return ()

    def supports(self, request: ModelRequest) -> str | None:
        try:
            line = self.item("0" * 64, request).line
        except Exception as error:  # noqa: BLE001  (a schema that the SDK cannot translate, a text that is no Unicode)
            return f"its request cannot be built: {one_line(str(error), 200)}"
        if len(line) >= self.limits.size:
            return f"its request has {len(line):,} bytes, more than a batch takes"
        return None

    def item(self, custom_id: str, request: ModelRequest) -> BatchItem:
        return BatchItem(custom_id, encoded_line(self.line_of(custom_id, self._body(request))))

    def reply(self, request: ModelRequest | None, line: BatchLine) -> ModelReply:
        if line.response is None:
            raise ValueError(f"line {line.number} has no response: {line.error}")
        headers = {} if line.request_id is None else {"x-request-id": line.request_id}
        if line.simulated:
            headers["x-jury-simulated"] = "1"
        record = HttpRecord()
        record.status, record.headers = line.status, httpx2.Headers(headers)
        record.body, record.complete = line.response, True
        if request is None:
            reply = self._adapter.read(record)
        else:
            reply = self._adapter.reply_from(request, self._body(request), record)
        usage, host = reply.usage.changed(service_tier=BATCH_TIER), urlsplit(self._base_url).netloc or None
        return reply._replace(usage=usage, retry_after=None, host=host)

    async def results(self, batch_id: str, state: BatchState) -> AsyncIterator[BatchLine]:
        answered: set[str | None] = set()
        async with aclosing(self._read(batch_id, state)) as lines:
            async for line in lines:
                if line.end is ItemEnd.ANSWERED:
                    answered.add(line.custom_id)
                yield line
        if len(answered) >= (state.counts.answered or 0):
            return
        # The provider counts more answers, so that the file that was received is not all of it.
        async with aclosing(self._read(batch_id, state)) as lines:
            async for line in lines:
                if line.end is ItemEnd.ANSWERED and line.custom_id not in answered:
                    answered.add(line.custom_id)
                    yield line

    async def _read(self, batch_id: str, state: BatchState) -> AsyncGenerator[BatchLine, None]:
        """The lines of all files, each downloaded before it is read."""
        number = 0
        items = state.counts.total or self.limits.items
        most = self.most_bytes or _FEWEST_BYTES + items * _BYTES_AN_ITEM
        most_lines = _FEWEST_LINES + 2 * items
        names = self.files_of(batch_id, state)
        if not names and self.has_answered(state):
            raise BatchNotFound("it names no file of results, which it keeps for a time", CallOutcome.BAD_REQUEST)
        for name in names:
            with TemporaryFile() as file:
                read = await self.calls.download(lambda: self.content(name), file, most, self.download_seconds)  # noqa: B023  (awaited within the loop)
                for line in result_lines(file):
                    number += 1
                    if number > most_lines:
                        yield _endless(number, f"{most_lines:,} lines")
                        return
                    yield self._line(number, line.data)._replace(simulated=read.simulated)
            if read.cut:
                yield _endless(number + 1, f"{most:,} bytes")
                return

    async def close(self) -> None:
        await self.calls.close()

    @abstractmethod
    async def page(self, arguments: Mapping[str, Any], size: int = PAGE) -> dict[str, Any]:
        """A page of the provider's list of batches, of `size` at most."""

    @abstractmethod
    def line_of(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """The line that asks for a call with a body."""

    @abstractmethod
    def files_of(self, batch_id: str, state: BatchState) -> tuple[str, ...]:
        """What `content` is asked for, in order; () where there are no results."""

    def has_answered(self, state: BatchState) -> bool:
        """Whether calls were answered, as the provider says with the state of an ended batch: they are billed."""
        return bool(state.counts.answered)

    @abstractmethod
    def content(self, name: str) -> Awaitable[object]:
        """Ask the SDK for a file of results."""

    @abstractmethod
    def read_line(self, number: int, line: Mapping[str, JsonMember]) -> BatchLine:
        """A line of results."""

    def caching(self, request: ModelRequest) -> Caching:
        """What an item asks the provider to keep: nothing, where a kept prompt may cost more in a batch."""
        return None if request.cache is None else "none"

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        asked = request._replace(settings=request.settings.changed(tier=None), cache=self.caching(request))
        body = self._adapter.body(asked, stream=False)
        kept = {name: value for name, value in body.items() if name not in _LEFT_OUT}
        return {**kept, **self.connection.extra_body}

    def _line(self, number: int, data: bytes | None) -> BatchLine:
        if data is None:
            error = f"line {number} of the results has more than {MOST_LINE_BYTES:,} bytes"
            return BatchLine(number, None, ItemEnd.UNREADABLE, error=error)
        try:
            return self.read_line(number, members(self._adapter.scrubber.data(data).decode()))
        except (ValueError, RecursionError) as error:
            why = one_line(f"line {number} of the results cannot be read: {type(error).__name__}: {error}", 500)
            return BatchLine(number, None, ItemEnd.UNREADABLE, error=why)


def _endless(number: int, bound: str) -> BatchLine:
    error = f"the results do not end within {bound}; the rest was not read"
    return BatchLine(number, None, ItemEnd.UNREADABLE, error=error)


_MODULES: Mapping[ApiProtocol, tuple[str, str]] = MappingProxyType(
    {
        "openai": ("jury_providers.batches.openai_batches", "chat_batches"),
        "openai-responses": ("jury_providers.batches.openai_batches", "responses_batches"),
        "anthropic": ("jury_providers.batches.anthropic_batches", "AnthropicBatches"),
        "google": ("jury_providers.batches.google_batches", "GoogleBatches"),
    }
)


class NoBatches(ProviderError):
    """A provider has no batches; the message says why."""


def no_batches(name: str, endpoints: Endpoints = NO_ENDPOINTS) -> str | None:
    """Why the calls of a provider have to be made live; None: it has batches.

    A server of one's own (`base_url` in the panel file) has none, unless its entry says `batches: on`. One that an
    environment variable names stands for the provider's own.
    """
    endpoint = endpoint_of(name, endpoints)
    protocol = protocol_of(name, endpoint)
    if name == SIMULATED and protocol is None:
        return "simulated models are asked in this process"
    if protocol is None:
        return f"the installed provider {name} has no batches"
    if protocol not in _MODULES:
        return f"the protocol {protocol} has no batches"
    if endpoint.batches == "off":
        return f"the entry of {name} in the panel file says `batches: off`"
    if endpoint.cloud is not None:
        cloud = CLOUDS[protocol].get(endpoint.cloud)
        return f"{name} is at {endpoint.cloud if cloud is None else cloud.name}, whose batches are not offered here"
    if endpoint.batches is None and not _leads_to_provider(protocol, endpoint):
        return f"{name} is a server of its own; if it has batches, write `batches: on` in its entry of the panel file"
    return None


def batch_provider(name: str, endpoints: Endpoints = NO_ENDPOINTS) -> BatchProvider:
    """A new client of the batches of the provider `name`, with the key and base URL of this process's environment."""
    reason = no_batches(name, endpoints)
    if reason is not None:
        raise NoBatches(reason)
    endpoint = endpoint_of(name, endpoints)
    protocol = protocol_of(name, endpoint)
    assert protocol is not None
    return batches_of(protocol, connection_of(name, protocol, endpoint, os.environ))


def batches_of(protocol: ApiProtocol, connection: ProviderConnection) -> "SdkBatches":
    """A new client of the batches of a connection, in this protocol."""
    module, maker = _MODULES[protocol]
    made: SdkBatches = getattr(import_module(module), maker)(connection)
    return made


def _leads_to_provider(protocol: ApiProtocol, endpoint: Endpoint) -> bool:
    if endpoint.base_url is None:
        return True
    return connection_of("", protocol, endpoint, {}).leads_to(PROTOCOL_DEFAULTS[protocol].host)
