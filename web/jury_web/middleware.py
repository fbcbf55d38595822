"""ASGI middleware for security, the outermost first: response headers, body length, host, origin, token, body limits.

Body length and limits are in `body_limits`. No CORS headers are sent: no other origin may read a response.
"""

import json
from typing import NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
