"""A server of a store: the ASGI application behind its middleware, the login, `/metrics`, and how it runs."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import parse_qs

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from jury_events.ids import DEBATE_ID
from jury_events.text import pluralize
from jury_judge import MetricTotals
from jury_judge.metrics_text import MetricsExposition
from jury_judge.serving.served_store import ServedStore, resuming
from jury_judge.serving.service import Service
from jury_web.api import debates, exchanges, live, reviews, runs, submissions
from jury_web.api.error_responses import add_error_handlers
from jury_web.credentials import WITHIN, Credentials, TokenAttempts, Visitor, VisitorMiddleware, set_visitor, visitor_of
from jury_web.middleware import (
    COOKIE,
    LOGIN,
    MAX_ALL_BODIES,
    MAX_BODY,
    STATIC,
    BodyLengthMiddleware,
    BodyLimitMiddleware,
    HostMiddleware,
    OriginMiddleware,
    Rejection,
    RootPathMiddleware,
    SecurityHeadersMiddleware,
    ServeRefused,
    TokenMiddleware,
    check_root,
    rooted,
    send_rejection,
    wants_page,
)
from jury_web.pages.page_request import AFTER_YOUR_VERDICT, PageRequest, problem_page
from jury_web.pages.pages import page_routes
from jury_web.server import Address, listen, serving

_WEEK = 7 * 24 * 3600


_FORBIDDEN = 403


_TOO_MANY_REQUESTS = 429


def login_route(credentials: Credentials, attempts: TokenAttempts) -> Route:
    """`/login` for a server with tokens; failed ones are counted in `attempts`."""

    async def login(request: Request) -> Response:
        if request.method != "POST":
            return _page(request)
        body = await request.body()
        sent = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()
        sent_token = sent.encode("utf-8", "replace")
        if sent_token and attempts.too_many(request.scope, sent_token):
            return _page(request, _TOO_MANY_REQUESTS)
        visitor = credentials.by_token(sent_token)
        if visitor is None:
            if sent_token:
                attempts.add(request.scope, sent_token)
            return _page(request, _FORBIDDEN)
        response = RedirectResponse("/" if visitor.reviewer is None else "/reviews", 303)
        response.set_cookie(
            COOKIE,
            visitor.cookie,
            max_age=_WEEK,
            path=rooted("/"),
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return response

    return Route(LOGIN, login, methods=["GET", "POST"])


def _page(request: Request, status: int = 200) -> HTMLResponse:
    page = PageRequest.of(request).html(
        "login.html", "login", status, wrong=status == _FORBIDDEN, too_many=status == _TOO_MANY_REQUESTS, login=LOGIN
    )
    if status == _TOO_MANY_REQUESTS:
        page.headers["Retry-After"] = str(int(WITHIN))
    return page


_READ = re.compile(r"/reviews(/.*)?|/reviewers|/api/reviews|/openapi\.json|/schemas/.*|/api/health")


_WRITE = re.compile(rf"/reviews/{DEBATE_ID}|/api/debates/{DEBATE_ID}/reviews")


_DEBATE = re.compile(rf"/(?:api/)?debates/({DEBATE_ID})(?:/.*)?")


_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


_HOME = Rejection(303, "a reviewer begins at the reviews", "open /reviews", (("Location", "/reviews"),))


_NO_WORDS = Rejection(
    403,
    "a reviewer sees what the jury said of a debate only after the own verdict on it",
    "review the debate at /reviews first; the server's token, or a server without reviewers, shows it to others",
)


_NO_WRITING = Rejection(
    403, "a reviewer records reviews and nothing else", "use the server's token, or a server without reviewers"
)


HasReviewed = Callable[[str, str], bool]
"""Whether a reviewer (first) has given a verdict on a debate (second) that stands."""


class ReviewerMiddleware:
    """Rejects what a reviewer may not open; the middleware before has found who asks.

    Args:
        blind: whether the jury's words are shown only after the reviewer's verdict.
    """

    def __init__(self, app: ASGIApp, *, blind: bool, has_reviewed: HasReviewed) -> None:
        self._app = app
        self._blind = blind
        self._has_reviewed = has_reviewed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            rejection = await self._rejection(scope)
            visitor = visitor_of(scope)
            set_visitor(scope, visitor._replace(restricted=self._blind and visitor.reviewer is not None))
            if rejection is _NO_WORDS and wants_page(scope):
                debate = _DEBATE.fullmatch(scope["path"])
                debate_id = None if debate is None else debate.group(1)
                page = problem_page(Request(scope), rejection.status, AFTER_YOUR_VERDICT, debate_id)
                await page(scope, receive, send)
                return
            if rejection is not None:
                await send_rejection(rejection, scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _rejection(self, scope: Scope) -> Rejection | None:
        reviewer = visitor_of(scope).reviewer
        path: str = scope["path"]
        if reviewer is None or path == LOGIN or path.startswith(STATIC):
            return None
        if scope["type"] == "http" and scope["method"] not in _SAFE:
            return None if _WRITE.fullmatch(path) else _NO_WRITING
        if path == "/" and self._blind:
            return _HOME
        if not self._blind or _READ.fullmatch(path):
            return None
        debate = _DEBATE.fullmatch(path)
        if debate is None:
            return _NO_WORDS
        done = await asyncio.to_thread(self._has_reviewed, reviewer, debate.group(1))
        return None if done else _NO_WORDS


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


async def serve(
    served: ServedStore,
    listener: socket.socket,
    address: Address,
    policy: AccessPolicy,
    *,
    stopping: asyncio.Event,
    say: Callable[[str], None],
) -> None:
    """Serve a store until `stopping` is set; debates that run then stop where they are.

    Args:
        say: takes lines for the user: where it serves, what it goes on with, what is left.
    """
    service, batches, drift = served.service(), served.batches(), served.drift()
    pages = page_routes(service)

    def look() -> None:
        batches.look()
        drift.look()

    app = create_app(service, policy, [*pages, metrics_route(served.metrics, look)])
    with batches.shown(served.metrics), drift.shown(served.metrics):
        async with serving(app, listener, service.end), served.delivering(stopping):
            say(f"Jury Judge: {address.url}{policy.root}   (Ctrl-C ends it)")
            async with resuming(service, say):
                await stopping.wait()
            running = service.submissions.running
            left = f"; {pluralize(running, 'submission')} under way: the next server of this store goes on"
            say("jury: ending" + (left if running else ""))


def policy_of(
    address: Address,
    hosts: Sequence[str],
    token: str | None,
    reviewers: Mapping[str, str] = MappingProxyType({}),
    *,
    reviewer: str | None = None,
    root: str = "",
) -> AccessPolicy:
    """Which requests a server accepts that listens at `address`.

    Args:
        root: the path of a proxy below which clients reach the server; "": it has none.
    """
    if reviewer is not None and not address.loopback:
        raise ServeRefused(
            "--reviewer asks for no token, so it listens on this machine alone; leave --host out, or give "
            "--reviewers FILE"
        )
    names = frozenset({*address.names, *hosts})
    return AccessPolicy(names, address.everywhere, token, reviewers=reviewers, reviewer=reviewer, root=root)


PATH = "/metrics"


def metrics_route(totals: MetricTotals, look: Callable[[], None] = lambda: None) -> Route:
    """`GET /metrics`; call it behind the middleware of the other endpoints.

    Args:
        look: called before, in a thread: reads what is shown of the store.
    """
    exposition = MetricsExposition(totals)

    # In the event loop, as gauges read what its tasks change.
    async def metrics(request: Request) -> Response:
        await asyncio.to_thread(look)
        page = exposition.page(request.headers.get("accept", ""))
        return Response(page.body, media_type=page.content_type)

    return Route(PATH, metrics, methods=["GET"])


class MetricsEndpoint(NamedTuple):
    """A socket that listens already, and where.

    Attributes:
        listener: closed by the server, or by the caller where it never served.
        address: of the listener.
        token: that requests need; None on loopback only.
    """

    listener: socket.socket
    address: Address
    token: str | None

    @classmethod
    def listening(cls, host: str, port: int, token: str | None) -> "MetricsEndpoint":
        return cls(*listen(host, port), token)

    @property
    def url(self) -> str:
        """What a client on this machine reads."""
        return self.address.url + PATH

    @asynccontextmanager
    async def serving(self, totals: MetricTotals) -> AsyncIterator[None]:
        """Serve the metrics and nothing else, under the rules of `jury serve`, in this event loop."""
        policy = AccessPolicy(frozenset(self.address.names), self.address.everywhere, self.token)
        app = with_middleware(Starlette(routes=[metrics_route(totals)]), policy, TokenAttempts())
        async with serving(app, self.listener, lambda: None):
            yield
