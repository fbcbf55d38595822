"""The walls that a request's body comes through: where it ends is said once, and it is bounded in every way."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jury_judge.web.middleware import LOGIN, Rejection, send_rejection

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a request."""

MAX_ALL_BODIES = 4 * MAX_BODY
"""Bytes of all bodies together that are on their way or being answered."""

MAX_FORM = 4096
"""Bytes of the login's form, which whoever has no token may send."""

_PIECE_SECONDS = 30.0
"""How long the next piece of a body is waited for."""

_BODY_SECONDS = 60.0
"""How long a whole body may take: the largest one comes in at 4.5 Mbit/s."""

_DIGITS = 15
"""Of a length that is read as a number at all."""

_CLOSE = ("Connection", "close")

NO_ROOM = Rejection(
    503,
    "too many large requests are on their way",
    "come back in a minute",
    (_CLOSE, ("Retry-After", str(int(_BODY_SECONDS)))),
)

_Take = Callable[[int], bool]
"""Hold so many bytes more; whether there is room for them."""


class BodyLengthMiddleware:
    """A request says once where its body ends: with `Content-Length`, or with `Transfer-Encoding`, not with both.

    A proxy that reads the other one takes what follows for a request of its own (RFC 9112, 11.2). What is refused here
    ends its connection.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            headers = Headers(scope=scope)
            if "content-length" in headers and "transfer-encoding" in headers:
                remedy = "send Content-Length or Transfer-Encoding, not both"
                refusal = Rejection(400, "the request says twice where its body ends", remedy, (_CLOSE,))
                await send_rejection(refusal, scope, receive, send)
                return
        await self._app(scope, receive, send)


class BodyLimitMiddleware:
    """A body is JSON (but the login's), of a bounded size, and comes in a bounded time; it is taken in here.

    Args:
        app: behind the wall.
        most: bytes of one.
        together: bytes of all that are on their way or being answered.
    """

    def __init__(self, app: ASGIApp, most: int = MAX_BODY, together: int = MAX_ALL_BODIES) -> None:
        self._app = app
        self._most = most
        self._room = _Room(together)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._room.place() as take:
            body = await self._taken(scope, receive, take)
            if isinstance(body, Rejection):
                await send_rejection(body, scope, receive, send)
            elif body is not None:
                await self._app(scope, _replayed(body, receive), send)

    async def _taken(self, scope: Scope, receive: Receive, take: "_Take") -> bytes | Rejection | None:
        """None: the client went away."""
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                return await self._read(scope, receive, take)
        except TimeoutError:
            return Rejection(408, "the request's body does not come", "send it at once", (_CLOSE,))

    async def _read(self, scope: Scope, receive: Receive, take: "_Take") -> bytes | Rejection | None:
        headers = Headers(scope=scope)
        most = min(self._most, MAX_FORM) if scope["path"] == LOGIN else self._most
        declared = headers.get("content-length", "0")
        if declared.isascii() and declared.isdecimal() and (len(declared) > _DIGITS or int(declared) > most):
            return _too_large(most)
        kept = bytearray()
        more = True
        while more:
            async with asyncio.timeout(_PIECE_SECONDS):
                message = await receive()
            if message["type"] != "http.request":
                return None
            piece = message.get("body", b"")
            if len(kept) + len(piece) > most:
                return _too_large(most)
            if not take(len(piece)):
                return NO_ROOM
            kept += piece
            more = message.get("more_body", False)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kept and scope["path"] != LOGIN and kind != "application/json":
            return Rejection(415, "a request's body is JSON", "send it with Content-Type: application/json")
        return bytes(kept)


class _Room:
    """What all bodies hold together, of `most` bytes."""

    def __init__(self, most: int) -> None:
        self._free = most

    @contextmanager
    def place(self) -> Iterator[_Take]:
        """One body's place; what it holds is given back at the end."""
        held = 0

        def take(size: int) -> bool:
            nonlocal held
            if size > self._free:
                return False
            self._free -= size
            held += size
            return True

        try:
            yield take
        finally:
            self._free += held


def _too_large(most: int) -> Rejection:
    remedy = "send fewer cases at once, or shorter ones"
    return Rejection(413, f"the request is larger than {most:,} bytes", remedy, (_CLOSE,))


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
