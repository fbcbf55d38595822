"""The HTTP client of a provider's batches: files go out and come in by pieces, and no call is repeated.

It is not the client of model calls: those have their own connections, which a long download must not hold.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import IO, Any

import httpx2

from jury_providers.sdk.http_client import HttpRecord

MOST_DOCUMENT_BYTES = 64 * 1024 * 1024
"""Of a response that is no download: a list may show other batches with their results in it."""

_MOST_ERROR_BYTES = 1024 * 1024
_TIMEOUTS = httpx2.Timeout(None, connect=20.0)
_LIMITS = httpx2.Limits(max_connections=8, max_keepalive_connections=4, keepalive_expiry=50.0)


class StatusRefused(Exception):
    """The response has a bad status; its record has the rest. An SDK would wait and repeat otherwise."""


class ElsewhereRefused(httpx2.UnsupportedProtocol):
    """An SDK was led to another host by a response: case data and keys go nowhere but where they were sent."""


class Download:
    """Where a response's body goes, piece by piece; `cut`: it was longer than `most` bytes, of which the rest is left.

    Args:
        most: bytes.
    """

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file = file
        self._left = most
        self.cut = False

    def write(self, data: bytes) -> None:
        """Write a piece, as far as there is place."""
        self.cut = len(data) > self._left
        self._file.write(data[: self._left])
        self._left -= min(len(data), self._left)


class BatchRecord(HttpRecord):
    """The last request and response of one call about a batch; the body of a good one goes into `download`, if any."""

    def __init__(self, download: Download | None = None) -> None:
        super().__init__()
        self.download = download
        self.host: str | None = None


_record: ContextVar[BatchRecord] = ContextVar("batch_record")


@contextmanager
def batch_recording(record: BatchRecord) -> Iterator[None]:
    """Within the context, requests of the current task are recorded in `record`."""
    token = _record.set(record)
    try:
        yield
    finally:
        _record.reset(token)


class BatchHttpClient(httpx2.AsyncClient):
    """Follows no redirect and keeps no cookies; every response is recorded."""

    def __init__(self) -> None:
        cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        super().__init__(limits=_LIMITS, timeout=_TIMEOUTS, cookies=cookies)

    async def send(self, request: httpx2.Request, **_options: Any) -> httpx2.Response:
        record = _record.get()
        record.host = record.host or request.url.host
        record.status, record.complete, record.body = None, False, b""
        if request.url.host != record.host:
            record.error = ElsewhereRefused(f"the response leads to another host, {request.url.host}")
            raise record.error
        record.sent(request)
        request.extensions["timeout"] = _TIMEOUTS.as_dict()
        try:
            response = await super().send(request, stream=True, follow_redirects=False)
            try:
                record.status, record.headers = response.status_code, response.headers
                await _read(response, record)
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            record.error = error
            raise
        if not response.is_success:
            raise StatusRefused
        kept = {name: value for name, value in response.headers.items() if name not in _DECODED}
        return httpx2.Response(response.status_code, headers=kept, content=record.body, request=request)


_DECODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers of a body as it was sent, which is decoded here."""


async def _read(response: httpx2.Response, record: BatchRecord) -> None:
    """Read a body into the record's download, or else into the record, as far as it may be long."""
    into = record.download if response.is_success else None
    most = MOST_DOCUMENT_BYTES if response.is_success else _MOST_ERROR_BYTES
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in response.aiter_bytes():
            if into is not None:
                into.write(piece)
                if into.cut:
                    break
                continue
            size += len(piece)
            if size > most:
                return
            pieces.append(piece)
        record.complete = True
    finally:
        record.body = b"".join(pieces)
