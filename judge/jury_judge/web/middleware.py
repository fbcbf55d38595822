"""What stands between the network and the pages: small ASGI layers, each of which keeps one kind of trouble out.

The outermost comes first: headers on every answer, then where the body ends, the host asked for, the origin that asks,
the token, the body (`jury_judge.web.body_limits`).
CORS headers are sent by none: no other origin may read an answer, and what asks for that is refused.
"""

import hashlib
import hmac
import json
from typing import NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jury_judge.web.token_attempts import WITHIN, TokenAttempts

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
    """An answer that ends a request at a wall."""

    status: int
    error: str
    remedy: str
    headers: tuple[tuple[str, str], ...] = ()


TOO_MANY_TRIES = Rejection(
    429, "too many wrong tokens came from here", "wait a minute", (("Retry-After", str(int(WITHIN))),)
)


class SecurityHeadersMiddleware:
    """On every answer. Nothing is kept by caches, but what has a tag by which they can ask whether it changed."""

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
    """Only names that are ours, against a foreign name that is made to lead here (DNS rebinding).

    Args:
        app: behind the wall.
        names: as browsers send them in `Host`, lower case, with the port unless it is the scheme's own.
        own_address: the address that the very connection came to is ours too, where all addresses are listened at.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str], *, own_address: bool = False) -> None:
        self._app = app
        self._names = names
        self._own_address = own_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            given = Headers(scope=scope).getlist("host")
            if len(given) != 1 or not self._is_ours(given[0].lower(), scope):
                remedy = "use the address that jury serve printed, or name this one with --allow-host"
                await send_rejection(
                    Rejection(421, "this server is not known under that name", remedy), scope, receive, send
                )
                return
        await self._app(scope, receive, send)

    def _is_ours(self, host: str, scope: Scope) -> bool:
        return host in self._names or (self._own_address and host in _address(scope))


class OriginMiddleware:
    """Whoever asks from a page asks from one of ours: a browser names the page's origin where it matters.

    That is every WebSocket, every unsafe method, and every reading across origins. No origin is no page. Must stand
    behind `HostMiddleware`, which says whose name `Host` holds.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            headers = Headers(scope=scope)
            host = headers.get("host", "").lower()
            ours = {f"http://{host}", f"https://{host}"}
            foreign = any(origin.lower() not in ours for origin in headers.getlist("origin"))
            unsafe = scope["type"] == "websocket" or scope["method"] not in _SAFE
            if foreign or (unsafe and headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}):
                remedy = "open the page at this server's own address"
                await send_rejection(Rejection(403, "a page of another origin asks", remedy), scope, receive, send)
                return
        await self._app(scope, receive, send)


class TokenMiddleware:
    """Whoever asks knows the token: `Authorization: Bearer`, or the cookie that the login page set.

    Args:
        app: behind the wall.
        token: what has to be known.
        tries: who showed wrong ones.
    """

    def __init__(self, app: ASGIApp, token: str, tries: TokenAttempts) -> None:
        self._app = app
        self._token = token.encode()
        self._cookie = cookie_of(token).encode()
        self._tries = tries

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"} and not _is_open(scope):
            refusal = self._refusal(scope)
            if refusal is not None:
                await send_rejection(refusal, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Rejection | None:
        shown, expected = self._shown(HTTPConnection(scope))
        if shown and self._tries.too_many(scope, shown):
            return TOO_MANY_TRIES
        if hmac.compare_digest(shown, expected):
            return None
        if shown:
            self._tries.add(scope, shown)
        wants_page = scope["type"] == "http" and scope["method"] == "GET"
        if wants_page and "text/html" in Headers(scope=scope).get("accept", ""):
            return Rejection(303, "the token is needed", f"log in at {LOGIN}", (("Location", LOGIN),))
        remedy = "send Authorization: Bearer TOKEN, with the token of jury serve"
        return Rejection(401, "the token is missing or wrong", remedy, (("WWW-Authenticate", "Bearer"),))

    def _shown(self, asking: HTTPConnection) -> tuple[bytes, bytes]:
        """What is shown, and what it must be."""
        scheme, _, given = asking.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return given.strip().encode(), self._token
        # Read as browsers write them: a server on another port of this host may have set any cookie before ours.
        return asking.cookies.get(COOKIE, "").encode(), self._cookie


def _is_open(scope: Scope) -> bool:
    """The login page and what it looks like, which is the same for everybody."""
    path: str = scope["path"]
    return path == LOGIN or (scope["type"] == "http" and path.startswith(STATIC))


def cookie_of(token: str) -> str:
    """What the cookie holds instead of the token itself."""
    return hmac.new(token.encode(), b"jury-judge cookie 1", hashlib.sha256).hexdigest()


def _address(scope: Scope) -> tuple[str, ...]:
    """Where the connection came to, as `Host` writes it; a name cannot be made to look like it."""
    host, port = scope.get("server") or ("", None)
    bare = f"[{host}]" if ":" in host else host
    return (f"{bare}:{port}", bare) if port in {80, 443} else (f"{bare}:{port}",)


async def send_rejection(refusal: Rejection, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer in the form that every error has."""
    kind = scope["type"]
    if kind == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        kind = "websocket.http"
    body = json.dumps({"error": refusal.error, "remedy": refusal.remedy}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *refusal.headers]
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    await send({"type": f"{kind}.response.start", "status": refusal.status, "headers": raw})
    await send({"type": f"{kind}.response.body", "body": body if scope.get("method") != "HEAD" else b""})
