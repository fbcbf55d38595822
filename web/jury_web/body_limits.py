"""Middleware that limits request bodies in size, time and total memory."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jury_events.ids import DEBATE_ID
from jury_web.middleware import LOGIN, Rejection, send_rejection

MAX_BODY = 32 * 1024 * 1024
"""Bytes of one request body."""

MAX_ALL_BODIES = 4 * MAX_BODY
"""Bytes of all bodies that are being received or answered."""

MAX_FORM = 4096
"""Bytes of the login form, which is accepted without a token."""

MAX_REVIEW_FORM = 256 * 1024
"""Bytes of the form of a review: a reason of 10,000 characters takes at most 120,000."""

_REVIEW = re.compile(rf"/reviews/{DEBATE_ID}")
_FORM_TYPE = "application/x-www-form-urlencoded"

_PIECE_SECONDS = 30.0
"""Timeout of the next chunk of a body."""

_BODY_SECONDS = 60.0
"""Timeout of a whole body: the largest allowed one needs 4.5 Mbit/s."""

_DIGITS = 15
"""Of a `Content-Length` that is parsed."""

_CLOSE = ("Connection", "close")

NO_ROOM = Rejection(
    503,
    "too many large requests are in progress",
    "try again in a minute",
    (_CLOSE, ("Retry-After", str(int(_BODY_SECONDS)))),
)

_Reserve = Callable[[int], bool]
"""Reserves that many more bytes; False where there is no room."""


class BodyLengthMiddleware:
    """Rejects a request with both `Content-Length` and `Transfer-Encoding`, and closes its connection.

    A proxy that reads the other header takes what follows for the next request (request smuggling, RFC 9112, 11.2).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            headers = Headers(scope=scope)
            if "content-length" in headers and "transfer-encoding" in headers:
                remedy = "send Content-Length or Transfer-Encoding, not both"
                rejection = Rejection(400, "the request has two lengths", remedy, (_CLOSE,))
                await send_rejection(rejection, scope, receive, send)
                return
        await self._app(scope, receive, send)


class BodyLimitMiddleware:
    """Receives the whole body before the application is called, and accepts only JSON, and two forms.

    Args:
        max_body: bytes of one body.
        max_all_bodies: bytes of all bodies that are being received or answered.
    """

    def __init__(self, app: ASGIApp, max_body: int = MAX_BODY, max_all_bodies: int = MAX_ALL_BODIES) -> None:
        self._app = app
        self._max_body = max_body
        self._memory = _Memory(max_all_bodies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._memory.reservation() as reserve:
            body = await self._received(scope, receive, reserve)
            if isinstance(body, Rejection):
                await send_rejection(body, scope, receive, send)
            elif body is not None:
                await self._app(scope, _replayed(body, receive), send)

    async def _received(self, scope: Scope, receive: Receive, reserve: "_Reserve") -> bytes | Rejection | None:
        """None: the client disconnected."""
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                return await self._read(scope, receive, reserve)
        except TimeoutError:
            return Rejection(408, "the request's body timed out", "send it faster", (_CLOSE,))

    async def _read(self, scope: Scope, receive: Receive, reserve: "_Reserve") -> bytes | Rejection | None:
        headers = Headers(scope=scope)
        form = _form_limit(scope["path"])
        limit = self._max_body if form is None else min(self._max_body, form)
        declared = headers.get("content-length", "0")
        if declared.isascii() and declared.isdecimal() and (len(declared) > _DIGITS or int(declared) > limit):
            return _too_large(limit)
        body = bytearray()
        more = True
        while more:
            async with asyncio.timeout(_PIECE_SECONDS):
                message = await receive()
            if message["type"] != "http.request":
                return None
            chunk = message.get("body", b"")
            if len(body) + len(chunk) > limit:
                return _too_large(limit)
            if not reserve(len(chunk)):
                return NO_ROOM
            body += chunk
            more = message.get("more_body", False)
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if body and form is not None:
            if media_type != _FORM_TYPE and scope["path"] != LOGIN:
                return Rejection(415, "the body must be a form", f"send it with Content-Type: {_FORM_TYPE}")
        elif body and media_type != "application/json":
            return Rejection(415, "a request body must be JSON", "send it with Content-Type: application/json")
        return bytes(body)


class _Memory:
    """`free` bytes, which are reserved by bodies."""

    def __init__(self, free: int) -> None:
        self._free = free

    @contextmanager
    def reservation(self) -> Iterator[_Reserve]:
        """Reserves bytes for one body, and frees them at the end."""
        reserved = 0

        def reserve(size: int) -> bool:
            nonlocal reserved
            if size > self._free:
                return False
            self._free -= size
            reserved += size
            return True

        try:
            yield reserve
        finally:
            self._free += reserved


def _form_limit(path: str) -> int | None:
    """The bytes of the form that this path accepts; None: it accepts JSON."""
    if path == LOGIN:
        return MAX_FORM
    return MAX_REVIEW_FORM if _REVIEW.fullmatch(path) else None


def _too_large(limit: int) -> Rejection:
    return Rejection(413, f"the request is larger than {limit:,} bytes", "send less in one request", (_CLOSE,))


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the whole body first."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_body_first() -> Message:
        return messages.pop() if messages else await receive()

    return receive_body_first
