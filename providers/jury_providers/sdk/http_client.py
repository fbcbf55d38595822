"""The one HTTP client of a process and event loop, which records the raw request and response of each call.

The SDKs build the requests and send them through this client. It reads the responses itself, so that their raw bytes
are recorded in the same way for every SDK and every failure; the SDK receives an empty response.
The events of a streamed reply (server-sent events) are read as its bytes arrive.
"""

import asyncio
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from weakref import WeakKeyDictionary

import httpx2

from jury_events.scrubbing import sent_secrets
from jury_providers.errors import HttpClientNotMade
from jury_providers.sdk.json_fields import json_object


class ConnectionSlots:
    """At most `total` calls at once, of which each adapter has `reserved` that no other adapter can take.

    So a provider that does not answer delays its own calls, not those to the others.
    """

    def __init__(self, total: int, reserved: int) -> None:
        self._total = total
        self._reserved = reserved
        self._adapters: deque[AdapterSlots] = deque()

    def join(self) -> "AdapterSlots":
        slots = AdapterSlots(self)
        self._adapters.append(slots)
        return slots

    def leave(self, slots: "AdapterSlots") -> None:
        """The adapter makes no further calls."""
        self._adapters.remove(slots)
        self.grant()

    def grant(self) -> None:
        """Grant the free slots to waiting calls, the adapters in turn."""
        skipped = 0
        while skipped < len(self._adapters):
            slots = self._adapters[0]
            self._adapters.rotate(-1)
            skipped = 0 if self._has_free(slots) and slots.grant_next() else skipped + 1

    def _has_free(self, slots: "AdapterSlots") -> bool:
        others = len(self._adapters) - 1
        limit = max(self._reserved, self._total - others * self._reserved)
        return slots.in_use < limit and sum(each.in_use for each in self._adapters) < self._total


class AdapterSlots:
    """One adapter's slots: a call is made inside `async with slots`."""

    def __init__(self, pool: ConnectionSlots) -> None:
        self.in_use = 0
        self._pool = pool
        self._waiting: deque[asyncio.Future[None]] = deque()

    def grant_next(self) -> bool:
        """Grant a slot to the longest waiting call; False if none waits."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self.in_use += 1
                waiter.set_result(None)
                return True
        return False

    async def __aenter__(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._pool.grant()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():  # granted just before the cancellation
                await self.__aexit__()
            raise

    async def __aexit__(self, *_error: object) -> None:
        self.in_use -= 1
        self._pool.grant()


MAX_RESPONSE_BYTES = 16 * 1024 * 1024
"""Of one response, decoded; reading stops there."""

_CONNECT_SECONDS = 20.0

IDLE_SECONDS = 50.0
"""For which an unused connection is kept: less than the 60 s and more after which servers and load balancers close one.

A request that is sent just as the other side closes is lost, and may not be repeated unrecorded: it may have arrived.
"""

MAX_CONNECTIONS = 64
"""Concurrent calls of one client: httpx's pool costs more CPU per call the more there are (twice as much at 512)."""

RESERVED_FOR_EACH = 8
"""Connections that each adapter has for itself."""

_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=MAX_CONNECTIONS, keepalive_expiry=IDLE_SECONDS)

_HERE: dict[str, httpx2.AsyncBaseTransport | None] = dict.fromkeys(
    ["all://localhost", "all://*.localhost", "all://127.0.0.1", "all://[::1]"]
)
"""Servers on this machine: a proxy that the environment names would take what is sent to them off it."""

_TIMEOUTS = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
"""No read timeout: the timeout of the whole call applies, which a slow drip of bytes cannot extend."""

OnBytes = Callable[[bytes], None]
"""Receives each chunk of a response body as it arrives."""


class HttpRecord:
    """The request and response of one call.

    `secrets` are the credentials that were sent. `status` is None until the response begins, `complete` is True when
    its body was read to its end, `error` is the connection's failure. `on_bytes` receives the chunks of a response
    with a good status. `query` stands behind the path of the request.
    """

    def __init__(self) -> None:
        self.request: httpx2.Request | None = None
        self.secrets: tuple[str, ...] = ()
        self.status: int | None = None
        self.headers: httpx2.Headers = httpx2.Headers()
        self.body = b""
        self.complete = False
        self.error: httpx2.HTTPError | None = None
        self.on_bytes: OnBytes | None = None
        self.query: Mapping[str, str] = {}

    def sent(self, request: httpx2.Request) -> None:
        self.request, self.secrets = request, tuple(sent_secrets(request.headers))

    async def read(self, response: httpx2.Response) -> None:
        """Read a response, as far as it arrives."""
        self.status, self.headers = response.status_code, response.headers
        pieces: list[bytes] = []
        size = 0
        try:
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                size += len(piece)
                if size > MAX_RESPONSE_BYTES:
                    return
                if self.on_bytes is not None and response.is_success:
                    self.on_bytes(piece)
            self.complete = True
        finally:
            self.body = pieces[0] if len(pieces) == 1 else b"".join(pieces)


_record: ContextVar[HttpRecord] = ContextVar("record")


@contextmanager
def recording(record: HttpRecord) -> Iterator[None]:
    """Within the context, requests of the current task are recorded in `record`."""
    token = _record.set(record)
    try:
        yield
    finally:
        _record.reset(token)


class SharedHttpClient(httpx2.AsyncClient):
    """Follows no redirect, which would send a key to another host, and keeps no cookies.

    `slots` limits the concurrent calls of all adapters together.
    """

    def __init__(self) -> None:
        cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        try:
            super().__init__(limits=_LIMITS, timeout=_TIMEOUTS, cookies=cookies, mounts=_HERE)
        except ImportError as error:
            raise HttpClientNotMade(
                "the environment names a SOCKS proxy (ALL_PROXY, HTTPS_PROXY), and the package socksio is not "
                "installed; install it (pip install socksio), or unset the variable"
            ) from error
        except (OSError, ValueError) as error:
            raise HttpClientNotMade(
                f"no HTTP client can be made ({error}); look at the variables {_settings()} of the environment"
            ) from error
        self.users = 0
        self.slots = ConnectionSlots(MAX_CONNECTIONS, RESERVED_FOR_EACH)

    async def send(self, request: httpx2.Request, **_options: Any) -> httpx2.Response:
        """Send a request; its response goes into the current record."""
        record = _record.get()
        if record.query:
            request.url = request.url.copy_merge_params(record.query)
        record.sent(request)
        request.extensions["timeout"] = _TIMEOUTS.as_dict()
        try:
            response = await super().send(request, stream=True, follow_redirects=False)
            try:
                await record.read(response)
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            record.error = error
            raise
        return httpx2.Response(200, request=request)


def _settings() -> str:
    """The variables that are set of those that httpx2 reads."""
    known = ("SSL_CERT_FILE", "SSL_CERT_DIR", "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
    found = [name for variable in known for name in (variable, variable.lower()) if os.environ.get(name, "").strip()]
    return ", ".join(found) or "for proxies and certificates"


_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, SharedHttpClient] = WeakKeyDictionary()


def acquire_client() -> SharedHttpClient:
    """The running event loop's client; each caller releases it with `release_client`."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        client = _clients[loop] = SharedHttpClient()
    client.users += 1
    return client


async def release_client(client: SharedHttpClient) -> None:
    """Close the client when its last user releases it."""
    client.users -= 1
    if client.users == 0:
        _clients.pop(asyncio.get_running_loop(), None)
        await client.aclose()


_NAMES = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Of variables with the value of one header; the others have lines `Name: value`, as the SDKs read them."""


def environment_headers(variables: Iterable[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of these headers, as the variables write them."""
    found: list[str] = []
    for variable in variables:
        value = environ.get(variable)
        if value is None:
            continue
        if variable in _NAMES:
            found.append(_NAMES[variable])
        else:
            found += [line.partition(":")[0].strip() for line in value.split("\n") if ":" in line]
    return tuple(dict.fromkeys(found))


_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventReader:
    """An incremental parser; `events` are all events so far, in order.

    Data that is not a JSON object (`[DONE]`, keep-alives) is skipped: the final event shows whether a stream is
    complete.
    """

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._rest = bytearray()
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """The events completed by `piece`."""
        known = len(self.events)
        # A piece may end between CR and LF: the CR is kept for the next piece.
        # Only new bytes are searched and nothing is copied: a long line may arrive in very many pieces.
        rest, new = self._rest, max(len(self._rest) - 1, 0)
        rest += piece
        cut = max(rest.rfind(b"\n", new), rest.rfind(b"\r", new, len(rest) - 1)) + 1
        if cut:
            lines = _LINE_END.split(bytes(rest[:cut]))[:-1]
            del rest[:cut]
            for line in lines:
                self._take(line)
        return self.events[known:]

    def end(self) -> list[dict[str, Any]]:
        """The event completed by the end of the stream, if any."""
        known = len(self.events)
        self._take(bytes(self._rest).rstrip(b"\r"))
        self._take(b"")
        self._rest.clear()
        return self.events[known:]

    def _take(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:])
        elif not line and self._data:
            data, self._data = b"\n".join(self._data), []
            event = json_object(data)
            if event is not None:
                self.events.append(event)


def events_of(stream: bytes) -> list[dict[str, Any]]:
    reader = EventReader()
    reader.feed(stream)
    reader.end()
    return reader.events
