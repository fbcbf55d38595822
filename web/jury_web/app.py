"""The ASGI application: middleware, the HTTP API, and the pages."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from types import MappingProxyType
from typing import NamedTuple

from fastapi import FastAPI
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from jury_judge.serving.service import Service
from jury_web.api import debates, exchanges, live, reviews, runs, submissions
from jury_web.api.error_responses import add_error_handlers
from jury_web.body_limits import MAX_ALL_BODIES, MAX_BODY, BodyLengthMiddleware, BodyLimitMiddleware
from jury_web.credentials import Credentials, TokenAttempts, Visitor, VisitorMiddleware
from jury_web.login import HasReviewed, ReviewerMiddleware, login_route
from jury_web.middleware import HostMiddleware, OriginMiddleware, SecurityHeadersMiddleware, TokenMiddleware
from jury_web.root_path import RootPathMiddleware, check_root

_ABOUT = """Submits, lists, reads, follows, replays and rescores debates of a jury of LLM jurors.

Every error has the fields `error` and `remedy`. Live events: `docs/reference/live-events.md`,
`/schemas/sse-events.json`, `/schemas/websocket-frames.json`."""

_OF_ROUTERS = ("/api", "/schemas")
"""Where the paths of the routers begin."""


class AccessPolicy(NamedTuple):
    """Which requests are accepted.

    Args:
        names: accepted `Host` headers, lower case, with the port.
        own_address: whether the local address of a connection is accepted as `Host` too.
        token: that every request must have; None only on loopback, and without reviewers.
        max_body: bytes of one request body.
        max_all_bodies: bytes of all request bodies in memory.
        reviewer: whose requests all are, without a token; only on loopback.
        root: the path of a proxy below which clients reach the server, as `/jury`; "": it has no such path.
    """

    names: frozenset[str]
    own_address: bool = False
    token: str | None = None
    max_body: int = MAX_BODY
    max_all_bodies: int = MAX_ALL_BODIES
    reviewers: Mapping[str, str] = MappingProxyType({})
    reviewer: str | None = None
    root: str = ""

    @property
    def credentials(self) -> Credentials | None:
        """The accepted tokens; None: none is needed."""
        if self.token is None:
            if self.reviewers:
                raise ValueError("a server with reviewers needs a token of its own")
            return None
        return Credentials(self.token, self.reviewers)


def create_app(service: Service, policy: AccessPolicy, pages: Sequence[BaseRoute] = ()) -> ASGIApp:
    """The application; it closes `service` at shutdown.

    Args:
        service: the store, the live feed and the submissions.
        pages: further routes, behind the same middleware.
    """

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="Jury Judge",
        version=version("jury-judge"),
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        servers=[{"url": policy.root}] if policy.root else None,
        lifespan=lifespan,
    )
    app.state.service = service
    for router in (
        debates.router,
        exchanges.router,
        live.router,
        submissions.router,
        runs.router,
        reviews.router,
    ):
        app.router.routes.extend(router.routes)  # `include_router` would make each route anew for this application
    add_error_handlers(app)
    attempts = TokenAttempts()
    credentials = policy.credentials
    if credentials is not None:
        app.router.routes.append(login_route(credentials, attempts))
    live.add_websocket_errors(app)
    app.router.routes.extend(pages)
    check_root(policy.root, (*_OF_ROUTERS, *(getattr(route, "path", "") for route in app.router.routes)))
    blind = service.reviewing is None or service.reviewing.blind
    return with_middleware(app, policy, attempts, service.has_reviewed, blind=blind)


def with_middleware(
    app: ASGIApp,
    policy: AccessPolicy,
    attempts: TokenAttempts,
    has_reviewed: HasReviewed = lambda _reviewer, _debate: False,
    *,
    blind: bool = True,
) -> ASGIApp:
    """`app` behind the middleware; the login page counts failed tokens in `attempts` too.

    `has_reviewed` and `blind` are of `ReviewerMiddleware`.
    """
    inner: ASGIApp = BodyLimitMiddleware(app, policy.max_body, policy.max_all_bodies)
    credentials = policy.credentials
    if credentials is not None or policy.reviewer is not None:
        inner = ReviewerMiddleware(inner, blind=blind, has_reviewed=has_reviewed)
    if credentials is not None:
        inner = TokenMiddleware(inner, credentials, attempts)
    elif policy.reviewer is not None:
        inner = VisitorMiddleware(inner, Visitor.at_home(policy.reviewer))
    guarded: ASGIApp = SecurityHeadersMiddleware(
        BodyLengthMiddleware(HostMiddleware(OriginMiddleware(inner), policy.names, own_address=policy.own_address))
    )
    return RootPathMiddleware(guarded, policy.root) if policy.root else guarded
