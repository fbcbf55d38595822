"""Whose token or cookie a request has, and how often a wrong one may be tried."""

import hashlib
import hmac
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from ipaddress import IPv6Address, IPv6Network, ip_address
from secrets import token_urlsafe
from typing import NamedTuple, Self

from starlette.types import ASGIApp, Receive, Scope, Send

MAX_ATTEMPTS = 10
"""Different wrong tokens of one client within `WITHIN`."""

WITHIN = 60.0
"""Seconds after which a wrong token is no longer counted."""

_MAX_CLIENTS = 10_000
"""Clients that are remembered; the one with the oldest attempt is dropped first."""


class TokenAttempts:
    """Different wrong tokens by client. A client with too many must wait before it sends any other token.

    A repeated wrong token is counted once, so that a program with an old token does not lock out its address.

    Args:
        now: a monotonic clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._wrong: OrderedDict[str, dict[bytes, float]] = OrderedDict()

    def too_many(self, scope: Scope, token: bytes) -> bool:
        """Whether this client must wait before it sends `token`."""
        wrong = self._recent(client_of(scope))
        return len(wrong) >= MAX_ATTEMPTS and _digest(token) not in wrong

    def add(self, scope: Scope, token: bytes) -> None:
        """Count a wrong token of this client."""
        client = client_of(scope)
        wrong = self._recent(client)
        wrong[_digest(token)] = self._now()
        self._wrong[client] = wrong
        self._wrong.move_to_end(client)
        if len(self._wrong) > _MAX_CLIENTS:
            self._wrong.popitem(last=False)

    def _recent(self, client: str) -> dict[bytes, float]:
        since = self._now() - WITHIN
        return {token: at for token, at in self._wrong.get(client, {}).items() if at > since}


def client_of(scope: Scope) -> str:
    """The IPv4 address, or the IPv6 /64 network, since one machine may have all of its addresses."""
    host, _ = scope.get("client") or ("", None)
    try:
        address = ip_address(host)
    except ValueError:
        return str(host)
    return str(IPv6Network((int(address), 64), strict=False)) if isinstance(address, IPv6Address) else host


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


_KEY = "jury.visitor"


class Visitor(NamedTuple):
    """Who sends a request. `reviewer`: whose token it is; None: the server's, or none is needed.

    `cookie` is the value of the login cookie, "" where none is needed; of a server that is one reviewer's own, a secret
    of its process. `restricted`: what the jury said is shown only after the reviewer's verdict.
    """

    reviewer: str | None = None
    cookie: str = ""
    own_server: bool = False
    restricted: bool = False

    @classmethod
    def at_home(cls, reviewer: str) -> Self:
        """The one reviewer of a server that needs no token."""
        return cls(reviewer, token_urlsafe(), own_server=True)

    @property
    def form_token(self) -> str:
        """What a form must send with it: no page of another origin can compute it. "" without a login."""
        return _keyed(self.cookie, b"jury-judge form 1") if self.cookie else ""

    def sent_form(self, token: str) -> bool:
        """Whether a form was made for this visitor."""
        return bool(self.cookie) and hmac.compare_digest(token.encode("utf-8", "replace"), self.form_token.encode())


class Credentials:
    """The tokens of a server: its own, which reads everything, and those of reviewers."""

    def __init__(self, token: str, reviewers: Mapping[str, str]) -> None:
        owners: list[tuple[str, str | None]] = [(token, None), *((one, name) for name, one in reviewers.items())]
        self._known = [(one.encode(), Visitor(name, cookie_of(one))) for one, name in owners]

    def by_token(self, sent: bytes) -> Visitor | None:
        """Whose token was sent."""
        return _matching(sent, [(token, visitor) for token, visitor in self._known])

    def by_cookie(self, sent: bytes) -> Visitor | None:
        """Whose cookie was sent."""
        return _matching(sent, [(visitor.cookie.encode(), visitor) for _, visitor in self._known])


def visitor_of(scope: Scope) -> Visitor:
    """Who sent this request, as the middleware found."""
    visitor = scope.get(_KEY)
    return visitor if isinstance(visitor, Visitor) else Visitor()


def set_visitor(scope: Scope, visitor: Visitor) -> None:
    """For `visitor_of`, later."""
    scope[_KEY] = visitor


class VisitorMiddleware:
    """Every request is of one visitor."""

    def __init__(self, app: ASGIApp, visitor: Visitor) -> None:
        self._app = app
        self._visitor = visitor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        set_visitor(scope, self._visitor)
        await self._app(scope, receive, send)


def cookie_of(token: str) -> str:
    """The cookie is derived from the token, so that it does not reveal it."""
    return _keyed(token, b"jury-judge cookie 1")


def _keyed(key: str, what: bytes) -> str:
    return hmac.new(key.encode(), what, hashlib.sha256).hexdigest()


def _matching(sent: bytes, known: list[tuple[bytes, Visitor]]) -> Visitor | None:
    """All are compared, so that the time does not show which one is alike."""
    found = [visitor for value, visitor in known if hmac.compare_digest(sent, value)]
    return found[0] if found else None
