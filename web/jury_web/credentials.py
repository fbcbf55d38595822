"""Whose token or cookie a request has."""

import hashlib
import hmac
from collections.abc import Mapping
from secrets import token_urlsafe
from typing import NamedTuple, Self

from starlette.types import ASGIApp, Receive, Scope, Send

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
