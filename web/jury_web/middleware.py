"""ASGI middleware for security, the outermost first: response headers, body length, host, origin, token, body limits.

No CORS headers are sent: no other origin may read a response.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, NamedTuple

from pydantic import PlainSerializer
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jury_events.errors import InputError
from jury_events.ids import DEBATE_ID
from jury_web.credentials import WITHIN, Credentials, TokenAttempts, Visitor, set_visitor

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
COOKIE = "jury_token"
LOGIN = "/login"
STATIC = "/static/"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Rejection(NamedTuple):
    """An error response of the middleware."""

    status: int
    error: str
    remedy: str
    headers: tuple[tuple[str, str], ...] = ()


TOO_MANY_ATTEMPTS = Rejection(
    429, "too many wrong tokens from this address", "wait a minute", (("Retry-After", str(int(WITHIN))),)
)


class SecurityHeadersMiddleware:
    """Security headers on every response. Caches may keep only responses with an ETag, and must revalidate them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] in {"http.response.start", "websocket.http.response.start"}:
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "private, no-cache" if "etag" in headers else "no-store")
                message["headers"] = headers.raw
            await send(message)

        await self._app(scope, receive, send_with_headers)


class HostMiddleware:
    """Rejects unknown `Host` headers, against DNS rebinding.

    Args:
        names: as browsers send them in `Host`, lower case, with the port unless it is the scheme's own.
        own_address: the address that the very connection came to is ours too, where all addresses are listened at.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str], *, own_address: bool = False) -> None:
        self._app = app
        self._names = names
        self._own_address = own_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) != 1 or not self._is_accepted(hosts[0].lower(), scope):
                remedy = "use the address that jury serve printed, or allow this one with --allow-host"
                await send_rejection(Rejection(421, "unknown Host header", remedy), scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_accepted(self, host: str, scope: Scope) -> bool:
        return host in self._names or (self._own_address and host in _address(scope))


class OriginMiddleware:
    """Rejects requests that pages of other origins make.

    Browsers send `Origin` with WebSockets, unsafe methods and cross-origin reads; requests without it are not from a
    page. It is compared with `Host`, which `HostMiddleware` must have checked before.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            headers = Headers(scope=scope)
            host = headers.get("host", "").lower()
            own = {f"http://{host}", f"https://{host}"}
            foreign = any(origin.lower() not in own for origin in headers.getlist("origin"))
            unsafe = scope["type"] == "websocket" or scope["method"] not in _SAFE
            if foreign or (unsafe and headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}):
                remedy = "open the page at the address of this server"
                await send_rejection(Rejection(403, "a request of another origin", remedy), scope, receive, send)
                return
        await self._app(scope, receive, send)


class TokenMiddleware:
    """Requires a token: in `Authorization: Bearer`, or in the cookie that the login page sets.

    Args:
        app: the application, which finds out whose token it was by `visitor_of`.
    """

    def __init__(self, app: ASGIApp, credentials: Credentials, attempts: TokenAttempts) -> None:
        self._app = app
        self._credentials = credentials
        self._attempts = attempts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"} and not _is_open(scope):
            found = self._visitor(scope)
            if isinstance(found, Rejection):
                await send_rejection(found, scope, receive, send)
                return
            set_visitor(scope, found)
        await self._app(scope, receive, send)

    def _visitor(self, scope: Scope) -> Visitor | Rejection:
        sent, visitor = self._sent(HTTPConnection(scope))
        if sent and self._attempts.too_many(scope, sent):
            return TOO_MANY_ATTEMPTS
        if visitor is not None:
            return visitor
        if sent:
            self._attempts.add(scope, sent)
        if wants_page(scope):
            return Rejection(303, "a token is required", f"log in at {LOGIN}", (("Location", LOGIN),))
        remedy = "send Authorization: Bearer TOKEN with the token that jury serve printed"
        return Rejection(401, "the token is missing or wrong", remedy, (("WWW-Authenticate", "Bearer"),))

    def _sent(self, connection: HTTPConnection) -> tuple[bytes, Visitor | None]:
        """The token or cookie that was sent, and whose it is."""
        scheme, _, credentials = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            token = credentials.strip().encode()
            return token, self._credentials.by_token(token)
        # Starlette parses cookies leniently: a server on another port of this host may have set malformed ones.
        cookie = connection.cookies.get(COOKIE, "").encode()
        return cookie, self._credentials.by_cookie(cookie)


def wants_page(scope: Scope) -> bool:
    """Whether a browser asks for a page."""
    is_get = scope["type"] == "http" and scope["method"] == "GET"
    return is_get and "text/html" in Headers(scope=scope).get("accept", "")


def _is_open(scope: Scope) -> bool:
    """The login page and its static files need no token."""
    path: str = scope["path"]
    return path == LOGIN or (scope["type"] == "http" and path.startswith(STATIC))


def _address(scope: Scope) -> tuple[str, ...]:
    """The local address of the connection as `Host` writes it. It is an IP address, so DNS rebinding cannot fake it."""
    host, port = scope.get("server") or ("", None)
    bare = f"[{host}]" if ":" in host else host
    return (f"{bare}:{port}", bare) if port in {80, 443} else (f"{bare}:{port}",)


async def send_rejection(rejection: Rejection, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond with the fields of every error."""
    prefix = scope["type"]
    if prefix == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        prefix = "websocket.http"
    body = json.dumps({"error": rejection.error, "remedy": rejection.remedy}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *rejection.headers]
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    await send({"type": f"{prefix}.response.start", "status": rejection.status, "headers": raw})
    await send({"type": f"{prefix}.response.body", "body": body if scope.get("method") != "HEAD" else b""})


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


class ServeRefused(InputError):
    """The server cannot be started as it is asked to be."""


_root: ContextVar[str] = ContextVar("root_path", default="")
_ADDRESS = re.compile(r'(?<=\s)((?:href|action|src|data-live)=")(?=/)')


def rooted(path: str) -> str:
    """The address of a path of the server, as the client of this request reaches it."""
    return f"{_root.get()}{path}"


def rooted_html(page: str) -> str:
    """A page whose links lead to addresses. Its texts have no quotation marks of their own: they are escaped."""
    root = _root.get()
    return _ADDRESS.sub(lambda found: f"{found.group(1)}{root}", page) if root else page


RootedPath = Annotated[str, PlainSerializer(rooted, return_type=str)]
"""A path of the server in an answer."""


def check_root(root: str, paths: Iterable[str]) -> None:
    """Refuse a root that begins as a path of the server does: nothing would show whether a proxy took it off."""
    first = root[1:].partition("/")[0]
    if root and any(path[1:].partition("/")[0] == first for path in paths):
        raise ServeRefused(f"--root-path {root}: the server has paths of its own below /{first}; choose another path")


class RootPathMiddleware:
    """Takes the path of a proxy off requests, and sets it before redirections; answers set it by `rooted`."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self._app = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        if path == self._root or path.startswith(f"{self._root}/"):
            scope = {**scope, "path": path.removeprefix(self._root) or "/"}

        async def send_rooted(message: Message) -> None:
            if message["type"] in {"http.response.start", "websocket.http.response.start"}:
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                if headers.get("location", "").startswith("/"):
                    headers["location"] = rooted(headers["location"])
                message["headers"] = headers.raw
            await send(message)

        _root.set(self._root)  # of the task of this request
        await self._app(scope, receive, send_rooted)
