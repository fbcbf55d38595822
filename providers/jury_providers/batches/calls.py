"""Calls about batches, made through an SDK once each; their answers and errors are read from the bytes."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import IO, Any, NamedTuple

import httpx2

from jury_events.outcome import CallOutcome
from jury_events.scrubbing import Scrubber
from jury_providers.batches.provider import BatchFailure, BatchNotFound, BatchRefused, BatchUnavailable
from jury_providers.sdk.failures import CallFailure, FailureReader, exception_failure, one_line, preview
from jury_providers.sdk.http_client import HttpRecord
from jury_providers.sdk.json_fields import json_object

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


CALL_SECONDS = 60.0
DOWNLOAD_SECONDS = 3600.0
_BEGINNING = 200
_SLOWEST_UPLOAD = 50_000
"""Bytes a second, at which an upload is given up."""

_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_NOT_FOUND = frozenset({404, 410})
_UNKNOWN = frozenset({408, *range(500, 600)})
"""Statuses of something between here and there, or of a server that broke off: they say nothing of what was done."""

_LATER = frozenset(
    {
        CallOutcome.RATE_LIMITED,
        CallOutcome.OVERLOADED,
        CallOutcome.TIMEOUT,
        CallOutcome.CONNECTION,
        CallOutcome.MALFORMED_RESPONSE,
    }
)

Call = Callable[[], Awaitable[object]]
"""Makes requests through an SDK's client on top of `BatchCalls.client`; its result is not looked at."""


class Downloaded(NamedTuple):
    """What is known of a file that was read: `cut`, it was too long; `simulated`, no model answered."""

    cut: bool
    simulated: bool


def upload_seconds(size: int) -> float:
    """How long sending `size` bytes may take."""
    return CALL_SECONDS + size / _SLOWEST_UPLOAD


class BatchCalls:
    """Makes calls on one HTTP client.

    Args:
        scrubber: knows the key, which no error may show.

    `time`: of the server's clock, as its last answer says; None: that did not say, or there was none.
    """

    def __init__(self, scrubber: Scrubber, failures: FailureReader) -> None:
        self.client = BatchHttpClient()
        self.time: datetime | None = None
        self._scrubber = scrubber
        self._failures = failures

    async def document(self, call: Call, seconds: float = CALL_SECONDS) -> dict[str, Any]:
        """The JSON object that answers a call."""
        record = await self._made(call, BatchRecord(), seconds)
        document = json_object(record.body)
        if document is None:
            said = f"the response is no JSON object: {preview(record.body)}"
            raise self._failure(record, CallFailure(CallOutcome.MALFORMED_RESPONSE, one_line(said)))
        return document

    async def done(self, call: Call) -> None:
        """Make a call whose answer says nothing."""
        await self._made(call, BatchRecord(), CALL_SECONDS)

    async def download(self, call: Call, file: IO[bytes], most: int, seconds: float = DOWNLOAD_SECONDS) -> Downloaded:
        """Read the body that answers a call into a file, at most `most` bytes; it stands at its beginning then."""
        into = Download(file, most)
        record = await self._made(call, BatchRecord(into), seconds)
        file.seek(0)
        if file.read(_BEGINNING).lstrip().startswith(b"<"):
            page = CallFailure(CallOutcome.MALFORMED_RESPONSE, "the response is a page of HTML")
            raise self._failure(record, page)
        file.seek(0)
        return Downloaded(into.cut, record.headers.get("x-jury-simulated") == "1")

    async def close(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    async def _made(self, call: Call, record: BatchRecord, seconds: float) -> BatchRecord:
        failure: CallFailure | None = None
        self.time = None
        try:
            with batch_recording(record):
                async with asyncio.timeout(seconds):
                    await call()
        except TimeoutError:
            record.status = None
            failure = CallFailure(CallOutcome.TIMEOUT, f"no answer within {seconds:g} s")
        except Exception as error:  # noqa: BLE001  (an SDK raises what it likes: what was received decides)
            failure = exception_failure(record.error or _first_cause(error), built=record.request is not None)
        if record.status is None:
            raise self._failure(record, failure or CallFailure(CallOutcome.CONNECTION, "there is no response"))
        self.time = _date(record.headers.get("date"))
        if not httpx2.codes.is_success(record.status):
            raise self._failure(record, self._failures.of_status(record.status, record.headers, record.body))
        if not record.complete:
            too_long = CallFailure(CallOutcome.MALFORMED_RESPONSE, "the response is too long")
            raise self._failure(record, failure or too_long)
        return record

    def _failure(self, record: BatchRecord, failure: CallFailure) -> BatchFailure:
        """The error of a call; a good or no status, or a server's error, says nothing of what the provider did."""
        status = record.status
        unknown = status is None or httpx2.codes.is_success(status) or status in _UNKNOWN
        arrived = unknown and record.request is not None and not isinstance(record.error, _NOT_SENT)
        kind: type[BatchFailure] = BatchUnavailable if failure.outcome in _LATER or arrived else BatchRefused
        if status in _NOT_FOUND:
            kind = BatchNotFound
        message = self._scrubber.knowing(record.secrets).error(failure.error)
        return kind(message, failure.outcome, retry_after=failure.retry_after, may_have_arrived=arrived)


def _date(header: str | None) -> datetime | None:
    """A time of HTTP; None: it is none."""
    try:
        found = parsedate_to_datetime(header or "")
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _first_cause(error: Exception) -> Exception:
    cause = error.__cause__
    while isinstance(cause, Exception):
        error, cause = cause, cause.__cause__
    return error


def encoded_line(item: dict[str, Any]) -> bytes:
    """A line of JSON, as the SDKs encode bodies: the order of keys is kept, since models answer in a schema's order."""
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
