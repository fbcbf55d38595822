"""The one HTTP client of a process and event loop, and what goes over it in each call.

The SDKs make the requests and send them through this client. It reads the answers itself, so that their bytes are kept
as they came, the same for every SDK and for every way to fail; an SDK is handed an empty response and makes nothing of
it.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from weakref import WeakKeyDictionary

import httpx2

from jury_providers.sdk.connection_slots import Places

MOST_BYTES = 16 * 1024 * 1024
"""What is read of one response, decoded; a longer one is given up there."""

_CONNECT_SECONDS = 20.0
_IDLE_SECONDS = 60.0

MOST_AT_ONCE = 64
"""Calls in flight of one client: its pool costs more CPU a call the more there are (twice as much at 512)."""

KEPT_FOR_EACH = 8
"""Of those, how many each adapter has for itself alone."""

_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=MOST_AT_ONCE, keepalive_expiry=_IDLE_SECONDS)

_TIMEOUTS = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
"""Reading is bounded by the timeout of the whole call, which a slow drip of bytes cannot put off."""

Received = Callable[[bytes], None]
"""Takes a piece of a body while it arrives."""


class Passage:
    """What one call sent and received.

    `status` is None until the response began, `ended` is set when its body was read to its end, `trouble` is what the
    connection failed by. `received` is told the pieces of a good answer.
    """

    def __init__(self, received: Received | None = None) -> None:
        self.request: httpx2.Request | None = None
        self.status: int | None = None
        self.headers: httpx2.Headers = httpx2.Headers()
        self.body = b""
        self.ended = False
        self.trouble: httpx2.HTTPError | None = None
        self._received = received

    async def read(self, response: httpx2.Response) -> None:
        """Take a response, whole or as much as comes."""
        self.status, self.headers = response.status_code, response.headers
        pieces: list[bytes] = []
        size = 0
        try:
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                size += len(piece)
                if size > MOST_BYTES:
                    return
                if self._received is not None and response.is_success:
                    self._received(piece)
            self.ended = True
        finally:
            self.body = pieces[0] if len(pieces) == 1 else b"".join(pieces)


_passage: ContextVar[Passage] = ContextVar("passage")


@contextmanager
def passing(passage: Passage) -> Iterator[None]:
    """Within it, what the current task sends over the wire goes through `passage`."""
    token = _passage.set(passage)
    try:
        yield
    finally:
        _passage.reset(token)


class Wire(httpx2.AsyncClient):
    """The client. It follows no redirect, which would carry a key to another host, and keeps no cookies.

    `places` bounds the calls of all adapters together.
    """

    def __init__(self) -> None:
        cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        super().__init__(limits=_LIMITS, timeout=_TIMEOUTS, cookies=cookies)
        self.users = 0
        self.places = Places(MOST_AT_ONCE, KEPT_FOR_EACH)

    async def send(self, request: httpx2.Request, **_options: Any) -> httpx2.Response:
        """Send a request and keep in the current passage what comes of it."""
        passage = _passage.get()
        passage.request = request
        request.extensions["timeout"] = _TIMEOUTS.as_dict()
        try:
            response = await super().send(request, stream=True, follow_redirects=False)
            try:
                await passage.read(response)
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            passage.trouble = error
            raise
        return httpx2.Response(200, request=request)


_wires: WeakKeyDictionary[asyncio.AbstractEventLoop, Wire] = WeakKeyDictionary()


def borrow() -> Wire:
    """The running loop's client; whoever takes it gives it back."""
    loop = asyncio.get_running_loop()
    wire = _wires.get(loop)
    if wire is None:
        wire = _wires[loop] = Wire()
    wire.users += 1
    return wire


async def give_back(wire: Wire) -> None:
    """Close the client with its last user."""
    wire.users -= 1
    if wire.users == 0:
        _wires.pop(asyncio.get_running_loop(), None)
        await wire.aclose()
